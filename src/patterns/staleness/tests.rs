//! Tests the statuses of paths and the survival of trees, in repositories created by a script.

use std::path::Path;

use assert_fs::prelude::*;

use super::*;
use crate::clock::parse_date;
use crate::git::Git;
use crate::git::tests::Sandbox;
use crate::patterns::Rate;

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

fn check(
    sandbox: &Sandbox,
    git: &Git,
    text: &str,
    commit: Option<&str>,
    date: Option<&str>,
) -> Freshness {
    let texts = [DatedText {
        id: "1",
        line: 1,
        texts: vec![text],
        commit,
        date: date.and_then(parse_date),
    }];
    let found = Staleness::check(&texts, sandbox.0.path(), git).unwrap();
    found.entries.into_iter().next().unwrap()
}

fn shown(freshness: &Freshness) -> String {
    let shown = freshness.paths.iter().map(|report| {
        let status = format!("{:?}", report.status).to_lowercase();
        let to: String = report.to.iter().map(|to| format!(" → {to}")).collect();
        format!("{} {status}{to}", report.path)
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns a repository in which files moved and went after the returned commit.
fn changed() -> (Sandbox, String) {
    let sandbox = Sandbox::empty();
    for path in [
        "src/main.rs",
        "src/api/mod.rs",
        "src/web/mod.rs",
        "src/login.rs",
        "src/removed.rs",
        "src/one.rs",
        "web/components/One.tsx",
        "web/components/two/Two.tsx",
        "web/Button.tsx",
        "docs/old name.md",
        "docs/guide.md",
        "src/before.rs",
        "src/staged.rs",
    ] {
        put(&sandbox, path);
    }
    sandbox.0.child(".gitignore").write_str("generated/\n*.log\n").unwrap();
    commit(&sandbox, "2026-01-05");
    sandbox.git(&["rm", "-q", "src/before.rs"]);
    let written = commit(&sandbox, "2026-01-10");
    sandbox.0.child("src/auth").create_dir_all().unwrap();
    sandbox.0.child("ui").create_dir_all().unwrap();
    sandbox.git(&["mv", "src/login.rs", "src/auth/login.rs"]);
    sandbox.git(&["mv", "src/one.rs", "src/two.rs"]);
    commit(&sandbox, "2026-02-01");
    sandbox.git(&["mv", "src/two.rs", "src/three.rs"]);
    sandbox.git(&["mv", "web/components", "ui/parts"]);
    sandbox.git(&["rm", "-q", "src/removed.rs", "docs/old name.md"]);
    commit(&sandbox, "2026-02-02");
    (sandbox, written)
}

/// A text, and what is said of its paths with git and without.
const EXPECTED: &[(&str, &str, &str)] = &[
    ("`src/main.rs:12-40`", "src/main.rs ok", "src/main.rs ok"),
    ("`src/**/*.rs`, `Button.tsx`", "Button.tsx ok", "Button.tsx ok"),
    ("`mod.rs`", "mod.rs ok", "mod.rs ok"),
    ("`/etc/hosts`, `../a/b.rs`", "", ""),
    ("`src/login.rs:7`", "src/login.rs moved → src/auth/login.rs", "src/login.rs gone"),
    ("`src/one.rs`", "src/one.rs moved → src/three.rs", "src/one.rs gone"),
    ("`web/components/`", "web/components/ gone", "web/components/ gone"),
    (
        "`components/One.tsx`",
        "components/One.tsx moved → ui/parts/One.tsx",
        "components/One.tsx gone",
    ),
    ("src/removed.rs.", "src/removed.rs gone", "src/removed.rs gone"),
    ("`removed.rs`", "removed.rs gone", "removed.rs gone"),
    ("Lock `src/before.rs` first", "src/before.rs gone", "src/before.rs gone"),
    ("`src/never.rs`", "src/never.rs gone", "src/never.rs gone"),
    // Whose removal the text reports, what is ignored or generated, and what may be no path.
    ("- Removed `src/removed.rs` and `src/never.rs`", "", ""),
    ("- Never remove `src/removed.rs`", "src/removed.rs gone", "src/removed.rs gone"),
    ("Dropped a flag. See `src/removed.rs`.", "src/removed.rs gone", "src/removed.rs gone"),
    ("`generated/a.rs`, `src/debug.log`, `dist/app.js`, `.env`", "", ""),
    ("and/or, v1.2.3, std::fs::write, Node.js, origin/main, https://a.b/src/removed.rs", "", ""),
    ("`docs/old name.md`, `src/never`, `*.never`, `src/<name>.rs`, path/to/file.rs", "", ""),
];

#[test]
fn a_path_is_as_stale_without_git_as_with_it() {
    let (sandbox, written) = changed();
    let git = sandbox.open_git();
    for (text, with, without) in EXPECTED {
        let found = check(&sandbox, &git, text, Some(&written), None);
        assert_eq!(shown(&found), *with, "{text}");
        let alone = check(&sandbox, &Git::absent(), text, Some(&written), None);
        assert_eq!(shown(&alone), *without, "{text}");
        assert_eq!(found.is_stale, alone.is_stale, "{text}");
    }
}

#[test]
fn a_text_without_a_commit_is_compared_with_the_last_commit_of_its_day() {
    let (sandbox, _) = changed();
    let git = sandbox.open_git();
    let moved = "src/login.rs moved → src/auth/login.rs, src/removed.rs gone";
    for (date, expected) in [
        (None, "src/login.rs gone, src/removed.rs gone"),
        (Some("2026-01-12"), moved),
        (Some("2025-12-24"), "src/login.rs gone, src/removed.rs gone"),
    ] {
        let found = check(&sandbox, &git, "`src/login.rs`, `src/removed.rs`", None, date);
        assert_eq!(shown(&found), expected, "{date:?}");
    }
}

#[test]
fn a_project_below_the_top_names_its_files_from_there() {
    let sandbox = Sandbox::empty();
    put(&sandbox, "app/src/old.rs");
    put(&sandbox, "app/src/kept.rs");
    let written = commit(&sandbox, "2026-01-05");
    sandbox.git(&["mv", "app/src/old.rs", "app/src/new.rs"]);
    commit(&sandbox, "2026-02-01");
    let root = sandbox.0.path().join("app");
    let text = DatedText {
        id: "1",
        line: 1,
        texts: vec!["`src/old.rs`, `src/kept.rs`"],
        commit: Some(&written),
        date: None,
    };
    let found = Staleness::check(&[text], &root, &Git::discover(&root)).unwrap();
    assert_eq!(shown(&found.entries[0]), "src/old.rs moved → src/new.rs, src/kept.rs ok");
}

#[test]
fn structure_changes_when_less_than_half_survives() {
    let sandbox = Sandbox::empty();
    for part in 0..10 {
        put(&sandbox, &format!("old/part_{part}/a.rs"));
    }
    put(&sandbox, ".github/ci.yml");
    put(&sandbox, "kept/a.rs");
    let written = commit(&sandbox, "2026-01-05");
    sandbox.git(&["rm", "-rq", "old/part_0", "old/part_1", "old/part_2", "old/part_3"]);
    commit(&sandbox, "2026-01-06");
    let git = sandbox.open_git();
    let found = check(&sandbox, &git, "no path", Some(&written), None).structure.unwrap();
    assert_eq!(found.files, Rate { count: 7, of: 11 });
    assert!(!found.has_changed);
    sandbox.git(&["rm", "-rq", "old"]);
    put(&sandbox, "new/deep/a.rs");
    commit(&sandbox, "2026-01-07");
    let found = check(&sandbox, &git, "no path", Some(&written), None);
    let structure = found.structure.unwrap();
    assert_eq!(structure.files, Rate { count: 1, of: 11 });
    let since = &written[..7];
    assert_eq!(
        found.reasons,
        [format!("structure changed since {since}, 2026-01-05: 1 of 11 files (9 %) remain")]
    );
}

#[test]
fn structure_changes_when_a_framework_comes_or_goes() {
    let sandbox = Sandbox::empty();
    put(&sandbox, "src/a.js");
    let write = |path: &str, text: &str| sandbox.0.child(path).write_str(text).unwrap();
    let first = commit(&sandbox, "2026-01-04");
    write("package.json", r#"{"dependencies": {"vue": "3", "left-pad": "1"}}"#);
    let written = commit(&sandbox, "2026-01-05");
    write("package.json", r#"{"dependencies": {"react": "19", "left-pad": "1"}}"#);
    commit(&sandbox, "2026-01-06");
    let git = sandbox.open_git();
    let found = check(&sandbox, &git, "no path", Some(&written), None).structure.unwrap();
    assert_eq!(
        (found.frameworks_added.join(" "), found.frameworks_removed.join(" ")),
        ("react".to_owned(), "vue".to_owned())
    );
    assert!(found.reason().unwrap().ends_with(": react added, vue removed"));
    // The first manifest of a project is no change of frameworks.
    let found = check(&sandbox, &git, "no path", Some(&first), None).structure.unwrap();
    assert!(!found.has_changed);
}

#[test]
fn no_bytes_make_the_check_panic() {
    let sandbox = Sandbox::empty();
    let root = Path::new("/nonexistent");
    for text in ["`a/../../b`, `[*`, `{a,b}/`", "`\u{0}/a.rs`", "`//`, `é/`"] {
        check(&sandbox, &Git::absent(), text, Some("zz"), Some("2026-13-40"));
        let text = DatedText { id: "1", line: 1, texts: vec![text], commit: None, date: None };
        Staleness::check(&[text], root, &Git::absent()).unwrap();
    }
}
