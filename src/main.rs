//! The `acl` program.

fn main() -> std::process::ExitCode {
    acl::cli::main()
}
