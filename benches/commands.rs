//! Times whole processes that a person or a hook waits for, against baselines measured in the same run.
//!
//! ```console
//! $ ANNALS_BENCH_PROJECT=some/project ANNALS_BENCH_RUNS=200 cargo bench -- commands
//! ```
//!
//! The project is copied, made a git repository if git is available (unless `ANNALS_BENCH_GIT=no`), and
//! measured in the copy. Each round runs all rows, so that a slowdown of the machine affects all of them;
//! only ratios within a run are meaningful. The figures are in docs/performance.md.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

use crate::measure::{self, Place, Row};

const HELLO: &str = r#"fn main() { println!("hello"); }"#;

/// Reads every byte of a folder, the minimum work of any program that reads it.
const READER: &str = r#"
fn read(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().flatten().map(|entry| {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() { read(&entry.path()) }
        else if kind.is_file() { std::fs::read(entry.path()).unwrap().len() }
        else { 0 }
    }).sum()
}
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    println!("{}", read(folder.as_ref()));
}
"#;

/// The hook input that a harness sends at the start of a session.
const SESSION_START: &str = r#"{"hook_event_name":"SessionStart","source":"startup"}"#;

/// A turn of a conversation.
const TURN: &str = r#"{"user_input":"I moved to Lisbon.","assistant_response":"Noted."}"#;

/// The first messages of an MCP client.
const INITIALISE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

pub(crate) fn run() {
    let runs = measure::setting("ANNALS_BENCH_RUNS", 100);
    let project = env::var_os("ANNALS_BENCH_PROJECT").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/vbw-project"),
        PathBuf::from,
    );
    let temp = tempfile::tempdir().unwrap();
    let copied = temp.path().join("project");
    copy(&project, &copied);
    let place = Place::new(&copied, temp.path());
    // Creates the lessons of the project's finished phases, which other rows select from and check.
    Row::annals("-q execute --all").run(&place);
    let wants_git = env::var("ANNALS_BENCH_GIT").map_or(true, |wish| wish != "no");
    let is_repository = wants_git && git_init(&place);
    let rows = rows(&place, &temp, is_repository);
    let (files, bytes) = size(&planning(&copied));
    let git = if is_repository { "a repository" } else { "no repository" };
    let peers = ["true", "a Rust hello", "reading"];
    let page = measure::page(&place, rows, runs, &peers);
    let page = format!("{files} planning files, {bytes} bytes, {git}; {page}");
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

/// Makes the project a repository with one commit; returns whether that succeeded.
fn git_init(place: &Place) -> bool {
    let git = |line: &str| place.git(&line.split(' ').collect::<Vec<_>>()).is_some();
    git("init --quiet") && git("add --all") && git("commit --quiet --message all")
}

/// Compiles a program from a single file; returns `None` if there is no compiler.
fn compiled(temp: &TempDir, name: &str, source: &str) -> Option<PathBuf> {
    let (from, to) = (temp.path().join(format!("{name}.rs")), temp.path().join(name));
    fs::write(&from, source).unwrap();
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(compiler)
        .args(["-C", "opt-level=3", "-C", "strip=symbols", "-o"])
        .args([&to, &from])
        .status();
    status.is_ok_and(|status| status.success()).then_some(to)
}

/// Resets the context file to one without a block, so that `sync` has something to write.
fn forget_block(project: &Path) {
    fs::write(project.join("CLAUDE.md"), "# Notes\n\nUse tabs.\n").unwrap();
}

fn rows(place: &Place, temp: &TempDir, is_repository: bool) -> Vec<Row> {
    let input = |name: &str, text: &str| {
        let path = temp.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let mut rows = vec![Row::new("true", "true", &[])];
    if let Some(hello) = compiled(temp, "hello", HELLO) {
        rows.push(Row::new("a Rust hello", hello, &[]));
    }
    if let Some(reader) = compiled(temp, "reader", READER) {
        let folder = planning(&place.folder);
        let arguments = [folder.to_str().unwrap()];
        rows.push(Row::new("reading the folder's bytes", reader, &arguments));
    }
    if is_repository {
        let head = ["rev-parse", "HEAD"];
        rows.push(Row::new("git rev-parse HEAD", "git", &head));
    }
    let start = input("start.json", SESSION_START);
    let initialise = input("initialise.jsonl", INITIALISE);
    let turn = input("turn.json", TURN);
    rows.extend([
        Row::annals("--version"),
        Row::annals("-q status"),
        Row::annals("-q status --json"),
        // The order matters: the file that the first row writes is unchanged for the second.
        Row::annals("-q sync").after(forget_block),
        Row::annals("-q sync --check"),
        Row::annals("-q plan"),
        Row::annals("-q patterns check"),
        Row::annals("-q context"),
        Row::annals("hook session-start").reading(&start),
        Row::annals("mcp").reading(&initialise),
        Row::annals("facts observe --user ada").reading(&turn),
    ]);
    rows
}

fn planning(project: &Path) -> PathBuf {
    [".vbw-planning", ".yolo-planning", ".planning"]
        .iter()
        .map(|name| project.join(name))
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| panic!("no planning folder in {}", project.display()))
}

/// Returns the number of files in a folder, and their total size in bytes.
fn size(folder: &Path) -> (usize, u64) {
    let mut all = (0, 0);
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (files, bytes) = match entry.file_type().unwrap() {
            kind if kind.is_dir() => size(&entry.path()),
            kind if kind.is_file() => (1, entry.metadata().unwrap().len()),
            _ => (0, 0),
        };
        all = (all.0 + files, all.1 + bytes);
    }
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir()
            && !matches!(entry.file_name().to_str(), Some(".git" | ".annals" | "target"))
        {
            copy(&from, &to);
        } else if kind.is_file() {
            // `fs::copy` would preserve a read-only mode.
            fs::write(&to, fs::read(&from).unwrap()).unwrap();
        }
    }
}
