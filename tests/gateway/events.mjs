// The server-sent events, against the schemas of AG-UI's own package.
//   tests/gateway/run events
import assert from "node:assert/strict";
import { CustomEventSchema, EventSchemas } from "@ag-ui/core/schemas";
import { start } from "./server.mjs";

const server = await start();
try {
  const token = await server.enter();
  const refused = await fetch(server.base + "/v1/events");
  assert.equal(refused.status, 401);
  await server.submit("mail", { to: "early", password: "hunter2" });

  const seen = [];
  const stop = new AbortController();
  const answer = await fetch(server.base + "/v1/events", { headers: { authorization: `Bearer ${token}` }, signal: stop.signal });
  assert.equal(answer.headers.get("content-type"), "text/event-stream");
  const reading = (async () => {
    let text = "";
    for await (const chunk of answer.body) {
      text += Buffer.from(chunk).toString();
      for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) {
        const frame = text.slice(0, at);
        if (frame.startsWith("data: ")) seen.push(JSON.parse(frame.slice(6)));
        else assert.match(frame, /^:/);
      }
    }
  })().catch(() => {});
  const until = async (what, holds) => {
    for (let tries = 0; !seen.some(holds); tries++) {
      assert.ok(tries < 100, what);
      await new Promise(done => setTimeout(done, 50));
    }
  };
  const of = (name, test) => event => event.name === name && test(event.value);
  await until("what waits comes first", of("tool_confirmation", value => value.confirmationId === "c1" && value.status === "pending"));
  await server.submit("mail", { to: "late" });
  await until("then what comes", of("tool_confirmation", value => value.confirmationId === "c2"));
  const waits = server.wait("c2");
  await server.ask("POST", "/ack/confirmation", { threadId: "s1", confirmationId: "c2", approved: true }, token);
  assert.equal((await waits).body.allowed, true);
  await until("the word", of("tool_confirmation", value => value.confirmationId === "c2" && value.status === "approved"));
  await until("the end", of("tool_permission", value => value.call === "c2" && value.allowed));
  await server.ask("DELETE", "/v1/calls/c1?session=s1");
  await until("a cancelled one", of("tool_permission", value => value.call === "c1" && value.basis === "canceled"));
  stop.abort();
  await reading;

  assert.equal(seen[0].name, "tool_confirmations");
  for (const event of seen) {
    EventSchemas.parse(event);
    CustomEventSchema.strict().parse(event);
  }
  assert.ok(!JSON.stringify(seen).includes("hunter2"), "secrets are masked");
  console.log(`events: ${seen.length} of them, all as AG-UI has them`);
} finally {
  assert.equal(await server.end(), 0);
}
