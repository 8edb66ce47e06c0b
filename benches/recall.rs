//! Times whole searches on 5,000 units: without a cache, with one, and after a file has changed.
//!
//! ```console
//! $ ANNALS_BENCH_RUNS=50 cargo bench -- recall
//! ```
//!
//! The project is generated from a fixed pseudorandom sequence. The figures are in docs/performance.md.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::measure::{self, Place, Row};

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

/// A pseudorandom sequence, the same on every machine.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

pub(crate) fn run() {
    let runs = measure::setting("ANNALS_BENCH_RUNS", 30);
    let temp = tempfile::tempdir().unwrap();
    let project = temp.path();
    let mut draw = Draw(7);
    for file in 0..FILES {
        let folder = project.join(format!(".planning/phases/{:02}-part", file / 10));
        fs::create_dir_all(&folder).unwrap();
        let name = format!("{file:03}-CONTEXT.md");
        fs::write(folder.join(name), page(&mut draw)).unwrap();
    }
    let recall = |name: &str| Row::new(name, measure::program(), &["-q", "recall", QUERY]);
    let forget = |project: &Path| {
        fs::remove_dir_all(project.join(".annals")).ok();
    };
    let change = move |project: &Path| {
        let changing = project.join(".planning/phases/00-part/000-CONTEXT.md");
        fs::write(changing, page(&mut draw)).unwrap();
    };
    // The order matters: each row uses the cache that the previous one built.
    let rows = vec![
        Row::new("true", "true", &[]),
        recall("annals recall, no cache").after(forget),
        recall("annals recall, one file changed").after(change),
        recall("annals recall, warm"),
    ];
    let place = Place::new(project, project);
    let page = measure::page(&place, rows, runs, &["true"]);
    let page = format!("{} units in {FILES} files; {page}", FILES * UNITS_A_FILE);
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

/// Returns a file of list items under headings.
fn page(draw: &mut Draw) -> String {
    let mut page = String::from("# Context\n");
    for unit in 0..UNITS_A_FILE {
        if unit % 5 == 0 {
            writeln!(page, "\n## {} {}\n", WORDS[draw.next(50)], WORDS[draw.next(50)]).unwrap();
        }
        let words: Vec<&str> = (0..40).map(|_| WORDS[draw.next(50)]).collect();
        writeln!(page, "- {} {}", words.join(" "), draw.next(100_000)).unwrap();
    }
    page
}
