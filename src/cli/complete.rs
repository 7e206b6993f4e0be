//! `acl completions` and `acl man`: made from the options themselves.

use super::{Answer, Cli, Exit, Stop, output};
use clap::{Args, CommandFactory};

/// Options of `acl completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  acl completions bash > ~/.local/share/bash-completion/completions/acl"
)]
pub struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

/// Options of `acl man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  acl man | man -l -")]
pub struct Man {}

/// Prints a completion script.
pub fn completions(options: &Completions) -> Answer {
    let mut out = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "acl", &mut out);
    output::result(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Good)
}

/// Prints the manual page, with a section for each command.
pub fn man(_: &Man) -> Answer {
    let mut out = Vec::new();
    let cannot = |why: std::io::Error| Stop::told(format!("the manual page cannot be made: {why}"));
    let command = Cli::command();
    clap_mangen::Man::new(command.clone())
        .render(&mut out)
        .map_err(cannot)?;
    for sub in command.get_subcommands() {
        let name = format!("acl-{}", sub.get_name());
        clap_mangen::Man::new(sub.clone().display_name(name.clone()))
            .title(name)
            .render(&mut out)
            .map_err(cannot)?;
    }
    output::result(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Good)
}
