//! Times whole processes on files of the maximum size, 8 MiB, each with the worst case for its reader.
//!
//! ```console
//! $ ANNALS_BENCH_RUNS=5 cargo bench -- limits
//! ```
//!
//! The goal is an answer within one second and 200 MiB.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::measure::{self, Place, Row};

/// Maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;

/// A file of the maximum size: its beginning, its numbered repeated part, and the commands that read it.
struct Limit {
    file: &'static str,
    head: &'static str,
    repeated: fn(&mut String, usize),
    what: &'static str,
    commands: &'static [&'static str],
    /// Whether the commands exit with 1 because of findings.
    complains: bool,
}

const LIMITS: &[Limit] = &[
    Limit {
        file: ".planning/ROADMAP.md",
        head: "# Roadmap\n\n| Phase | Plans | Status | Completed |\n|---|---|---|---|\n",
        repeated: |text, n| writeln!(text, "| {n}. Name | 0/1 | Not started | - |").unwrap(),
        what: "rows of a roadmap",
        commands: &["-q status"],
        complains: false,
    },
    Limit {
        file: ".planning/ROADMAP.md",
        head: "# Roadmap\n\n",
        repeated: |text, n| writeln!(text, "### Phase {n}: Name").unwrap(),
        what: "phases of a roadmap",
        commands: &["-q status"],
        complains: false,
    },
    Limit {
        file: ".planning/STATE.md",
        head: "# State\n\n",
        repeated: |text, n| writeln!(text, "## Heading {n}").unwrap(),
        what: "headings of STATE.md",
        commands: &["-q status", "hook session-start", "-q recall heading"],
        complains: false,
    },
    Limit {
        file: ".planning/STATE.md",
        head: "# State\n\n## Decisions\n\n",
        repeated: |text, n| writeln!(text, "- Decision {n} holds").unwrap(),
        what: "decisions of STATE.md",
        commands: &["-q context"],
        complains: false,
    },
    Limit {
        file: ".planning/PROJECT.md",
        head: "# Project\n\n## Constraints\n\n",
        repeated: |text, n| writeln!(text, "- Constraint {n}").unwrap(),
        what: "items of PROJECT.md",
        commands: &["-q context"],
        complains: false,
    },
    Limit {
        file: ".planning/patterns/PATTERNS.md",
        head: "# Patterns\n\n",
        repeated: entry,
        what: "entries of PATTERNS.md",
        commands: &["-q patterns list", "-q patterns relevant", "-q patterns check"],
        complains: false,
    },
    Limit {
        file: ".planning/patterns/PATTERNS.md",
        head: "# Patterns\n\n### Phase 1: Name (2026-01-02)\n\n**What worked:**\n",
        repeated: |text, n| writeln!(text, "- Lesson {n} on `src/x{n}.rs`").unwrap(),
        what: "bullets of one entry",
        commands: &["-q patterns check", "-q sync --dry-run"],
        complains: false,
    },
    Limit {
        file: ".planning/phases/01-a/01-01-SUMMARY.md",
        head: "---\nphase: 01\n---\n\n## Deviations\n\n",
        repeated: |text, n| {
            writeln!(text, "{n}. [Rule 1 - Bug] Fixed {n}\n   - Files: src/a{n}.rs").unwrap();
        },
        what: "deviations of a summary",
        commands: &["-q patterns insights"],
        complains: false,
    },
    Limit {
        file: ".planning/phases/01-a/01-02-PLAN.md",
        head: "---\nphase: 01\nplan: 02\n---\n\n",
        repeated: |text, n| {
            writeln!(
                text,
                "<task type=\"auto\"><name>T{n}</name><files>src/a{n}.rs</files></task>"
            )
            .unwrap();
        },
        what: "tasks of a plan",
        commands: &["-q plan 1 --dry-run"],
        complains: false,
    },
    Limit {
        file: ".vibekit/notepad.md",
        head: "## Working Memory\n\n",
        repeated: |text, n| writeln!(text, "- [2026-01-02] note {n}").unwrap(),
        what: "lines of the notepad",
        commands: &["-q notepad read"],
        complains: false,
    },
    Limit {
        file: ".vibekit/memory/large.md",
        head: "---\nkey: large\ntype: gotcha\nstatus: active\nconfidence: low\n---\n\n# Large\n\n",
        repeated: |text, n| writeln!(text, "- line {n} of it").unwrap(),
        what: "lines of an entry",
        commands: &["-q entry query --text large"],
        complains: false,
    },
    Limit {
        file: "docs/memory/DECISIONS.md",
        head: "# Decisions\n\n",
        repeated: |text, n| writeln!(text, "### ADR-{n}: Title\n\n**Status:** Active\n").unwrap(),
        what: "entries of DECISIONS.md",
        commands: &["-q ledger check"],
        complains: true,
    },
    Limit {
        file: "docs/memory/CONSTRAINTS.md",
        head: "# Constraints\n\n## Rules\n\n",
        repeated: |text, n| writeln!(text, "- Rule {n} holds").unwrap(),
        what: "rules of CONSTRAINTS.md",
        commands: &["-q ledger check"],
        complains: true,
    },
    Limit {
        file: "CLAUDE.md",
        head: "# Notes\n\n",
        repeated: |text, _| text.push_str("<!-- annals:begin -->\n"),
        what: "markers of CLAUDE.md",
        commands: &["-q sync --dry-run"],
        complains: false,
    },
];

fn entry(text: &mut String, n: usize) {
    let lesson = "\n\n**What worked:**\n- Lesson on";
    writeln!(text, "### Phase {n}: Name (2026-01-02){lesson} `src/x{n}.rs` (plan 01)\n").unwrap();
}

pub(crate) fn run() {
    let runs = measure::setting("ANNALS_BENCH_RUNS", 5);
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    for (file, text) in [
        (".planning/PROJECT.md", "# Project\n"),
        (".planning/STATE.md", "# State\n\nPhase: 1 of 1\n"),
        (".planning/ROADMAP.md", "# Roadmap\n\n### Phase 1: A\n"),
        (".planning/phases/01-a/01-01-PLAN.md", "---\nplan: 01\n---\n"),
        ("docs/memory/STATE.md", "# State\n"),
        ("docs/memory/CONSTRAINTS.md", "# Constraints\n"),
        ("docs/memory/DECISIONS.md", "# Decisions\n"),
    ] {
        write(&root, file, text);
    }
    let place = Place::new(&root, &root);
    let rows: Vec<Row> = LIMITS.iter().flat_map(Limit::rows).collect();
    let page = measure::page(&place, rows, runs, &[]);
    let page = format!("files of {MAX_FILE_BYTES} bytes; {page}");
    std::io::stdout().write_all(page.as_bytes()).unwrap();
}

impl Limit {
    fn rows(&'static self) -> impl Iterator<Item = Row> {
        self.commands.iter().map(|command| {
            let name = format!("{}: annals {command}", self.what);
            let row = Row::annals(command).named(&name);
            let row = if self.complains { row.finding_nothing() } else { row };
            row.after(|root| self.plant(root))
        })
    }

    /// Writes the file, and empties the large files of other rows.
    fn plant(&self, root: &Path) {
        for other in LIMITS.iter().filter(|other| other.file != self.file) {
            let path = root.join(other.file);
            if fs::metadata(&path).is_ok_and(|found| found.len() > 1 << 20) {
                write(root, other.file, "");
            }
        }
        let mut text = self.head.to_owned();
        for number in 1.. {
            let length = text.len();
            (self.repeated)(&mut text, number);
            if text.len() > MAX_FILE_BYTES {
                text.truncate(length);
                break;
            }
        }
        write(root, self.file, &text);
    }
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
