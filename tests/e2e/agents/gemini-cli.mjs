// Gemini CLI, headless.
export default {
  name: "gemini-cli",
  title: "Gemini CLI",
  program: "@google/gemini-cli/bundle/gemini.js",
  // `acl init` takes a person to be there. Where none is, an ask ends the whole run, and the model is not told.
  asks: /^$/,
  own: [
    {
      name: "ask: nobody is there, and the hook knows it",
      edit: { file: ".gemini/settings.json", from: " --interactive", to: "" },
      shell: "mv seed ran",
      ran: false,
      told: /needs a human decision/,
    },
    { name: "the user's hook, in a project that only `--skip-trust` trusts", user: true, untrusted: true, shell: "cp seed ran", ran: false, told: /by hand here/ },
    // It has read its settings before that option.
    { name: "the project's hook, where only `--skip-trust` trusts it", untrusted: true, shell: "cp seed ran" },
  ],
  setup: place => {
    if (!place.untrusted) place.write("home/.gemini/trustedFolders.json", { [place.project]: "TRUST_FOLDER" })
    place.write("home/.gemini/settings.json", {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      telemetry: { enabled: false },
    })
  },
  start: place => ({
    args: ["-p", "go", "-m", "gemini-2.5-flash", "-o", "json", ...(place.untrusted ? ["--skip-trust"] : []), ...(place.lenient ? ["--approval-mode", "yolo"] : [])],
    env: { GOOGLE_GEMINI_BASE_URL: place.url, GEMINI_API_KEY: "none", GEMINI_CLI_NO_RELAUNCH: "true" },
  }),
  shell: command => ({ tool: "run_shell_command", input: { command, description: "leave a mark" } }),
  write: (path, content) => ({ tool: "write_file", input: { file_path: path, content } }),
}
