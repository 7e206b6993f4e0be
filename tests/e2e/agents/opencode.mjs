// opencode, headless.
export default {
  name: "opencode",
  title: "opencode",
  program: "opencode-*/bin/opencode",
  // Its plugin stops what acl does not allow.
  closed: true,
  setup: place => {
    // It installs its library of plugins; without one it goes on.
    place.write("home/.npmrc", `registry=${place.url}/npm/\nfetch-retries=0\n`)
    place.write("home/.config/opencode/opencode.json", {
      model: "mock/mock",
      small_model: "mock/mock",
      autoupdate: false,
      share: "disabled",
      permission: place.lenient ? "allow" : { bash: "ask", edit: "ask" },
      provider: {
        mock: {
          npm: "@ai-sdk/openai-compatible",
          name: "mock",
          options: { baseURL: `${place.url}/v1`, apiKey: "none" },
          models: { mock: { name: "mock", tool_call: true, limit: { context: 100000, output: 1000 } } },
        },
      },
    })
  },
  start: () => ({
    args: ["run", "--format", "json", "go"],
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" },
  }),
  shell: command => ({ tool: "bash", input: { command, description: "leave a mark" } }),
  write: (path, content) => ({ tool: "write", input: { filePath: path, content } }),
}
