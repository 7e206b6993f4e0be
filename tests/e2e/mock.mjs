// A model that makes one tool call: the four APIs that the agents speak, on loopback.
//
// In: what an agent asks of its model. Out: the call, and once its result has come back a closing text. What was sent as
// the result is kept, for that is what the model learns. It stands in for a proxy too, and lets nothing through.
import { createServer } from "node:http"

/// Events as they go over the wire.
const events = list => list.map(([event, data]) => `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`).join("")
const text = value => (typeof value === "string" ? value : JSON.stringify(value ?? ""))

/// Of each API: its address, the tools that a request offers, the results it brings, and the two answers.
const APIS = [
  {
    // Anthropic: Messages.
    path: /^\/v1\/messages$/,
    tools: body => (body.tools ?? []).map(tool => tool.name),
    results: body =>
      (body.messages ?? [])
        .flatMap(message => (Array.isArray(message.content) ? message.content : []))
        .filter(part => part.type === "tool_result")
        .map(part => text(part.content)),
    answer: (call, say, body) => {
      const block = call ? { type: "tool_use", id: "toolu_1", name: call.tool, input: call.input } : { type: "text", text: say }
      const message = { id: "msg_1", type: "message", role: "assistant", model: body.model, stop_sequence: null }
      const usage = { input_tokens: 1, output_tokens: 1 }
      const stop_reason = call ? "tool_use" : "end_turn"
      if (!body.stream) return JSON.stringify({ ...message, content: [block], stop_reason, usage })
      const [empty, delta] = call
        ? [{ ...block, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(call.input) }]
        : [{ ...block, text: "" }, { type: "text_delta", text: say }]
      return events(
        [
          { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
          { type: "content_block_start", index: 0, content_block: empty },
          { type: "content_block_delta", index: 0, delta },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
          { type: "message_stop" },
        ].map(data => [data.type, data]),
      )
    },
  },
  {
    // OpenAI: Responses.
    path: /^\/v1\/responses$/,
    tools: body => (body.tools ?? []).map(tool => tool.name ?? tool.type),
    results: body => (body.input ?? []).filter(item => /_call_output$/.test(item.type)).map(item => text(item.output)),
    answer: (call, say) => {
      const named = call && { call_id: "call_1", name: call.tool }
      const item = !call
        ? { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: say }] }
        : typeof call.input === "string"
          ? { type: "custom_tool_call", id: "ct_1", ...named, input: call.input }
          : { type: "function_call", id: "fc_1", ...named, arguments: JSON.stringify(call.input) }
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
      return events(
        [
          { type: "response.created", response: { id: "resp_1" } },
          { type: "response.output_item.done", output_index: 0, item },
          { type: "response.completed", response: { id: "resp_1", usage } },
        ].map(data => [data.type, data]),
      )
    },
  },
  {
    // Google: generateContent.
    path: /^\/v1(beta)?\/models\/[^/]+:(stream)?[gG]enerateContent$/,
    tools: body => (body.tools ?? []).flatMap(tool => tool.functionDeclarations ?? []).map(tool => tool.name),
    results: body =>
      (body.contents ?? [])
        .flatMap(content => content.parts ?? [])
        .filter(part => part.functionResponse)
        .map(part => text(part.functionResponse.response)),
    answer: (call, say, body, path) => {
      const part = call ? { functionCall: { name: call.tool, args: call.input } } : { text: say }
      const whole = {
        candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      }
      return /:stream/.test(path) ? events([[null, whole]]) : JSON.stringify(whole)
    },
  },
  {
    // OpenAI: chat completions, which everybody's provider of opencode speaks.
    path: /^\/v1\/chat\/completions$/,
    tools: body => (body.tools ?? []).map(tool => tool.function?.name),
    results: body => (body.messages ?? []).filter(message => message.role === "tool").map(message => text(message.content)),
    answer: (call, say, body) => {
      const own = { id: "chat_1", created: 1, model: body.model }
      const finish_reason = call ? "tool_calls" : "stop"
      const made = call && [{ index: 0, id: "call_1", type: "function", function: { name: call.tool, arguments: JSON.stringify(call.input) } }]
      const part = { role: "assistant", content: call ? null : say, ...(made && { tool_calls: made }) }
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      if (!body.stream) {
        return JSON.stringify({ ...own, object: "chat.completion", choices: [{ index: 0, message: part, finish_reason }], usage })
      }
      const chunk = { ...own, object: "chat.completion.chunk" }
      return (
        events([
          [null, { ...chunk, choices: [{ index: 0, delta: part, finish_reason: null }] }],
          [null, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage }],
        ]) + "data: [DONE]\n\n"
      )
    },
  },
]

/// Starts one. `call` is `{tool, input}`, or a function of the names of the tools that the agent offers.
export const mock = async call => {
  const seen = { results: [], offered: [], asked: [], made: 0, outside: [] }
  const server = createServer(async (request, response) => {
    let sent = ""
    for await (const part of request) sent += part
    const path = new URL(request.url, "http://127.0.0.1").pathname
    const api = APIS.find(api => api.path.test(path))
    seen.asked.push(`${request.method} ${request.url}`)
    if (!api) {
      response.writeHead(path === "/" || request.method === "HEAD" ? 200 : 404, { "content-type": "application/json" })
      return response.end("{}")
    }
    const body = JSON.parse(sent || "{}")
    const offered = api.tools(body)
    const results = api.results(body)
    if (offered.length > seen.offered.length) seen.offered = offered
    if (results.length > seen.results.length) seen.results = results
    const wanted = typeof call === "function" ? call(offered) : call
    // What offers no such tool is not the conversation: a title, a summary.
    const calls = results.length === 0 && wanted && offered.includes(wanted.tool) && seen.made < 3
    if (calls) seen.made += 1
    const streams = body.stream || /:stream/.test(path)
    response.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" })
    response.end(api.answer(calls ? wanted : undefined, "done", body, path))
  })
  server.on("connect", (request, socket) => {
    socket.on("error", () => {})
    seen.outside.push(request.url)
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
  })
  await new Promise(done => server.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${server.address().port}`
  return { url, seen, close: () => (server.closeAllConnections(), server.close()) }
}
