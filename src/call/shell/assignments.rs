//! Which variables change what programs do: `assignments.txt`, embedded.

/// The list, one pattern a line.
const LIST: &str = include_str!("assignments.txt");

/// Whether an assignment to the name is one that an allow does not cover.
pub(super) fn is_dangerous(name: &str) -> bool {
    let mut dangerous = false;
    let first = name.bytes().next();
    for line in LIST.lines() {
        // Most lines start with another letter.
        let letter = line.bytes().next();
        if letter != first && !matches!(letter, Some(b'*' | b'!')) {
            continue;
        }
        if let Some(harmless) = line.strip_prefix('!') {
            if matches(harmless, name) {
                return false;
            }
        } else if !dangerous && !line.is_empty() && !line.starts_with('#') {
            dangerous = matches(line, name);
        }
    }
    dangerous
}

/// `*` at the start, at the end or at both.
fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
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
