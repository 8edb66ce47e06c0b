//! The entry point: passes the arguments to the library and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    annals::cli::main(std::env::args_os())
}
