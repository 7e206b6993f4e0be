// acl before every tool call of opencode. Lies in .opencode/plugin/acl.js of a project, or in ~/.config/opencode/plugin/.
// It fails closed: whatever acl does not allow is stopped, and so is everything where acl cannot be run.
import { spawnSync } from "node:child_process"

const COMMAND = ["acl", "hook", "opencode", "--audit", "default"]

export const Acl = async ({ client, directory }) => {
  let servers
  const configured = async () => {
    try {
      const config = await client.config.get()
      servers = Object.keys(config.data?.mcp ?? {})
    } catch {
      servers = undefined // acl then judges every way to read a tool's name
    }
    return servers
  }
  return {
    "tool.execute.before": async (input, output) => {
      const asked = {
        hook_event_name: "tool.execute.before",
        session_id: input.sessionID,
        tool_use_id: input.callID,
        cwd: directory,
        tool_name: input.tool,
        tool_input: output.args ?? {},
        mcp_servers: servers ?? (await configured()) ?? null,
      }
      const ran = spawnSync(COMMAND[0], [...COMMAND.slice(1), "--workspace", directory], {
        input: JSON.stringify(asked),
        encoding: "utf8",
        timeout: 60_000,
        maxBuffer: 16 * 1024 * 1024,
      })
      let answer
      try {
        answer = JSON.parse(ran.stdout)
      } catch {
        answer = undefined
      }
      if (ran.status === 0 && answer?.decision === "allow") return
      const why = answer?.reason || ran.stderr?.trim() || ran.error?.message || "it gave no answer"
      throw new Error(answer?.reason ? why : `This call was refused, because acl could not judge it: ${why}`)
    },
  }
}
