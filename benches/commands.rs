//! Times whole processes: what a person or a hook waits for, beside floors measured in the same run.
//!
//! ```console
//! $ ANNALS_BENCH_PROJECT=some/project ANNALS_BENCH_RUNS=200 cargo bench --bench commands
//! ```
//!
//! The project is copied, made a git repository where there is git (`ANNALS_BENCH_GIT=no` leaves
//! that out), and measured in the copy. Rounds go through all rows, so that what slows the machine
//! down for a while slows all of them; ratios of one run are what counts. docs/performance.md has figures.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the bans hold the library's floors; this lays out a folder, starts programs and may stop where it stands"
)]

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use tempfile::TempDir;

const HELLO: &str = r#"fn main() { println!("hello"); }"#;

/// Reads every byte of a folder, as any program has to that reads it at all.
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

/// A program that is started and timed, and what is put in order before each start.
struct Row {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
    before: Option<fn(&Path)>,
    times: Vec<Duration>,
}

impl Row {
    fn new(name: &str, program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            program: program.into(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            before: None,
            times: Vec::new(),
        }
    }

    /// Runs once; tells whether it ended well: a folder without an active milestone has no brief.
    fn run(&mut self, place: &Place) -> bool {
        if let Some(before) = self.before {
            before(&place.project);
        }
        let mut command = place.command(&self.program);
        command.args(&self.arguments);
        let start = Instant::now();
        let status = command.status().unwrap();
        self.times.push(start.elapsed());
        status.success()
    }

    fn quantile(&self, of_hundred: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[(times.len() - 1) * of_hundred / 100].as_secs_f64() * 1000.0
    }
}

/// The copy that is measured in, and a home of its own beside it.
struct Place {
    project: PathBuf,
    temp: TempDir,
}

impl Place {
    fn copy_of(project: &Path) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let place = Self {
            project: temp.path().join("project"),
            temp,
        };
        copy(project, &place.project);
        place
    }

    fn command(&self, program: &Path) -> Command {
        let home = self.temp.path();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(&self.project)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Makes the project a repository with one commit; tells whether it is one now.
    fn git_init(&self) -> bool {
        let git = |line: &str| {
            let mut command = self.command(Path::new("git"));
            command.args([
                "-c",
                "user.name=Bench",
                "-c",
                "user.email=bench@example.org",
            ]);
            let status = command.args(line.split(' ')).status();
            status.is_ok_and(|status| status.success())
        };
        git("init --quiet") && git("add --all") && git("commit --quiet --message all")
    }

    /// Compiles a program that is one file; nothing where there is no compiler.
    fn compiled(&self, name: &str, source: &str) -> Option<PathBuf> {
        let (from, to) = (
            self.temp.path().join(format!("{name}.rs")),
            self.temp.path().join(name),
        );
        fs::write(&from, source).unwrap();
        let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let status = Command::new(compiler)
            .args(["-C", "opt-level=3", "-C", "strip=symbols", "-o"])
            .args([&to, &from])
            .status();
        status.is_ok_and(|status| status.success()).then_some(to)
    }
}

/// Puts back a context file without a block, so that `sync` has something to write.
fn forget_block(project: &Path) {
    fs::write(project.join("CLAUDE.md"), "# Notes\n\nUse tabs.\n").unwrap();
}

fn main() {
    let runs = env::var("ANNALS_BENCH_RUNS").map_or(100, |runs| runs.parse().unwrap());
    let project = env::var_os("ANNALS_BENCH_PROJECT").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/vbw-project"),
        PathBuf::from,
    );
    let place = Place::copy_of(&project);
    let wants_git = env::var("ANNALS_BENCH_GIT").map_or(true, |wish| wish != "no");
    // What the project's finished phases taught is there to be chosen from and checked.
    let annals = Path::new(env!("CARGO_BIN_EXE_annals"));
    let mut record = Row::new("record", annals, &["-q", "execute", "--all"]);
    record.run(&place);
    let is_repository = wants_git && place.git_init();
    let mut rows = rows(&place, is_repository);
    // Twice untimed: what is read once is in memory from then on.
    rows.retain_mut(|row| row.run(&place) && row.run(&place));
    for row in &mut rows {
        row.times.clear();
    }
    for _ in 0..runs {
        for row in &mut rows {
            row.run(&place);
        }
    }
    let page = page(&place, is_repository, runs, &rows);
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

fn rows(place: &Place, is_repository: bool) -> Vec<Row> {
    let annals = env!("CARGO_BIN_EXE_annals");
    let planning = planning(&place.project);
    let mut rows = vec![Row::new("true", "true", &[])];
    if let Some(hello) = place.compiled("hello", HELLO) {
        rows.push(Row::new("a Rust hello", hello, &[]));
    }
    if let Some(reader) = place.compiled("reader", READER) {
        let folder = planning.to_str().unwrap();
        rows.push(Row::new("reading the folder's bytes", reader, &[folder]));
    }
    if is_repository {
        rows.push(Row::new(
            "git rev-parse HEAD",
            "git",
            &["rev-parse", "HEAD"],
        ));
    }
    rows.push(Row::new("annals --version", annals, &["--version"]));
    rows.push(Row::new("annals status", annals, &["-q", "status"]));
    rows.push(Row::new(
        "annals status --json",
        annals,
        &["-q", "status", "--json"],
    ));
    // In this order: the file that one run wrote is what the other finds unchanged.
    let mut writing = Row::new("annals sync, writing", annals, &["-q", "sync"]);
    writing.before = Some(forget_block);
    rows.push(writing);
    rows.push(Row::new("annals sync, unchanged", annals, &["-q", "sync"]));
    rows.push(Row::new("annals plan", annals, &["-q", "plan"]));
    let check = ["-q", "patterns", "check"];
    rows.push(Row::new("annals patterns check", annals, &check));
    rows
}

fn page(place: &Place, is_repository: bool, runs: usize, rows: &[Row]) -> String {
    let (files, bytes) = size(&planning(&place.project));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let git = if is_repository {
        "a repository"
    } else {
        "no repository"
    };
    let mut lines = vec![
        format!("{files} planning files, {bytes} bytes, {git}; {runs} runs each, {cores} cores"),
        String::new(),
        "| process | median ms | p95 ms | of `true` | of the hello | of reading |".to_owned(),
        "|---|--:|--:|--:|--:|--:|".to_owned(),
    ];
    let median_of = |start: &str| {
        let row = rows.iter().find(|row| row.name.starts_with(start));
        row.map(|row| row.quantile(50))
    };
    let floors = [
        median_of("true"),
        median_of("a Rust hello"),
        median_of("reading"),
    ];
    for row in rows {
        let median = row.quantile(50);
        let ratio = |floor: &Option<f64>| {
            floor.map_or("-".to_owned(), |floor| format!("{:.2}", median / floor))
        };
        let ratios: Vec<String> = floors.iter().map(ratio).collect();
        let (name, late) = (&row.name, row.quantile(95));
        let ratios = ratios.join(" | ");
        lines.push(format!("| {name} | {median:.2} | {late:.2} | {ratios} |"));
    }
    lines.join("\n") + "\n"
}

fn planning(project: &Path) -> PathBuf {
    [".vbw-planning", ".yolo-planning", ".planning"]
        .iter()
        .map(|name| project.join(name))
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| panic!("no planning folder in {}", project.display()))
}

/// Returns how many files a folder holds, and their bytes.
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
            && !matches!(
                entry.file_name().to_str(),
                Some(".git" | ".annals" | "target")
            )
        {
            copy(&from, &to);
        } else if kind.is_file() {
            // A copy by the system would carry a read-only mode over.
            fs::write(&to, fs::read(&from).unwrap()).unwrap();
        }
    }
}
