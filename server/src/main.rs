//! The `skillopt` program. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    skillopt_server::cli::main()
}
