//! Times the journal as whole processes, against the shell pipeline that it replaces and `rg`.
//!
//! ```console
//! $ ANNALS_BENCH_RUNS=50 cargo bench -- journal
//! ```
//!
//! Journals of 10,000, 100,000 and 1,000,000 lines are generated; each round runs all rows, so that a
//! slowdown of the machine affects all of them. Rows of missing programs are omitted.

use std::fs;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::measure::{self, Place, Row};

/// The search pipeline from the description of the tool, for one window.
const REFERENCE: &str = r#"command -v rg jq >/dev/null || exit 2; tail -n 50000 "$1" | { rg -F -e "$2" || true; } | jq -cR 'fromjson? | select(type == "object")' | tac | head -n 20"#;

/// A write as in the description of the tool.
const REFERENCE_WRITE: &str = r#"jq -cn --arg ts "$(date -u '+%Y-%m-%dT%H:%M:%SZ')" --arg type note --arg content "$2" --argjson tags null --argjson meta null '{ts:$ts,type:$type,content:$content,tags:$tags,meta:$meta}' >> "$1""#;

/// Writes a journal of this many lines, about 340 bytes each.
fn generate(path: &Path, lines: usize) {
    let words = ["pantry", "shelf", "Python", "migration", "deadline", "parser", "column", "retry"];
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

pub(crate) fn run() {
    let runs = measure::setting("ANNALS_BENCH_RUNS", 30);
    let folder = tempfile::tempdir().unwrap();
    let place = |journal: &Path| {
        let place = Place::new(folder.path(), folder.path());
        place.with("MEMORY_FILE", journal.to_str().unwrap())
    };
    for lines in [10_000, 100_000, 1_000_000] {
        let journal = folder.path().join(format!("{lines}.jsonl"));
        generate(&journal, lines);
        let bytes = fs::metadata(&journal).unwrap().len();
        let peers = ["rg -F -c, absent", "tail", "reference"];
        let page = measure::page(&place(&journal), search_rows(&journal), runs, &peers);
        let page = format!("\n{lines} lines, {bytes} bytes; {page}");
        std::io::stdout().write_all(page.as_bytes()).unwrap();
        fs::remove_file(&journal).unwrap();
    }
    let journal = folder.path().join("written.jsonl");
    let batch = folder.path().join("batch.jsonl");
    generate(&batch, 100_000);
    // Records of a batch have no timestamps.
    let input = fs::read_to_string(&batch).unwrap();
    let without = |line: &str| line.replacen("\"ts\":\"2026-02-17T10:11:12+00:00\",", "", 1) + "\n";
    fs::write(&batch, input.lines().map(without).collect::<String>()).unwrap();
    let peers = ["true", "reference"];
    let page = measure::page(&place(&journal), write_rows(&journal, &batch), runs, &peers);
    let page = format!("\nwriting; {page}");
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

fn search_rows(journal: &Path) -> Vec<Row> {
    let file = journal.to_str().unwrap();
    let search = |name: &str, more: &[&str]| {
        let arguments = [&["journal", "search"], more].concat();
        Row::new(name, measure::program(), &arguments)
    };
    let rg = |name: &str, word: &str| Row::new(name, "rg", &["-F", "-c", word, file]);
    vec![
        search("annals, absent, all lines", &["xylophone", "--window-lines", "1000000"]),
        search("annals, absent, growing window", &["xylophone"]),
        search("annals, common word", &["Python"]),
        search("annals, absent, jq mode", &["xylophone", "--mode", "jq"]),
        search("annals, absent, escaped", &["xylo\"phone"]),
        search("annals, absent regex", &["/xylo.*phone/", "--mode", "rg"]),
        rg("rg -F -c, absent", "xylophone").finding_nothing(),
        rg("rg -F -c, common", "Python"),
        Row::shell(
            "tail -n 50000 into rg -F, absent",
            r#"tail -n 50000 "$1" | rg -F "$2""#,
            &[file, "xylophone"],
        )
        .finding_nothing(),
        Row::shell("reference pipeline, common", REFERENCE, &[file, "Python"]),
    ]
}

fn write_rows(journal: &Path, batch: &Path) -> Vec<Row> {
    let content = "User prefers Python.";
    let write = |name: &str, more: &[&str]| {
        let arguments = [&["journal", "write"], more].concat();
        Row::new(name, measure::program(), &arguments)
    };
    let file = journal.to_str().unwrap();
    vec![
        Row::new("true", "true", &[]),
        Row::annals("--version"),
        write("annals, flushed", &["--content", content]),
        write("annals, flushed, request id", &["--content", content, "--request-id", "bench"]),
        write("annals, batch of 100,000", &["--batch"]).reading(batch),
        Row::shell("reference bash + jq", REFERENCE_WRITE, &[file, content]),
    ]
}
