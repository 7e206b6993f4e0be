// A gateway of its own for a test: started in a scratch folder, asked over HTTP, ended.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const POLICY = `
version = 1
[tools.mail]
about = "sends a mail"
[tiers]
allow = ["note"]
ask = ["bash", "read", "write", "mail"]
deny = ["nuke"]
[commands]
allow = ["cargo test", "ls"]
ask = [{ id = "publish", match = "git push", reason = "others will see it", instead = "push to a branch of your own" }]
`;

export async function start(...options) {
  const folder = mkdtempSync(join(tmpdir(), "acl-gateway-"));
  writeFileSync(join(folder, "acl.toml"), POLICY);
  const acl = process.env.ACL ?? "target/debug/acl";
  const child = spawn(acl, ["serve", "--listen", "127.0.0.1:0", "--policy", join(folder, "acl.toml"), ...options], {
    cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, stdio: ["ignore", "inherit", "pipe"],
  });
  const server = { folder, base: null, link: null, child };
  let told = "";
  await new Promise((ready, failed) => {
    child.once("exit", code => failed(new Error(`acl serve ended with ${code}: ${told}`)));
    child.stderr.on("data", text => {
      told += text;
      server.base ??= /listening on (\S+)/.exec(told)?.[1];
      server.link = [...told.matchAll(/(http\S+#code=\S+)\n/g)].at(-1)?.[1];
      if (server.base && (server.link || options.includes("--tokens"))) ready();
    });
  });
  server.ask = async (method, path, body, token) => {
    const headers = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (token) headers.authorization = `Bearer ${token}`;
    const answer = await fetch(server.base + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  };
  let next = 0;
  server.submit = (tool, args, more = {}) => server.ask("POST", "/v1/calls", { id: `c${++next}`, session: "s1", tool, args, ...more });
  server.wait = (id, session = "s1", wait = "10s") => server.ask("GET", `/v1/calls/${id}?session=${session}&wait=${wait}`);
  server.enter = async () => {
    const code = new URL(server.link).hash.slice("#code=".length);
    return (await server.ask("POST", "/v1/session", { token: code })).body.token;
  };
  server.end = async () => {
    const ended = new Promise(done => child.once("exit", done));
    child.kill("SIGTERM");
    const code = await ended;
    rmSync(folder, { recursive: true, force: true });
    return code;
  };
  return server;
}
