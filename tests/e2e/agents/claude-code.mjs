// Claude Code: headless, and with its questions on stdout.
const env = place => ({
  ANTHROPIC_BASE_URL: place.url,
  ANTHROPIC_API_KEY: "none",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
})

export default {
  name: "claude-code",
  title: "Claude Code",
  program: "@anthropic-ai/claude-code-*/claude",
  // An allow of the hook overrules that it would ask.
  overruled: true,
  setup: place => {
    // What it asks a new user, answered.
    place.write("home/.claude.json", { hasCompletedOnboarding: true, projects: { [place.project]: { hasTrustDialogAccepted: true } } })
    if (place.lenient) place.write("home/.claude/settings.json", { permissions: { allow: ["Bash", "Write", "Edit", "Read"] } })
  },
  start: place => ({ args: ["-p", "go", "--output-format", "json"], env: env(place) }),
  attend: (place, person) => ({
    args: ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"],
    env: env(place),
    talk: (line, { send, asked, end }) => {
      if (!line) return send({ type: "user", message: { role: "user", content: "go" } })
      if (line.type === "result") return end()
      if (line.type !== "control_request") return
      const { request_id, request } = line
      asked(request.input)
      const response = person === "yes" ? { behavior: "allow", updatedInput: request.input } : { behavior: "deny", message: "the person says no" }
      send({ type: "control_response", response: { subtype: "success", request_id, response } })
    },
  }),
  shell: command => ({ tool: "Bash", input: { command, description: "leave a mark" } }),
  write: (path, content) => ({ tool: "Write", input: { file_path: path, content } }),
}
