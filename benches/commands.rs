//! Whole runs of the commands, as medians, beside what a process costs at least.
//!
//! `cargo bench --bench commands` measures a copy of `ANNALS_BENCH_PROJECT` (by default the bundled
//! example); nothing is asserted, since the machine may be busy: what counts is the ratio in one run.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, copies a folder and starts programs"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use ignore::WalkBuilder;

const RUNS: usize = 40;

fn main() {
    let project =
        std::env::var("ANNALS_BENCH_PROJECT").unwrap_or_else(|_| "examples/vbw-project".to_owned());
    let copy = tempfile::tempdir().unwrap();
    let (files, bytes) = copied(Path::new(&project), copy.path());
    println!("{files} files, {bytes} bytes, median of {RUNS} runs");
    run(annals(copy.path()).args(["execute", "--all", "--quiet"]));
    let floor = median(|| run(&mut Command::new("true")));
    row("true", floor, floor);
    row(
        "annals --version",
        median(|| run(annals(copy.path()).arg("--version"))),
        floor,
    );
    let read = median(|| assert!(read_all(copy.path()) >= bytes));
    row("reading the bytes", read, floor);
    row(
        "annals status",
        median(|| run(annals(copy.path()).arg("status"))),
        floor,
    );
    row(
        "annals sync, nothing to do",
        median(|| run(annals(copy.path()).arg("sync"))),
        floor,
    );
    let context = copy.path().join("CLAUDE.md");
    let rewritten = median(|| {
        fs::write(&context, "# Mine\n").unwrap();
        run(annals(copy.path()).arg("sync"));
    });
    row("annals sync, file written", rewritten, floor);
    row(
        "annals plan",
        median(|| run(annals(copy.path()).arg("plan"))),
        floor,
    );
    row(
        "annals patterns check",
        median(|| run(annals(copy.path()).args(["patterns", "check"]))),
        floor,
    );
}

fn annals(project: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command.arg("-C").arg(project);
    command
}

/// Runs to the end, whatever comes of it: a folder without an active milestone has no brief.
fn run(command: &mut Command) {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
}

fn row(name: &str, median: Duration, floor: Duration) {
    let ratio = median.as_secs_f64() / floor.as_secs_f64();
    println!(
        "{name:<28} {:>8.2} ms {ratio:>6.1} x",
        median.as_secs_f64() * 1e3
    );
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

fn files(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    let walk = WalkBuilder::new(folder).standard_filters(false).build();
    let found = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    found.map(ignore::DirEntry::into_path)
}

fn copied(from: &Path, to: &Path) -> (usize, usize) {
    let mut sum = (0, 0);
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let bytes = fs::read(&file).unwrap();
        sum = (sum.0 + 1, sum.1 + bytes.len());
        fs::write(target, bytes).unwrap();
    }
    sum
}

fn read_all(folder: &Path) -> usize {
    files(folder)
        .map(|file| fs::read(file).unwrap().len())
        .sum()
}
