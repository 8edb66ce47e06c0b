//! The benchmarks, in one program, since linking takes longer than compiling them.
//!
//! ```console
//! $ cargo bench -- commands
//! ```
//!
//! Without a name, all run but `retrieval`, which needs files. Each file says what it measures, and by which settings.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "the lints are meant for the library; a benchmark creates files, starts programs, reads its own settings and may panic"
)]

mod commands;
mod entries;
mod facts;
mod journal;
mod ledger;
mod limits;
mod measure;
mod recall;
mod retrieval;

const ALL: &[(&str, fn())] = &[
    ("commands", commands::run),
    ("entries", entries::run),
    ("facts", facts::run),
    ("journal", journal::run),
    ("ledger", ledger::run),
    ("limits", limits::run),
    ("recall", recall::run),
];

fn main() {
    // Cargo says that this is a benchmark.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let name = arguments.first().map(String::as_str);
    if name == Some("retrieval") {
        return retrieval::run(&arguments[1..]);
    }
    let named: Vec<_> =
        ALL.iter().filter(|(one, _)| name.is_none_or(|name| name == *one)).collect();
    assert!(!named.is_empty(), "there is no such benchmark");
    for (_, run) in named {
        run();
    }
}
