//! Times `annals ledger brief` as a whole process on generated repositories, against git on the same.
//!
//! ```console
//! $ ANNALS_BENCH_COMMITS=4000,20000 ANNALS_BENCH_RUNS=50 cargo bench -- ledger
//! ```
//!
//! The history is linear and packed, without a commit-graph, like a fresh clone; the ledger has a realistic
//! size. Each round runs all rows, so that a slowdown of the machine affects all of them; only ratios within
//! a run are meaningful.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::{env, fs};

use tempfile::TempDir;

use crate::measure::{self, Place, Row};

/// The hook input that a harness sends at the start of a session.
const SESSION_START: &str = r#"{"hook_event_name":"SessionStart","source":"startup"}"#;

struct Repository {
    folder: TempDir,
    place: Place,
}

impl Repository {
    /// Creates a repository with this many commits by a single import.
    fn new(commits: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(folder.path(), folder.path());
        let place = place.with("ANNALS_NOW", "2026-03-01T12:00:00Z");
        let repository = Self { folder, place };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        let mut import = repository.place.command(Path::new("git"));
        let import = import.args(["fast-import", "--quiet"]);
        let mut child = import.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(stream(commits).as_bytes()).unwrap();
        drop(input);
        assert!(child.wait().unwrap().success());
        repository.git(&["reset", "--quiet", "--hard"]);
        let ledger = repository.folder.path().join("docs/memory");
        fs::create_dir_all(&ledger).unwrap();
        fs::write(ledger.join("CONSTRAINTS.md"), constraints()).unwrap();
        fs::write(ledger.join("DECISIONS.md"), decisions()).unwrap();
        repository
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.place.git(arguments).unwrap()
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
    for section in ["Infrastructure", "Rules", "Key Facts", "Hazards", "Superseded"] {
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
    let (head, near) = (at("HEAD"), at("HEAD~20"));
    let first = at(&format!("HEAD~{}", commits - 1));
    let anchored = |row: Row, name: &str, anchor: &str| {
        let state = state(anchor);
        row.named(name)
            .after(move |root| fs::write(root.join("docs/memory/STATE.md"), &state).unwrap())
    };
    let since = format!("{first}..HEAD");
    let count = ["rev-list", "--count", &since];
    let input = repository.folder.path().join(".git/start.json");
    fs::write(&input, SESSION_START).unwrap();
    let brief = || Row::annals("-q ledger brief");
    let pending = || Row::annals("-q ledger pending");
    let hook = || Row::annals("hook session-start").reading(&input);
    vec![
        Row::new("true", "true", &[]),
        Row::new("git rev-parse HEAD", "git", &["rev-parse", "HEAD"]),
        Row::new("git log", "git", &["log"]),
        Row::new("git rev-list --count, all", "git", &count),
        anchored(brief(), "ledger brief, all covered", &head),
        anchored(brief(), "ledger brief, 20 commits since", &near),
        anchored(brief(), "ledger brief, only the first covered", &first),
        anchored(pending(), "ledger pending, 20 commits since", &near),
        anchored(pending(), "ledger pending, only the first covered", &first),
        anchored(hook(), "hook session-start, all covered", &head),
        anchored(hook(), "hook session-start, 20 commits since", &near),
        anchored(hook(), "hook session-start, only the first covered", &first),
    ]
}

pub(crate) fn run() {
    let runs = measure::setting("ANNALS_BENCH_RUNS", 50);
    let sizes = env::var("ANNALS_BENCH_COMMITS").unwrap_or_else(|_| "4000,20000".to_owned());
    for commits in sizes.split(',').map(|size| size.trim().parse().unwrap()) {
        let repository = Repository::new(commits);
        let rows = rows(&repository, commits);
        let page = measure::page(&repository.place, rows, runs, &["git log"]);
        let page = format!("\n{commits} commits; {page}");
        std::io::stdout().write_all(page.as_bytes()).unwrap();
    }
}
