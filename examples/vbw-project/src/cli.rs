//! The commands, by hand: no argument parser, no dependency.

use std::path::Path;
use std::process::ExitCode;

use crate::item::Pantry;
use crate::output::table;
use crate::store::log;

/// Runs one command and returns how it ended.
pub fn run(mut args: impl Iterator<Item = String>) -> ExitCode {
    let pantry = || log::read(Path::new("pantry.log")).map(Pantry::from_iter);
    match (args.next().as_deref(), pantry()) {
        (Some("list"), Ok(pantry)) => print!("{}", table(&pantry)),
        (_, Err(error)) => {
            eprintln!("pantry.log: {error}");
            return ExitCode::FAILURE;
        }
        _ => {
            eprintln!("usage: larderbook add|take|list|shop|merge");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
