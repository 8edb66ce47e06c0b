//! Times whole processes over a store of knowledge entries, against `rg` over the same folder.
//!
//! ```console
//! $ ANNALS_BENCH_ENTRIES=10000 ANNALS_BENCH_RUNS=20 cargo bench -- entries
//! ```
//!
//! The entries are generated, the same ones every time. Each round runs all rows, so that a slowdown of the
//! machine affects all of them; only ratios within a run are meaningful.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::measure::{self, Place, Row};

const MEMORY: &str = ".vibekit/memory";

/// A word in few entries.
const RARE: &str = "zirconium";
/// A word in every entry.
const COMMON: &str = "because";

const WORDS: [&str; 40] = [
    "queue", "retry", "worker", "timeout", "schema", "migration", "index", "cache", "token",
    "session", "the", "and", "with", "for", "when", "then", "every", "never", "module", "request",
    "response", "header", "build", "deploy", "release", "branch", "test", "runner", "fixture",
    "snapshot", "parser", "writer", "reader", "lock", "thread", "process", "signal", "buffer",
    "stream", "handle",
];

pub(crate) fn run() {
    let count = measure::setting("ANNALS_BENCH_ENTRIES", 10_000);
    let runs = measure::setting("ANNALS_BENCH_RUNS", 20);
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let bytes = generate(&root, u64::try_from(count).unwrap());
    fs::write(root.join("body.md"), "# Another body\n\nOne line.\n").unwrap();
    let place = Place::new(&root, &root);
    Row::annals("entry audit").run(&place);
    let page = measure::page(&place, rows(), runs, &["rg"]);
    let page = format!("{count} entries, {bytes} bytes; {page}");
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

fn rows() -> Vec<Row> {
    let rg = |name: &str, word: &str| Row::new(name, "rg", &["-F", "-l", word, MEMORY]);
    let query = |word: &str| Row::annals(&format!("entry query --text {word}"));
    vec![
        Row::new("true", "true", &[]),
        rg("rg -F -l, a rare word", RARE),
        rg("rg -F -l, a word of all", COMMON),
        query(RARE),
        query(COMMON),
        Row::annals("entry list"),
        Row::annals("entry audit"),
        Row::annals("entry write --key entry-00007 --type gotcha --confidence low --no-history"),
        Row::annals(
            "entry write --key entry-00008 --type gotcha --confidence low --no-history --body @body.md",
        ),
    ]
}

/// Writes the entries, and returns their total size in bytes.
fn generate(root: &Path, count: u64) -> usize {
    let folder = root.join(MEMORY);
    fs::create_dir_all(&folder).unwrap();
    let mut state: u64 = 1;
    let mut draw = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % below).unwrap()
    };
    let types = ["convention", "decision", "gotcha", "architecture"];
    let mut bytes = 0;
    for number in 0..count {
        let (kind, tag) = (types[draw(4)], WORDS[draw(40)]);
        let (month, day) = (1 + draw(12), 1 + draw(28));
        let mut text = format!(
            "---\nkey: entry-{number:05}\ntype: {kind}\ntags: [{tag}, generated]\ncreated: 2025-01-01\n\
             updated: 2025-{month:02}-{day:02}\nstatus: active\nconfidence: high\n---\n\n# Entry {number}\n"
        );
        for _ in 0..3 + draw(10) {
            text.push_str("\n- ");
            for _ in 0..8 + draw(8) {
                text.push_str(WORDS[draw(40)]);
                text.push(' ');
            }
            text.push_str(COMMON);
        }
        if number % 1_000 == 500 {
            writeln!(text, "\n\n{RARE} is rare.").unwrap();
        }
        let next = (number + 1) % count;
        write!(text, "\n\n## See also\n- [[entry-{next:05}]] — the next one\n").unwrap();
        bytes += text.len();
        fs::write(folder.join(format!("entry-{number:05}.md")), text).unwrap();
    }
    bytes
}
