// Codex: headless, and as the server that its editors talk to, with its questions.
const added = (path, content) => `*** Begin Patch\n*** Add File: ${path}\n+${content}\n*** End Patch\n`

export default {
  name: "codex",
  title: "Codex",
  program: "@openai/codex-*/vendor/*/bin/codex",
  // With a person `approval_policy = "untrusted"` would ask about each of the commands.
  own: [
    { name: "deny: a patch in a shell command", shell: `apply_patch <<'EOF'\n${added("kept", "x")}EOF\n`, file: "kept", ran: false, told: /what is kept is kept/ },
    { name: "a hook that the user has not trusted", untrusted: true, shell: "cp seed ran" },
  ],
  setup: place =>
    place.write(
      "home/.codex/config.toml",
      `model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "${place.url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[projects."${place.project}"]
trust_level = "trusted"
`,
    ),
  start: place => ({
    args: [
      ...["exec", "--json", "--skip-git-repo-check", "--ephemeral", "-s", "danger-full-access"],
      ...(place.untrusted ? [] : ["--dangerously-bypass-hook-trust"]),
      "go",
    ],
    env: { RUST_LOG: "error" },
  }),
  attend: (place, person) => {
    const thread = { cwd: place.project, approvalPolicy: "untrusted", sandbox: "danger-full-access" }
    // What is asked of it one after the other, each with what was answered before.
    const steps = [
      () => ({ method: "initialize", params: { clientInfo: { name: "e2e", version: "1" } } }),
      () => ({ method: "hooks/list", params: { cwds: [place.project] } }),
      // The user trusts acl's hooks, as under `/hooks`.
      ({ data: [{ hooks }] }) => {
        const trusted = hooks.map(hook => [hook.key, { trusted_hash: hook.currentHash }])
        const edits = [{ keyPath: "hooks.state", value: Object.fromEntries(trusted), mergeStrategy: "upsert" }]
        return { method: "config/batchWrite", params: { edits, reloadUserConfig: true } }
      },
      () => ({ method: "thread/start", params: thread }),
      ({ thread }) => ({ method: "turn/start", params: { threadId: thread.id, input: [{ type: "text", text: "go" }] } }),
    ]
    return {
      args: ["app-server"],
      env: { RUST_LOG: "error" },
      talk: (line, { send, asked, end }) => {
        const answers = !line || (!line.method && line.id === steps.sent)
        if (answers && steps.length) {
          steps.sent = (steps.sent ?? 0) + 1
          send({ id: steps.sent, ...steps.shift()(line?.result) })
        } else if (line.error || line.method === "turn/completed") {
          end()
        } else if (/requestApproval$/.test(line.method ?? "")) {
          asked(line.params)
          send({ id: line.id, result: { decision: person === "yes" ? "accept" : "decline" } })
        }
      },
    }
  },
  shell: command => offered =>
    offered.includes("exec_command")
      ? { tool: "exec_command", input: { cmd: command } }
      : offered.includes("shell_command")
        ? { tool: "shell_command", input: { command } }
        : { tool: "shell", input: { command: ["bash", "-lc", command] } },
  write: (path, content) => ({ tool: "apply_patch", input: added(path, content) }),
}
