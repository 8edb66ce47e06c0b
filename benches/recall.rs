//! Times whole searches on 5,000 units: without a cache, with one, and after a file has changed.
//!
//! ```console
//! $ ANNALS_BENCH_RUNS=50 cargo bench --bench recall
//! ```
//!
//! The project is made up, its words drawn from a fixed sequence. docs/recall.md has figures.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the bans hold the library's floors; this lays out a folder, starts programs and may stop where it stands"
)]

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

const FILES: usize = 250;
const UNITS_A_FILE: usize = 20;
const QUERY: &str = "why does the queue retry a failed write after the lock";

const WORDS: &[&str] = &[
    "queue", "retry", "write", "lock", "cache", "index", "parser", "token", "budget", "session",
    "store", "entry", "ledger", "commit", "branch", "merge", "schema", "column", "value", "tenant",
    "scope", "field", "event", "hook", "version", "release", "test", "fixture", "error", "warning",
    "limit", "batch", "stream", "socket", "client", "server", "request", "answer", "header",
    "route", "admin", "reader", "writer", "disk", "memory", "thread", "time", "clock", "day",
    "week",
];

/// A sequence of numbers that is the same on every machine.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

fn main() {
    let runs = env::var("ANNALS_BENCH_RUNS").map_or(30, |runs| runs.parse().unwrap());
    let temp = tempfile::tempdir().unwrap();
    let project = temp.path();
    let mut draw = Draw(7);
    for file in 0..FILES {
        let folder = project.join(format!(".planning/phases/{:02}-part", file / 10));
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join(format!("{file:03}-CONTEXT.md")),
            page(&mut draw),
        )
        .unwrap();
    }
    let cache = project.join(".annals");
    let changing = project.join(".planning/phases/00-part/000-CONTEXT.md");
    let cold = timed(project, runs.min(10), || {
        fs::remove_dir_all(&cache).ok();
    });
    let warm = timed(project, runs, || ());
    let changed = timed(project, runs, || {
        fs::write(&changing, page(&mut draw)).unwrap();
    });
    let mut page = format!("{} units in {FILES} files\n\n", FILES * UNITS_A_FILE);
    page.push_str("| search | median ms | p95 ms |\n|---|--:|--:|\n");
    for (name, times) in [
        ("without a cache", cold),
        ("warm", warm),
        ("after one changed file", changed),
    ] {
        let [median, late] =
            [50, 95].map(|of| times[(times.len() - 1) * of / 100].as_secs_f64() * 1000.0);
        writeln!(page, "| {name} | {median:.1} | {late:.1} |").unwrap();
    }
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

/// Returns a file of bullets under headings.
fn page(draw: &mut Draw) -> String {
    let mut page = String::from("# Context\n");
    for unit in 0..UNITS_A_FILE {
        if unit % 5 == 0 {
            writeln!(
                page,
                "\n## {} {}\n",
                WORDS[draw.next(50)],
                WORDS[draw.next(50)]
            )
            .unwrap();
        }
        let words: Vec<&str> = (0..40).map(|_| WORDS[draw.next(50)]).collect();
        writeln!(page, "- {} {}", words.join(" "), draw.next(100_000)).unwrap();
    }
    page
}

fn timed(project: &Path, runs: usize, mut before: impl FnMut()) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..runs {
        before();
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command
            .env_clear()
            .env("HOME", project)
            .args(["-q", "recall", QUERY])
            .current_dir(project)
            .stdout(Stdio::null());
        let start = Instant::now();
        assert!(command.status().unwrap().success());
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times
}
