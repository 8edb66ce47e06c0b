//! Times whole processes over a store of knowledge entries, beside `rg` over the same folder in the same run.
//!
//! ```console
//! $ ANNALS_BENCH_ENTRIES=10000 ANNALS_BENCH_RUNS=20 cargo bench --bench entries
//! ```
//!
//! The entries are generated, the same ones every time. Rounds go through all rows, so that what slows
//! the machine down for a while slows all of them; ratios of one run are what counts.
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
use std::thread;
use std::time::Duration;
use std::time::Instant;

const MEMORY: &str = ".vibekit/memory";

/// Stands in few entries.
const RARE: &str = "zirconium";
/// Stands in every entry.
const COMMON: &str = "because";

const WORDS: [&str; 40] = [
    "queue",
    "retry",
    "worker",
    "timeout",
    "schema",
    "migration",
    "index",
    "cache",
    "token",
    "session",
    "the",
    "and",
    "with",
    "for",
    "when",
    "then",
    "every",
    "never",
    "module",
    "request",
    "response",
    "header",
    "build",
    "deploy",
    "release",
    "branch",
    "test",
    "runner",
    "fixture",
    "snapshot",
    "parser",
    "writer",
    "reader",
    "lock",
    "thread",
    "process",
    "signal",
    "buffer",
    "stream",
    "handle",
];

struct Row {
    name: &'static str,
    program: &'static str,
    arguments: Vec<&'static str>,
    /// Removed before each run.
    removes: Option<&'static str>,
    times: Vec<Duration>,
}

impl Row {
    fn new(name: &'static str, program: &'static str, line: &'static str) -> Self {
        Self {
            name,
            program,
            arguments: line.split_whitespace().collect(),
            removes: None,
            times: Vec::new(),
        }
    }

    fn removing(mut self, file: &'static str) -> Self {
        self.removes = Some(file);
        self
    }

    /// Runs once; tells whether the program is there.
    fn run(&mut self, root: &Path) -> bool {
        if let Some(file) = self.removes {
            fs::remove_file(root.join(file)).ok();
        }
        let mut command = Command::new(self.program);
        command
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", root)
            .current_dir(root)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status();
        self.times.push(start.elapsed());
        status.is_ok_and(|status| status.success())
    }

    fn quantile(&self, of_hundred: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[(times.len() - 1) * of_hundred / 100].as_secs_f64() * 1000.0
    }
}

fn main() {
    let setting = |name, default| env::var(name).map_or(default, |value| value.parse().unwrap());
    let count: u64 = setting("ANNALS_BENCH_ENTRIES", 10_000);
    let runs: u64 = setting("ANNALS_BENCH_RUNS", 20);
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let bytes = generate(&root, count);
    // The cache trusts no file that is as young as itself.
    thread::sleep(Duration::from_millis(1_200));
    let annals = env!("CARGO_BIN_EXE_annals");
    let cache = ".annals/entries.cache";
    let mut rows = vec![
        Row::new("true", "true", ""),
        Row::new(
            "rg -F -l, a rare word",
            "rg",
            "-F -l zirconium .vibekit/memory",
        ),
        Row::new(
            "rg -F -l, a word of all",
            "rg",
            "-F -l because .vibekit/memory",
        ),
        Row::new("query, no cache", annals, "entry query --text zirconium").removing(cache),
        Row::new("query, a rare word", annals, "entry query --text zirconium"),
        Row::new("query, a word of all", annals, "entry query --text because"),
        Row::new("list", annals, "entry list"),
        Row::new("audit", annals, "entry audit"),
        Row::new(
            "write, front matter",
            annals,
            "entry write --key entry-00007 --type gotcha --confidence low --no-history",
        ),
        Row::new(
            "write, a body",
            annals,
            "entry write --key entry-00008 --type gotcha --confidence low --no-history --body @body.md",
        ),
    ];
    fs::write(root.join("body.md"), "# Another body\n\nOne line.\n").unwrap();
    Row::new("audit", annals, "entry audit").run(&root);
    rows.retain_mut(|row| row.run(&root) && row.run(&root));
    for row in &mut rows {
        row.times.clear();
    }
    for _ in 0..runs {
        for row in &mut rows {
            row.run(&root);
        }
    }
    let page = page(
        &rows,
        &format!("{count} entries, {bytes} bytes; {runs} runs each"),
    );
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

fn page(rows: &[Row], heading: &str) -> String {
    let rg = rows.iter().find(|row| row.name.starts_with("rg"));
    let floor = rg.map(|row| row.quantile(50));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut page = format!(
        "{heading}, {cores} cores\n\n| process | median ms | p95 ms | of rg |\n|---|--:|--:|--:|\n"
    );
    for row in rows {
        let median = row.quantile(50);
        let ratio = floor.map_or("-".to_owned(), |floor| format!("{:.2}", median / floor));
        let (name, late) = (row.name, row.quantile(95));
        writeln!(page, "| {name} | {median:.2} | {late:.2} | {ratio} |").unwrap();
    }
    page
}

/// Writes the entries, and returns how many bytes they have.
fn generate(root: &Path, count: u64) -> usize {
    let folder = root.join(MEMORY);
    fs::create_dir_all(&folder).unwrap();
    let mut state: u64 = 1;
    let mut draw = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
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
        write!(
            text,
            "\n\n## See also\n- [[entry-{next:05}]] — the next one\n"
        )
        .unwrap();
        bytes += text.len();
        fs::write(folder.join(format!("entry-{number:05}.md")), text).unwrap();
    }
    bytes
}
