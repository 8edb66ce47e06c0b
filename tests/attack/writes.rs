//! What a repository plants where annals writes leads nowhere.

use crate::attack::{Form, HOOKS, Hostile, Planting, WRITES, Way, tool_calls};
use crate::support::{Case, on_two_threads};

/// Where people's text stands that annals writes.
const STORES: &[&str] = &[
    ".vbw-planning",
    ".vbw-planning/STATE.md",
    ".vbw-planning/ROADMAP.md",
    ".vbw-planning/PROJECT.md",
    ".vbw-planning/RESUME.md",
    ".vbw-planning/ACTIVE",
    ".vbw-planning/patterns",
    ".vbw-planning/patterns/PATTERNS.md",
    ".vbw-planning/milestones",
    ".vbw-planning/phases",
    ".vibekit",
    ".vibekit/notepad.md",
    ".vibekit/memory",
    ".vibekit/memory/first.md",
    ".vibekit/memory/INDEX.md",
    "docs/memory",
    "docs/memory/STATE.md",
    "docs/memory/CONSTRAINTS.md",
    "docs/memory/DECISIONS.md",
    "CLAUDE.md",
    ".claude",
    ".claude/settings.json",
    ".mcp.json",
    ".codex",
    ".codex/config.toml",
    ".gemini/settings.json",
    "opencode.json",
    ".opencode",
    ".gitattributes",
    "report.html",
    "exported",
    "ours.md",
];

/// Plants links in these places, some in each of several projects, and runs these ways in and every MCP tool.
fn nothing_is_written_through(places: &'static [&str], ways: &[Way]) {
    let plantings = Planting::all(places, &[Form::Relative, Form::Dangling]);
    on_two_threads(&plantings, |planting| {
        let hostile = Hostile::new();
        planting.plant(&hostile);
        for way in planting.turn(ways).chain([&tool_calls()]) {
            let ended = hostile.run(way).output();
            let changed = hostile.changed_outside();
            let report = ended.report();
            assert!(changed.is_empty(), "{planting:?}: {changed:?}\n{report}");
        }
    });
}

#[test]
fn links_in_place_of_stores_are_not_written_through() {
    let ways: Vec<Way> = [WRITES, HOOKS].into_iter().flat_map(Way::all).collect();
    nothing_is_written_through(STORES, &ways);
}

/// What annals keeps for itself in a project.
const OWN: &[&str] = &[
    ".annals",
    ".annals/locks",
    ".annals/locks/plan",
    ".annals/locks/patterns",
    ".annals/locks/context",
    ".annals/locks/entries",
    ".annals/locks/ledger",
    ".annals/history",
    ".annals/history/unverified",
    ".annals/history/1.pending",
    ".annals/history/1.record",
    ".annals/requests-plan.jsonl",
    ".annals/requests-entries.jsonl",
    ".annals/index.db",
    ".annals/index.db-wal",
    ".annals/index.db-journal",
    ".annals/index.db.new",
    ".annals/locks/index.db",
    ".annals/entries.cache",
    ".annals/lessons.json",
    ".annals/freshness.json",
    ".annals/hook.log",
    ".annals/.gitignore",
];

/// Ways that take each lock, write each cache and each kind of record, since all that is ours goes through `storage`.
const OWN_WRITERS: &[&str] = &[
    "notepad priority",
    "entry write --key second",
    "entry audit",
    "ledger",
    "plan",
    "execute",
    "sync",
    "pause",
    "ship",
    "milestone new",
    "undo",
    "hook session-start",
    "hook post-tool-use",
    "hook session-end",
];

#[test]
fn links_in_place_of_our_own_files_are_not_written_through() {
    let all: Vec<Way> = [WRITES, HOOKS].into_iter().flat_map(Way::all).collect();
    let is = |way: &Way, ours: &str| way.words.join(" ").starts_with(ours);
    for ours in OWN_WRITERS {
        assert!(all.iter().any(|way| is(way, ours)), "no way in begins with `{ours}`");
    }
    let writes_ours = |way: &Way| OWN_WRITERS.iter().any(|ours| is(way, ours));
    nothing_is_written_through(OWN, &all.into_iter().filter(writes_ours).collect::<Vec<_>>());
}

/// Returns a record as the first version wrote it: unsigned, and of an operation that was interrupted.
fn record(changes: &str, bytes: &str, count: usize) -> String {
    let stores = r#"["plan","patterns","context","entries","ledger"]"#;
    let marks = " ".repeat(count);
    format!(
        r#"{{"format":1,"operation":"sync","time":"2026-02-17T10:11:12Z","pid":7,"stores":{stores},"keep":true,"changes":[{changes}]}}"#
    ) + &format!("\n{bytes} {marks}\n")
}

#[test]
fn a_record_that_a_repository_brings_is_acted_on_by_nothing() {
    let append = record(r#"{"do":"append","path":"notes","lines":5}"#, "evil\n", 1);
    let settings = record(
        r#"{"do":"write","path":".claude/settings.local.json","old":null,"new":3}"#,
        "{}\n",
        1,
    );
    let env = record(r#"{"do":"move","from":".env","to":"docs/env.md","contents":{}}"#, "", 1);
    // In the present format, under a signature that is none of this user's.
    let sum = "5b1d3e4c4f1bb9b1a0a1f5e2f6f8a7ce1be8ff1a0a44bd8a4d2f6bb0b3b9a111";
    let signed = append
        .replace("\"format\":1", "\"format\":2")
        .replace("\"keep\"", &format!("\"sha256\":\"{sum}\",\"keep\""))
        .replacen('\n', &format!("\n{sum}\n"), 1);
    let ways: Vec<Way> = [WRITES, HOOKS].into_iter().flat_map(Way::all).collect();
    let mut all: Vec<Way> = ways;
    all.push(tool_calls());
    on_two_threads(&all, |way| {
        let hostile = Hostile::new();
        let root = hostile.case.root();
        std::os::unix::fs::symlink("../home/.bashrc", root.join("notes")).unwrap();
        hostile.case.write(".env", "KEY=1\n");
        for (id, text) in (1..).zip([&append, &settings, &env, &signed]) {
            hostile.case.write(&format!(".annals/history/{id}.pending"), text);
        }
        let ended = hostile.run(way).output();
        let report = ended.report();
        assert_eq!(hostile.changed_outside(), [""; 0], "{report}");
        assert!(root.join(".env").exists(), "{report}");
        assert!(!root.join(".claude/settings.local.json").exists());
    });
}

#[test]
fn the_stores_own_files_are_not_written_through_a_link_out_of_the_store() {
    use std::os::unix::fs::symlink;

    for (file, target) in [
        ("log.md", ".env"),
        ("log.md", "missing.env"),
        ("INDEX.md", ".env"),
        ("log.md", ".claude/settings.local.json"),
    ] {
        let case = Case::empty();
        case.write(".env", "A=b\n").write(".claude/settings.local.json", "{}\n");
        let memory = case.root().join(".vibekit/memory");
        std::fs::create_dir_all(&memory).unwrap();
        symlink(format!("../../{target}"), memory.join(file)).unwrap();
        let before = case.tree();
        let refused = case.run("remember run the tests with cargo test").code(4);
        let message = format!(
            "error: .vibekit/memory/{file}: is a symbolic link out of the store, which is not followed\n"
        );
        assert!(refused.stderr().starts_with(&message), "{}", refused.report());
        assert_eq!(case.tree(), before);
    }
}
