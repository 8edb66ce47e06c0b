//! Tests the statuses of paths, in repositories created by a script.

use std::collections::BTreeMap;
use std::path::Path;

use assert_fs::prelude::*;

use super::*;
use crate::clock::parse_date;
use crate::git::Git;
use crate::git::tests::Sandbox;
use crate::patterns::staleness::structure::CurrentTree;
use crate::patterns::staleness::tree_history::TreeHistory;

mod survival;

/// Writes a file with unique content, so that git does not detect unrelated files as renames.
fn put(sandbox: &Sandbox, path: &str) {
    let text = format!("{path}\n").repeat(20);
    sandbox.0.child(path).write_str(&text).unwrap();
}

fn commit(sandbox: &Sandbox, day: &str) -> String {
    sandbox.git(&["add", "-A"]);
    sandbox.commit_at(&format!("{day}T12:00:00Z"));
    sandbox.git(&["rev-parse", "HEAD"])
}

/// A repository in which everything that can happen to a path happens after the second commit.
struct History {
    sandbox: Sandbox,
    written: String,
}

impl History {
    fn new() -> Self {
        let sandbox = Sandbox::empty();
        for path in STAYING.iter().chain(LEAVING).chain(["src/before.rs"].iter()) {
            put(&sandbox, path);
        }
        for part in 0..24 {
            put(&sandbox, &format!("lib/part_{part}.rs"));
        }
        let inner = Sandbox::empty();
        put(&inner, "lib.c");
        commit(&inner, "2026-01-02");
        let url = format!("file://{}", inner.0.path().display());
        let allow = "protocol.file.allow=always";
        sandbox.git(&["-c", allow, "submodule", "--quiet", "add", &url, "vendor/inner"]);
        commit(&sandbox, "2026-01-05");
        sandbox.git(&["rm", "-q", "src/before.rs"]);
        let written = commit(&sandbox, "2026-01-10");
        let this = Self { sandbox, written };
        this.change();
        this
    }

    fn change(&self) {
        let git = |arguments: &[&str]| self.sandbox.git(arguments);
        let mv = |from: &str, to: &str| {
            let folder = Path::new(to).parent().unwrap();
            self.sandbox.0.child(folder).create_dir_all().unwrap();
            git(&["mv", from, to]);
        };
        mv("src/login.rs", "src/auth/login.rs");
        mv("src/one.rs", "src/two.rs");
        commit(&self.sandbox, "2026-02-01");
        // Renamed and changed, and renamed again.
        mv("src/two.rs", "src/three.rs");
        let text = "src/one.rs\n".repeat(19) + "changed\n";
        self.sandbox.0.child("src/three.rs").write_str(&text).unwrap();
        git(&["rm", "-q", "src/removed.rs", "src/back.rs", "docs/old name.md"]);
        git(&["rm", "-rq", "legacy"]);
        commit(&self.sandbox, "2026-02-02");
        mv("web/components", "ui/parts");
        git(&["rm", "-q", "snapshots/a.snap", "snapshots/b.snap"]);
        mv("fixtures/x.yaml", "data/x.yaml");
        mv("fixtures/y.yaml", "data/y.yaml");
        mv("notes/x.adoc", "x.adoc");
        mv("notes/y.adoc", "y.adoc");
        put(&self.sandbox, "src/back.rs");
        mv("src/lost.rs", "src/moved_first.rs");
        commit(&self.sandbox, "2026-02-03");
        git(&["rm", "-q", "src/back.rs", "src/moved_first.rs", "tools/unique_tool.py"]);
        mv("app/[id]/page.tsx", "app/[slug]/page.tsx");
        commit(&self.sandbox, "2026-02-04");
        self.merge_a_branch();
        put(&self.sandbox, "src/untracked.rs");
    }

    /// Removes a file on a branch and merges it, as most projects do.
    fn merge_a_branch(&self) {
        let git = |arguments: &[&str]| self.sandbox.git(arguments);
        git(&["checkout", "-q", "-b", "side"]);
        git(&["rm", "-q", "src/on_branch.rs"]);
        git(&["mv", "src/branch_move.rs", "src/branch_moved.rs"]);
        commit(&self.sandbox, "2026-02-05");
        git(&["checkout", "-q", "main"]);
        put(&self.sandbox, "src/meanwhile.rs");
        commit(&self.sandbox, "2026-02-06");
        let merged = "2026-02-07T12:00:00Z";
        self.sandbox.merge_at("side", merged);
    }

    fn check(&self, text: &str) -> Freshness {
        self.check_at(text, Some(&self.written), None)
    }

    fn check_at(&self, text: &str, commit: Option<&str>, date: Option<&str>) -> Freshness {
        let texts = [DatedText { id: "1", line: 1, text, commit, date: date.and_then(parse_date) }];
        let git = self.sandbox.open_git();
        let found = Staleness::check(&texts, self.sandbox.0.path(), &git).unwrap();
        assert_eq!(found.skipped, None);
        found.entries.into_iter().next().unwrap()
    }
}

const STAYING: &[&str] = &[
    "Cargo.toml",
    "README.md",
    "Makefile",
    ".github/workflows/ci.yml",
    "src/main.rs",
    "src/api/mod.rs",
    "src/web/mod.rs",
    "src/kept/deep/unique.rs",
    "src/größe.rs",
    "app/(shop)/cart/page.tsx",
    "docs/My notes.md",
    "docs/guide.md",
    "tests/fixtures/a.json",
    "web/Button.tsx",
];

const LEAVING: &[&str] = &[
    "src/login.rs",
    "src/one.rs",
    "src/removed.rs",
    "src/back.rs",
    "src/lost.rs",
    "src/on_branch.rs",
    "src/branch_move.rs",
    "docs/old name.md",
    "legacy/a.rs",
    "legacy/deep/b.rs",
    "web/components/One.tsx",
    "web/components/two/Two.tsx",
    "snapshots/a.snap",
    "snapshots/b.snap",
    "fixtures/x.yaml",
    "fixtures/y.yaml",
    "notes/x.adoc",
    "notes/y.adoc",
    "tools/unique_tool.py",
    "app/[id]/page.tsx",
];

/// The expected status of each path, as `status`, `status → new` or `status since day`.
const EXPECTED: &[(&str, &str)] = &[
    // Existing paths, in various spellings.
    ("`src/main.rs`", "src/main.rs ok"),
    ("`src/main.rs:12-40`", "src/main.rs ok"),
    ("`./src/main.rs`", "src/main.rs ok"),
    ("src/main.rs, which", "src/main.rs ok"),
    ("`src/größe.rs`", "src/größe.rs ok"),
    ("`src/kept/`", "src/kept/ ok"),
    ("`src/api`", "src/api ok"),
    ("`src/**/*.rs`", "src/**/*.rs ok"),
    ("`unique.rs`", "unique.rs ok"),
    ("`deep/unique.rs`", "deep/unique.rs ok"),
    ("`Makefile`", "Makefile ok"),
    ("`.github/workflows/ci.yml`", ".github/workflows/ci.yml ok"),
    ("`app/(shop)/cart/page.tsx`", "app/(shop)/cart/page.tsx ok"),
    ("`docs/My notes.md`", "docs/My notes.md ok"),
    ("[guide](docs/guide.md#setup)", "docs/guide.md ok"),
    ("`src/untracked.rs`", "src/untracked.rs ok"),
    ("`Cargo.toml`", "Cargo.toml ok"),
    ("`mod.rs`", "mod.rs ambiguous"),
    // Moved.
    ("`src/login.rs`", "src/login.rs moved → src/auth/login.rs 2026-02-01"),
    ("`src/login.rs:7`", "src/login.rs moved → src/auth/login.rs 2026-02-01"),
    ("src/one.rs.", "src/one.rs moved → src/three.rs 2026-02-02"),
    ("`web/components/`", "web/components/ moved → ui/parts 2026-02-03"),
    ("`web/components`", "web/components moved → ui/parts 2026-02-03"),
    (
        "`web/components/two/Two.tsx`",
        "web/components/two/Two.tsx moved → ui/parts/two/Two.tsx 2026-02-03",
    ),
    ("`components/One.tsx`", "components/One.tsx moved → ui/parts/One.tsx 2026-02-03"),
    ("`fixtures/x.yaml`", "fixtures/x.yaml moved → data/x.yaml 2026-02-03"),
    ("`fixtures/*.yaml`", "fixtures/*.yaml moved → data/*.yaml 2026-02-03"),
    ("`notes/*.adoc`", "notes/*.adoc moved → *.adoc 2026-02-03"),
    ("`app/[id]/page.tsx`", "app/[id]/page.tsx moved → app/[slug]/page.tsx 2026-02-04"),
    ("`src/branch_move.rs`", "src/branch_move.rs moved → src/branch_moved.rs 2026-02-07"),
    // Gone.
    ("`src/removed.rs`", "src/removed.rs gone 2026-02-02"),
    ("src/removed.rs", "src/removed.rs gone 2026-02-02"),
    ("`removed.rs`", "removed.rs gone 2026-02-02"),
    ("removed.rs", "removed.rs gone 2026-02-02"),
    ("`src/back.rs`", "src/back.rs gone 2026-02-04"),
    ("`src/lost.rs`", "src/lost.rs gone 2026-02-04"),
    ("`src/on_branch.rs`", "src/on_branch.rs gone 2026-02-07"),
    ("`docs/old name.md`", "docs/old name.md gone 2026-02-02"),
    ("`legacy/`", "legacy/ gone 2026-02-02"),
    ("`legacy/deep`", "legacy/deep gone 2026-02-02"),
    ("legacy/**/*.rs", "legacy/**/*.rs gone 2026-02-02"),
    ("`snapshots/*.snap`", "snapshots/*.snap gone 2026-02-03"),
    ("`unique_tool.py`", "unique_tool.py gone 2026-02-04"),
    // Outside of the project or repository.
    ("`vendor/inner/lib.c`", "vendor/inner/lib.c ok"),
    ("`vendor/inner/absent.c`", "vendor/inner/absent.c outside"),
    ("`/etc/hosts`", "/etc/hosts outside"),
    ("`~/.cargo/config.toml`", "~/.cargo/config.toml outside"),
    ("`../other/src/main.rs`", "../other/src/main.rs outside"),
    // Not paths, or never paths of this project.
    ("https://example.com/src/removed.rs", ""),
    ("and/or, 3/3, I/O, v1.2.3, 2026/02/11, n/a, TCP/IP", ""),
    ("std::fs::write, os.path.join, @scope/name, `@types/node`", ""),
    ("`cargo test src/removed.rs`, Node.js, `response.json`", ""),
    ("`src/never.rs`, src/never/", ""),
    ("`never.rs`, `*.never`", ""),
    ("`dist/app.js`, `.env`, `node_modules/x/index.js`", ""),
    ("`src/<name>.rs`, `src/.../removed.rs`, path/to/file.rs", ""),
    ("feature/login-form, origin/main, application/json", ""),
    // Removed by the text's own commit, as the text reports.
    ("removed `src/before.rs` for good", ""),
];

fn shown(report: &PathReport) -> String {
    let status = format!("{:?}", report.status).to_lowercase();
    let to = report.to.iter().map(|to| format!(" → {to}"));
    let date = report.since.iter().filter_map(|since| since.date);
    let date = date.map(|date| format!(" {date}"));
    let more: String = to.chain(date).collect();
    format!("{} {status}{more}", report.path)
}

#[test]
fn every_path_gets_its_status_and_nothing_else_is_a_path() {
    let history = History::new();
    for (text, expected) in EXPECTED {
        let found: Vec<String> = history.check(text).paths.iter().map(shown).collect();
        assert_eq!(found.join(", "), *expected, "{text}");
    }
}

/// Required: precision 100 %, recall at least 95 %, even with less information about the date.
#[test]
fn precision_is_whole_and_recall_high_however_the_text_is_dated() {
    let history = History::new();
    let stale = |text: &str| text.contains(" moved ") || text.contains(" gone");
    let dated = [
        (Some(history.written.clone()), None),
        (Some(history.written[..9].to_owned()), None),
        (None, Some("2026-01-11")),
        (None, Some("2026-01-20")),
        (Some("0123456789abcdef0123456789abcdef01234567".to_owned()), Some("2026-01-12")),
    ];
    for (commit, date) in dated {
        let (mut right, mut wrong, mut missed) = (0, 0, 0);
        for (text, expected) in EXPECTED {
            let found = history.check_at(text, commit.as_deref(), date);
            let found: Vec<String> = found.paths.iter().map(shown).collect();
            for path in found.iter().filter(|path| stale(path)) {
                if path == expected {
                    right += 1;
                } else {
                    wrong += 1;
                }
            }
            missed += usize::from(stale(expected) && !found.iter().any(|path| path == expected));
        }
        assert_eq!(wrong, 0, "{commit:?} {date:?}");
        assert!(missed * 20 <= right + missed, "{missed} of {right}");
    }
}

/// Undated, or written before the first commit: the whole history is searched. A day is too coarse to tell
/// whether a text was written before or after a removal on that day; in either case the path is gone.
#[test]
fn without_a_date_all_of_the_past_counts() {
    let history = History::new();
    for date in [None, Some("2025-12-24"), Some("2026-01-10")] {
        for (text, expected) in EXPECTED {
            let expected = match *text {
                "removed `src/before.rs` for good" => "src/before.rs gone 2026-01-10",
                _ => expected,
            };
            let found = history.check_at(text, None, date);
            let found: Vec<String> = found.paths.iter().map(shown).collect();
            assert_eq!(found.join(", "), expected, "{text}");
        }
    }
}

#[test]
fn a_path_that_its_own_commit_removed_is_gone_unless_the_text_says_so() {
    let history = History::new();
    let gone = "src/before.rs gone 2026-01-10";
    for (text, expected) in [
        ("Lock `src/before.rs` first", gone),
        ("Lock before.rs first", "before.rs gone 2026-01-10"),
        ("- Removed the cache\n- Lock `src/before.rs` first", gone),
        ("- Dropped `src/before.rs`", ""),
        ("`before.rs` is gone", ""),
        ("`src/never.rs`, and/or", ""),
    ] {
        let found: Vec<String> = history.check(text).paths.iter().map(shown).collect();
        assert_eq!(found.join(", "), expected, "{text}");
    }
}

#[test]
fn reasons_name_the_commit_and_stale_is_what_moved_or_went() {
    let history = History::new();
    let found = history.check("`src/login.rs`, `src/removed.rs`, `mod.rs`, `/etc/hosts`");
    assert!(found.is_stale);
    let log = history.sandbox.git(&["log", "--format=%h %s", "--abbrev=7", "--reverse"]);
    let hashes: Vec<&str> = log.lines().map(|line| &line[..7]).collect();
    assert_eq!(
        found.reasons,
        [
            format!("`src/login.rs` moved to `src/auth/login.rs` since {}, 2026-02-01", hashes[2]),
            format!("`src/removed.rs` is gone since {}, 2026-02-02", hashes[3]),
        ]
    );
    let fresh = history.check("`src/main.rs`, `mod.rs`, `/etc/hosts`, and/or");
    assert!(!fresh.is_stale && fresh.reasons.is_empty());
    assert!(!history.check("no path at all").is_stale);
    let root = history.sandbox.0.path().display();
    let absolute = history.check(&format!("`{root}/src/main.rs`, `{root}/src/removed.rs:3`"));
    let shown: Vec<String> = absolute.paths.iter().map(shown).collect();
    assert_eq!(shown, ["src/main.rs ok", "src/removed.rs gone 2026-02-02"]);
}

#[test]
fn what_is_removed_but_not_committed_is_gone_without_a_commit() {
    let history = History::new();
    history.sandbox.git(&["rm", "-q", "src/main.rs"]);
    let readme = history.sandbox.0.path().join("README.md");
    assert_cmd::Command::new("rm").arg(readme).assert().success();
    let found = history.check("`src/main.rs`, `README.md`, `Makefile`");
    let shown: Vec<String> = found.paths.iter().map(shown).collect();
    assert_eq!(shown, ["src/main.rs gone", "README.md gone", "Makefile ok"]);
}

#[test]
fn a_project_below_the_top_names_its_files_from_there() {
    let sandbox = Sandbox::empty();
    for path in ["app/src/a.rs", "app/src/b.rs", "shared/c.rs", "app/src/d.rs"] {
        put(&sandbox, path);
    }
    let written = commit(&sandbox, "2026-01-05");
    sandbox.git(&["mv", "app/src/a.rs", "app/src/z.rs"]);
    sandbox.git(&["mv", "app/src/d.rs", "shared/d.rs"]);
    commit(&sandbox, "2026-01-06");
    let root = sandbox.0.path().join("app");
    let text = DatedText {
        id: "1",
        line: 1,
        text: "`src/a.rs`, `src/b.rs`, `app/src/b.rs`, `../shared/c.rs`, `shared/c.rs`, `src/d.rs`",
        commit: Some(&written),
        date: None,
    };
    let found = Staleness::check(&[text], &root, &Git::discover(&root)).unwrap();
    let shown: Vec<String> = found.entries[0].paths.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "src/a.rs moved → src/z.rs 2026-01-06",
            "src/b.rs ok",
            "app/src/b.rs ok",
            "../shared/c.rs outside",
            "shared/c.rs ok",
            "src/d.rs moved → shared/d.rs 2026-01-06",
        ]
    );
}

fn text(text: &str) -> DatedText<'_> {
    DatedText { id: "1", line: 1, text, commit: None, date: None }
}

/// Returns statuses by path.
fn by_path(found: &Staleness) -> BTreeMap<&str, PathStatus> {
    let paths = found.entries.iter().flat_map(|entry| &entry.paths);
    paths.map(|report| (report.path.as_str(), report.status)).collect()
}

#[test]
fn without_git_the_disk_alone_tells() {
    let folder = assert_fs::TempDir::new().unwrap();
    folder.child("src/deep/here.rs").touch().unwrap();
    folder.child("src/Other.ts").touch().unwrap();
    let texts = [text(
        "`src/deep/here.rs`, `here.rs`, `src/gone.rs`, `gone.rs`, `elsewhere/x.rs`, `src/other.js`, \
         `dist/x.js`, and/or, src/deep",
    )];
    let git = Git::discover(folder.path());
    let found = Staleness::check(&texts, folder.path(), &git).unwrap();
    let expected = BTreeMap::from([
        ("src/deep/here.rs", PathStatus::Ok),
        ("here.rs", PathStatus::Ok),
        ("src/gone.rs", PathStatus::Gone),
        ("gone.rs", PathStatus::Gone),
        ("src/deep", PathStatus::Ok),
    ]);
    assert_eq!(by_path(&found), expected);
    assert_eq!(found.entries[0].structure, None);
    assert!(found.skipped.as_deref().unwrap().starts_with("no git history"));
    assert_eq!(found.entries[0].reasons[0], "`src/gone.rs` is gone");
}
