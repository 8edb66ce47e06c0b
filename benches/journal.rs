//! Times the journal as whole processes, beside the shell pipeline that it replaces and `rg` over the same bytes.
//!
//! ```console
//! $ ANNALS_BENCH_RUNS=50 cargo bench --bench journal
//! ```
//!
//! Journals of 10,000, 100,000 and 1,000,000 lines are generated; rounds go through all rows, so that
//! what slows the machine down slows all of them. Peak memory is what the kernel says a process had at
//! most (`VmHWM`), seen in a run of its own. Rows of programs that are missing are left out.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the bans hold the library's floors; this lays out files, starts programs and may stop where it stands"
)]

use std::env;
use std::fs;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

const ANNALS: &str = env!("CARGO_BIN_EXE_annals");

/// The shell pipeline of the tool's description, for one window.
const REFERENCE: &str = r#"tail -n 50000 "$1" | { rg -F -e "$2" || true; } | jq -cR 'fromjson? | select(type == "object")' | tac | head -n 20"#;

/// One write as the tool's description has it.
const REFERENCE_WRITE: &str = r#"jq -cn --arg ts "$(date -u '+%Y-%m-%dT%H:%M:%SZ')" --arg type note --arg content "$2" --argjson tags null --argjson meta null '{ts:$ts,type:$type,content:$content,tags:$tags,meta:$meta}' >> "$1""#;

/// A process that is started and timed.
struct Row {
    name: String,
    program: &'static str,
    arguments: Vec<String>,
    input: Option<PathBuf>,
    times: Vec<Duration>,
}

impl Row {
    fn new(name: &str, program: &'static str, arguments: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            program,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            input: None,
            times: Vec::new(),
        }
    }

    fn shell(name: &str, script: &str, arguments: &[&str]) -> Self {
        let all = [&["-c", script, "sh"], arguments].concat();
        Self::new(name, "bash", &all)
    }

    fn command(&self, journal: &Path) -> Command {
        let mut command = Command::new(self.program);
        let input = self
            .input
            .as_ref()
            .map_or_else(Stdio::null, |path| File::open(path).unwrap().into());
        command
            .args(&self.arguments)
            .env("MEMORY_FILE", journal)
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn run(&mut self, journal: &Path) {
        let mut command = self.command(journal);
        let start = Instant::now();
        command.status().unwrap();
        self.times.push(start.elapsed());
    }

    fn quantile(&self, of_hundred: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[(times.len() - 1) * of_hundred / 100].as_secs_f64() * 1000.0
    }

    /// Returns the most memory that a run has, in KiB, as the kernel says while it lives.
    fn peak(&self, journal: &Path) -> u64 {
        let mut most = 0;
        for _ in 0..5 {
            let mut child = self.command(journal).spawn().unwrap();
            let status = format!("/proc/{}/status", child.id());
            while child.try_wait().unwrap().is_none() {
                let text = fs::read_to_string(&status).unwrap_or_default();
                let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let kib = line.and_then(|line| line.split_whitespace().next());
                most = most.max(kib.map_or(0, |kib| kib.parse().unwrap()));
            }
        }
        most
    }
}

/// Writes a journal of so many lines, about 340 bytes each.
fn generate(path: &Path, lines: usize) {
    let words = [
        "pantry",
        "shelf",
        "Python",
        "migration",
        "deadline",
        "parser",
        "column",
        "retry",
    ];
    let mut file = std::io::BufWriter::new(File::create(path).unwrap());
    for number in 0..lines {
        let mut content = String::new();
        for step in 0..28 {
            content.push_str(words[(number * 31 + step * step * 7 + number / 13) % words.len()]);
            content.push(' ');
        }
        if number % 5 == 0 {
            content.push_str("\\nsecond \\\"line\\\"");
        }
        writeln!(
            file,
            "{{\"ts\":\"2026-02-17T10:11:12+00:00\",\"type\":\"note\",\"content\":\"{content}{number}\",\"tags\":[\"bench\",\"{}\"],\"meta\":null}}",
            words[number % words.len()]
        )
        .unwrap();
    }
    file.flush().unwrap();
}

fn is_here(program: &str) -> bool {
    let run = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

fn main() {
    let runs = env::var("ANNALS_BENCH_RUNS").map_or(30, |runs| runs.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let has_shell = ["bash", "rg", "jq"].iter().all(|program| is_here(program));
    let mut page = format!(
        "{runs} runs each, {} cores\n",
        std::thread::available_parallelism().map_or(1, usize::from)
    );
    for lines in [10_000, 100_000, 1_000_000] {
        let journal = folder.path().join(format!("{lines}.jsonl"));
        generate(&journal, lines);
        let bytes = fs::metadata(&journal).unwrap().len();
        page.extend([
            "\n",
            &lines.to_string(),
            " lines, ",
            &bytes.to_string(),
            " bytes\n\n",
        ]);
        page.push_str(&measured(search_rows(&journal, has_shell), &journal, runs));
        fs::remove_file(&journal).unwrap();
    }
    let journal = folder.path().join("written.jsonl");
    let batch = folder.path().join("batch.jsonl");
    generate(&batch, 100_000);
    let input = fs::read_to_string(&batch).unwrap();
    // A batch has no times of its own.
    let without = |line: &str| line.replacen("\"ts\":\"2026-02-17T10:11:12+00:00\",", "", 1) + "\n";
    fs::write(&batch, input.lines().map(without).collect::<String>()).unwrap();
    page.push_str("\nwriting\n\n");
    page.push_str(&measured(
        write_rows(&journal, &batch, has_shell),
        &journal,
        runs,
    ));
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

fn search_rows(journal: &Path, has_shell: bool) -> Vec<Row> {
    let file = journal.to_str().unwrap();
    let search = |name: &str, more: &[&str]| {
        Row::new(name, ANNALS, &[&["journal", "search"], more].concat())
    };
    let mut rows = vec![
        search(
            "annals, absent, all lines",
            &["xylophone", "--window-lines", "1000000"],
        ),
        search("annals, absent, growing window", &["xylophone"]),
        search("annals, common word", &["Python"]),
        search("annals, absent, jq mode", &["xylophone", "--mode", "jq"]),
        search("annals, absent, escaped", &["xylo\"phone"]),
        search("annals, absent regex", &["/xylo.*phone/", "--mode", "rg"]),
    ];
    if has_shell {
        rows.push(Row::new(
            "rg -F -c, absent",
            "rg",
            &["-F", "-c", "xylophone", file],
        ));
        rows.push(Row::new(
            "rg -F -c, common",
            "rg",
            &["-F", "-c", "Python", file],
        ));
        rows.push(Row::shell(
            "tail -n 50000 | rg -F, absent",
            r#"tail -n 50000 "$1" | rg -F "$2""#,
            &[file, "xylophone"],
        ));
        rows.push(Row::shell(
            "reference pipeline, common",
            REFERENCE,
            &[file, "Python"],
        ));
    }
    rows
}

fn write_rows(journal: &Path, batch: &Path, has_shell: bool) -> Vec<Row> {
    let write =
        |name: &str, more: &[&str]| Row::new(name, ANNALS, &[&["journal", "write"], more].concat());
    let mut batched = write("annals, batch of 100,000", &["--batch"]);
    batched.input = Some(batch.to_owned());
    let mut rows = vec![
        Row::new("true", "true", &[]),
        Row::new("annals --version", ANNALS, &["--version"]),
        write("annals, flushed", &["--content", "User prefers Python."]),
        write(
            "annals, not flushed",
            &["--content", "User prefers Python.", "--sync=false"],
        ),
        write(
            "annals, flushed, request id",
            &["--content", "User prefers Python.", "--request-id", "bench"],
        ),
        batched,
    ];
    if has_shell {
        let file = journal.to_str().unwrap();
        rows.push(Row::shell(
            "reference bash + jq",
            REFERENCE_WRITE,
            &[file, "User prefers Python."],
        ));
    }
    rows
}

fn measured(mut rows: Vec<Row>, journal: &Path, runs: usize) -> String {
    for row in &mut rows {
        row.run(journal);
        row.times.clear();
    }
    for _ in 0..runs {
        for row in &mut rows {
            row.run(journal);
        }
    }
    let mut lines = vec![
        "| process | median ms | p95 ms | peak KiB |".to_owned(),
        "|---|--:|--:|--:|".to_owned(),
    ];
    for row in &rows {
        let (median, late, peak) = (row.quantile(50), row.quantile(95), row.peak(journal));
        lines.push(format!(
            "| {} | {median:.2} | {late:.2} | {peak} |",
            row.name
        ));
    }
    lines.join("\n") + "\n"
}
