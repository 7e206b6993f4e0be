//! stdout and stderr: the only place that prints.
//!
//! A reader that goes away (`acl decide | head`) is no error. Colour is decided once.

use super::{Color, Stop};
use crate::finding::Finding;
use crate::report::human;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

static SETTINGS: OnceLock<(Color, bool)> = OnceLock::new();

/// Keeps the settings of the command line.
pub fn configure(color: Color, quiet: bool) {
    let _ = SETTINGS.set((color, quiet));
}

fn settings() -> (Color, bool) {
    SETTINGS.get().copied().unwrap_or((Color::Auto, false))
}

fn colored(terminal: bool) -> bool {
    match settings().0 {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Whether results are coloured.
pub fn color() -> bool {
    colored(std::io::stdout().is_terminal())
}

/// How wide pictures may be.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    columns.map_or(80, |columns: usize| columns.clamp(40, 200))
}

/// Prints a result.
pub fn result(text: &str) -> Result<(), Stop> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Err(Stop::Gone),
        Err(why) => Err(Stop::told(format!("cannot write to stdout: {why}"))),
    }
}

/// Whether only results are wanted.
pub fn quiet() -> bool {
    settings().1
}

/// Prints a diagnostic; with `--quiet` nothing.
pub fn remark(text: &str) {
    if !quiet() {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// Prints what a person must know, with `--quiet` too.
#[cfg(feature = "gateway")]
pub fn always(text: &str) {
    let _ = writeln!(std::io::stderr(), "acl: {text}");
}

/// Prints what went wrong, though the work goes on; with `--quiet` too, as it may change the result. The same again is
/// not said for every call.
pub fn warn(text: &str) {
    static SAID: Mutex<String> = Mutex::new(String::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if *said != text {
        let _ = writeln!(std::io::stderr(), "warning: {text}");
        text.clone_into(&mut said);
    }
}

/// Prints why acl could not do the work.
pub fn complain(text: &str, help: Option<&str>) {
    let red = colored(std::io::stderr().is_terminal());
    let (on, off) = if red {
        ("\u{1b}[1;31m", "\u{1b}[0m")
    } else {
        ("", "")
    };
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{on}error:{off} {text}");
    if let Some(help) = help {
        let _ = writeln!(out, "  help: {help}");
    }
}

/// Prints the findings that keep a policy from loading.
pub fn show(findings: &[Finding]) {
    let text = human::findings(findings, width(), colored(std::io::stderr().is_terminal()));
    let _ = write!(std::io::stderr(), "{text}");
}
