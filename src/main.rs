//! The doorway: hands the arguments to the library and turns its answer into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    annals::cli::main(std::env::args_os())
}
