//! Names that lints know: other agents' tools, programs, what runs other programs.
//!
//! In: a name. Out: what it is. The facts about tools are those of the agents' own documents; the lists of programs
//! only choose the words of a message, never a verdict.

/// A tool's name under some agent, the canonical name, and the agent.
static FOREIGN: &[(&str, &str, &str)] = &[
    ("Bash", "bash", "Claude Code"),
    ("Read", "read", "Claude Code"),
    ("NotebookRead", "read", "Claude Code"),
    ("Write", "write", "Claude Code"),
    ("Edit", "edit", "Claude Code"),
    ("MultiEdit", "edit", "Claude Code"),
    ("NotebookEdit", "edit", "Claude Code"),
    ("Grep", "search", "Claude Code"),
    ("Glob", "list", "Claude Code"),
    ("LS", "list", "Claude Code"),
    ("WebFetch", "fetch", "Claude Code"),
    ("shell", "bash", "Codex"),
    ("exec_command", "bash", "Codex"),
    ("apply_patch", "edit", "Codex"),
    ("view_image", "read", "Codex"),
    ("run_shell_command", "bash", "Gemini CLI"),
    ("read_file", "read", "Gemini CLI"),
    ("read_many_files", "read", "Gemini CLI"),
    ("write_file", "write", "Gemini CLI"),
    ("replace", "edit", "Gemini CLI"),
    ("search_file_content", "search", "Gemini CLI"),
    ("grep_search", "search", "Gemini CLI"),
    ("list_directory", "list", "Gemini CLI"),
    ("web_fetch", "fetch", "Gemini CLI"),
    ("patch", "edit", "opencode"),
    ("grep", "search", "opencode"),
    ("glob", "list", "opencode"),
    ("webfetch", "fetch", "opencode"),
    ("edit_file", "edit", "another agent"),
    ("multiedit", "edit", "another agent"),
    ("list_dir", "list", "another agent"),
    ("list_files", "list", "another agent"),
    ("ls", "list", "another agent"),
    ("view", "read", "another agent"),
    ("search_files", "search", "another agent"),
    ("execute_command", "bash", "another agent"),
    ("run_command", "bash", "another agent"),
    ("run_in_terminal", "bash", "another agent"),
    ("run_terminal_cmd", "bash", "another agent"),
    ("write_to_file", "write", "another agent"),
    ("create_file", "write", "another agent"),
    ("replace_in_file", "edit", "another agent"),
    ("str_replace_editor", "edit", "another agent"),
    ("str_replace_based_edit_tool", "edit", "another agent"),
    ("fetch_url", "fetch", "another agent"),
];

/// The canonical name of another agent's tool, and whose name it is.
pub fn foreign(name: &str) -> Option<(&'static str, &'static str)> {
    let row = FOREIGN.iter().find(|(own, _, _)| *own == name)?;
    Some((row.1, row.2))
}

/// The canonical name of a name that means nothing but some agent's tool: no word of a language, no program.
pub fn only_a_tool(name: &str) -> Option<&'static str> {
    let (canonical, agent) = foreign(name)?;
    let telling = name.contains(|c: char| c.is_uppercase() || c == '_') && name != "LS";
    (telling && agent != "another agent").then_some(canonical)
}

/// Programs that are often named where a tool is meant to stand.
const PROGRAMS: &[&str] = &[
    "apt",
    "apt-get",
    "awk",
    "aws",
    "brew",
    "bun",
    "cargo",
    "cat",
    "chmod",
    "chown",
    "cmake",
    "cp",
    "curl",
    "dd",
    "deno",
    "docker",
    "dotnet",
    "echo",
    "find",
    "gh",
    "git",
    "go",
    "gradle",
    "head",
    "helm",
    "java",
    "jq",
    "kill",
    "kubectl",
    "ln",
    "make",
    "mkdir",
    "mkfs",
    "mv",
    "mvn",
    "nc",
    "node",
    "npm",
    "npx",
    "perl",
    "php",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "psql",
    "pytest",
    "python",
    "python3",
    "reboot",
    "rg",
    "rm",
    "rmdir",
    "rsync",
    "ruby",
    "rustc",
    "scp",
    "sed",
    "sh",
    "shutdown",
    "ssh",
    "su",
    "sudo",
    "systemctl",
    "tail",
    "tar",
    "tee",
    "terraform",
    "touch",
    "uv",
    "vim",
    "wget",
    "xargs",
    "yarn",
    "zsh",
];

/// Whether it is the name of a well-known program.
pub fn is_program(name: &str) -> bool {
    PROGRAMS.contains(&name)
}

/// Programs that run whatever they are given: interpreters and shells.
pub const INTERPRETERS: &[&str] = &[
    "bash",
    "bun",
    "dash",
    "deno",
    "fish",
    "ksh",
    "lua",
    "node",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "python2",
    "python3",
    "Rscript",
    "ruby",
    "sh",
    "tclsh",
    "tsx",
    "ts-node",
    "zsh",
];

/// Shells among them.
pub const SHELLS: &[&str] = &["bash", "dash", "fish", "ksh", "sh", "zsh"];

/// Programs that run another with other rights, or elsewhere, and what they lend it.
pub const LENDERS: &[(&str, &str)] = &[
    ("sudo", "with another user's rights"),
    ("doas", "with another user's rights"),
    ("su", "with another user's rights"),
    ("pkexec", "with another user's rights"),
    ("runuser", "with another user's rights"),
    ("ssh", "on another machine"),
    ("chroot", "under another root"),
    ("nsenter", "in another namespace"),
];

/// Commands that start an image, whatever is in it.
pub const IMAGES: &[(&str, &str)] = &[("docker", "run"), ("podman", "run"), ("kubectl", "run")];

/// Programs that destroy what they are pointed at.
pub const DESTROYERS: &[&str] = &[
    "dd", "fdisk", "kill", "killall", "mkfs", "parted", "pkill", "reboot", "rm", "shred",
    "shutdown", "srm", "truncate", "unlink", "wipefs",
];

/// What other agents call an argument, and its canonical name.
const ARGUMENTS: &[(&str, &str)] = &[
    ("absolute_path", "path"),
    ("cmd", "command"),
    ("dir_path", "path"),
    ("file", "path"),
    ("file_path", "path"),
    ("filePath", "path"),
    ("filename", "path"),
    ("notebook_path", "path"),
    ("script", "command"),
    ("uri", "url"),
];

/// The canonical name of another agent's argument.
pub fn argument(name: &str) -> Option<&'static str> {
    let row = ARGUMENTS.iter().find(|(own, _)| *own == name)?;
    Some(row.1)
}
