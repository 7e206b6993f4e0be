//! Which variables change what programs run, read, write or contact.
//!
//! An allow does not cover an assignment to one of them unless it writes it. Adding one is adding a word
//! to `call/variables.toml`.

use crate::call::programs;

/// Whether an assignment to the name is one that an allow does not cover.
pub(super) fn is_dangerous(name: &str) -> bool {
    programs::dangerous_variable(name)
}

/// Whether the shell expands the variable's value by itself, and runs the commands in it.
pub(super) fn is_prompt(name: &str) -> bool {
    matches!(name, "PS0" | "PS4" | "PROMPT_COMMAND") || programs::command_variable(name)
}

#[cfg(test)]
mod tests {
    use super::is_dangerous;

    #[test]
    fn listed() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "GIT_PAGER",
            "GIT_SSH_COMMAND",
            "PAGER",
            "http_proxy",
            "GH_HOST",
            "PYTHONPATH",
            "KUBECONFIG",
            "NPM_CONFIG_REGISTRY",
            "RUSTC_WRAPPER",
            "XDG_CONFIG_HOME",
            "TAR_OPTIONS",
            "IFS",
        ] {
            assert!(is_dangerous(name), "{name}");
        }
        for name in [
            "FOO",
            "X",
            "PYTHONUNBUFFERED",
            "DOCKER_BUILDKIT",
            "AWS_PROFILE",
            "DB_HOST",
            "RUST_LOG",
            "CI",
            "NODE_ENV",
            "DEBUG",
            "LANG",
            "LC_ALL",
            "TZ",
            "GIT_AUTHOR_NAME",
            "RUST_BACKTRACE",
            "CARGO_TERM_COLOR",
            "NO_COLOR",
        ] {
            assert!(!is_dangerous(name), "{name}");
        }
    }
}
