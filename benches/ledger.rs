//! Times `annals ledger brief` as a whole process on generated repositories, beside git over the same commits.
//!
//! ```console
//! $ ANNALS_BENCH_COMMITS=4000,20000 ANNALS_BENCH_RUNS=50 cargo bench --bench ledger
//! ```
//!
//! The history is one line, packed, without a commit-graph, as a clone leaves it; the ledger is the
//! size of a real one. Rounds go through all rows, so that what slows the machine down for a while
//! slows all of them; ratios of one run are what counts.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the bans hold the library's floors; this lays out a folder, starts programs and may stop where it stands"
)]

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use tempfile::TempDir;

/// A program that is started and timed in a ledger with this anchor.
struct Row {
    name: &'static str,
    program: &'static str,
    arguments: Vec<String>,
    anchor: String,
    times: Vec<Duration>,
}

struct Repository {
    folder: TempDir,
}

impl Repository {
    /// Makes a repository of so many commits by one import.
    fn new(commits: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = Self { folder };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        let mut import = repository.command("git", &["fast-import", "--quiet"]);
        let mut child = import.stdin(Stdio::piped()).spawn().unwrap();
        let stream = stream(commits);
        child
            .stdin
            .take()
            .unwrap()
            .write_all(stream.as_bytes())
            .unwrap();
        assert!(child.wait().unwrap().success());
        repository.git(&["reset", "--quiet", "--hard"]);
        let ledger = repository.folder.path().join("docs/memory");
        fs::create_dir_all(&ledger).unwrap();
        fs::write(ledger.join("CONSTRAINTS.md"), constraints()).unwrap();
        fs::write(ledger.join("DECISIONS.md"), decisions()).unwrap();
        repository
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("ANNALS_NOW", "2026-03-01T12:00:00Z")
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = self
            .command("git", arguments)
            .stdout(Stdio::piped())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn run(&self, row: &mut Row) {
        fs::write(
            self.folder.path().join("docs/memory/STATE.md"),
            state(&row.anchor),
        )
        .unwrap();
        let arguments: Vec<&str> = row.arguments.iter().map(String::as_str).collect();
        let mut command = self.command(row.program, &arguments);
        let start = Instant::now();
        let status = command.status().unwrap();
        row.times.push(start.elapsed());
        assert!(status.success(), "{}", row.name);
    }
}

fn stream(commits: usize) -> String {
    let mut stream = String::new();
    for n in 0..commits {
        let time = 1_700_000_000 + n * 600;
        let message = format!("Change file {n}\n\nThe body of commit {n}.\n");
        let content = format!("// {n}\n");
        let who = format!("Ada <ada@example.org> {time} +0000");
        let file = format!("src/module{}/file{}.rs", n % 40, n % 400);
        write!(
            stream,
            "commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {}\n{message}M 100644 inline {file}\ndata {}\n{content}\n",
            message.len(),
            content.len()
        )
        .unwrap();
    }
    stream
}

fn state(anchor: &str) -> String {
    format!(
        "# State\n\n## Current Objective\nShip it\n\n## Active Work\n- Write the reader\n\n## Blockers\nNone\n\n## Next Actions\n- [ ] Read the footer\n\n## Quick Reference\n- Run: `cargo run`\n\n---\nLast memory update: 2026-02-28\nCommits covered through: {anchor}\n"
    )
}

fn constraints() -> String {
    let mut text = "# Constraints\n".to_owned();
    for section in [
        "Infrastructure",
        "Rules",
        "Key Facts",
        "Hazards",
        "Superseded",
    ] {
        write!(text, "\n## {section}\n").unwrap();
        for n in 0..20 {
            writeln!(text, "- {section} {n}: the gateway listens on port {}, and only the worker may restart it while a batch is written", 7000 + n).unwrap();
        }
    }
    text
}

fn decisions() -> String {
    let mut text = "# Decisions\n\n## Recent (last 30 days)\n".to_owned();
    for n in 0..8 {
        writeln!(text, "- Gist {n} of what was decided lately").unwrap();
    }
    for month in ["2026-02", "2026-01", "2025-12"] {
        write!(text, "\n## {month}\n").unwrap();
        for day in (10..28).rev() {
            write!(text, "\n### {month}-{day} \u{2014} Decide number {day}\n\n- **Why:** The readers need it, and the writers can bear it without more locks\n- **Impact:** One more file in the folder, one field less in the header\n- **Evidence:** https://example.org/a/b/pull/{day}\n").unwrap();
        }
    }
    text
}

fn rows(repository: &Repository, commits: usize) -> Vec<Row> {
    let at = |revision: &str| repository.git(&["rev-parse", revision]);
    let (head, near, first) = (
        at("HEAD"),
        at("HEAD~20"),
        at(&format!("HEAD~{}", commits - 1)),
    );
    let row = |name, program, arguments: &[&str], anchor: &str| Row {
        name,
        program,
        arguments: arguments.iter().map(ToString::to_string).collect(),
        anchor: anchor.to_owned(),
        times: Vec::new(),
    };
    let annals = env!("CARGO_BIN_EXE_annals");
    let since = format!("{first}..HEAD");
    let brief = ["-q", "ledger", "brief"];
    vec![
        row("git rev-parse HEAD", "git", &["rev-parse", "HEAD"], &head),
        row("git log", "git", &["log"], &head),
        row(
            "git rev-list --count, all",
            "git",
            &["rev-list", "--count", &since],
            &head,
        ),
        row("ledger brief, all covered", annals, &brief, &head),
        row("ledger brief, 20 commits since", annals, &brief, &near),
        row(
            "ledger brief, none covered but the first",
            annals,
            &brief,
            &first,
        ),
        row(
            "ledger pending, 20 commits since",
            annals,
            &["-q", "ledger", "pending"],
            &near,
        ),
        row(
            "ledger pending, all but the first",
            annals,
            &["-q", "ledger", "pending"],
            &first,
        ),
    ]
}

fn quantile(row: &Row, of_hundred: usize) -> f64 {
    let mut times = row.times.clone();
    times.sort_unstable();
    times[(times.len() - 1) * of_hundred / 100].as_secs_f64() * 1000.0
}

fn main() {
    let runs = env::var("ANNALS_BENCH_RUNS").map_or(50, |runs| runs.parse().unwrap());
    let sizes = env::var("ANNALS_BENCH_COMMITS").unwrap_or_else(|_| "4000,20000".to_owned());
    for commits in sizes.split(',').map(|size| size.trim().parse().unwrap()) {
        let repository = Repository::new(commits);
        let mut rows = rows(&repository, commits);
        for round in 0..runs + 2 {
            for row in &mut rows {
                repository.run(row);
                // Twice untimed: what is read once is in memory from then on.
                if round < 2 {
                    row.times.clear();
                }
            }
        }
        std::io::stdout()
            .write_all(page(commits, runs, &rows).as_bytes())
            .unwrap();
    }
}

fn page(commits: usize, runs: usize, rows: &[Row]) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let log = rows
        .iter()
        .find(|row| row.name == "git log")
        .map_or(1.0, |row| quantile(row, 50));
    let mut page = format!(
        "\n{commits} commits; {runs} runs each, {cores} cores\n\n| process | median ms | p95 ms | of git log |\n|---|--:|--:|--:|\n"
    );
    for row in rows {
        let median = quantile(row, 50);
        writeln!(
            page,
            "| {} | {median:.2} | {:.2} | {:.2} |",
            row.name,
            quantile(row, 95),
            median / log
        )
        .unwrap();
    }
    page
}
