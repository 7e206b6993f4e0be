// An MCP server on stdin and stdout, with tools that leave the file `ran` in the folder it is given.
import { writeFileSync } from "node:fs"
import { createInterface } from "node:readline"

const [, , folder] = process.argv
const tools = ["poke", "prod"].map(name => ({ name, description: "leaves a mark", inputSchema: { type: "object", properties: {} } }))
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "e2e", version: "1" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": () => {
    writeFileSync(`${folder}/ran`, "")
    return { content: [{ type: "text", text: "done" }] }
  },
}
createInterface({ input: process.stdin }).on("line", line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = answers[method]
  const rest = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...rest })}\n`)
})
