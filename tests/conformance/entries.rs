//! Entries: layout, format, types, links, operations, audit, rules, anti-patterns, outputs.

use serde_json::json;

use super::*;
use crate::cli::{assert_error, assert_unchanged};

const FRESH: &str = "---\nkey: test-runner\ntype: convention\ntags: [testing, tools]\ncreated: 2026-03-01\n\
    updated: 2026-03-01\nstatus: active\nconfidence: high\n---\n\n# Test runner\n\nIt is vitest.\n";

fn two() -> Case {
    let case = Case::empty();
    put(&case, "use-jest", &[], "# Use jest\n\nJest runs the tests.\n");
    put(&case, "use-vitest", &[], "# Use vitest\n\nVitest runs the tests.\n");
    case
}

fn audit(case: &Case) -> serde_json::Value {
    case.run("entry audit --json").success().json()
}

// File layout

#[test]
fn layout_one_file_a_key_beside_index_and_log() {
    let case = Case::empty();
    write(&case, "test-runner", "It is vitest.\n", "--tags testing,tools");
    let files: Vec<String> = case.tree().into_keys().collect();
    assert_eq!(
        files,
        [
            ".vibekit/",
            ".vibekit/memory/",
            ".vibekit/memory/INDEX.md",
            ".vibekit/memory/log.md",
            ".vibekit/memory/test-runner.md"
        ]
    );
    assert_eq!(memory(&case, "test-runner.md"), FRESH);
}

#[test]
fn layout_keys_are_kebab_case_of_sixty_characters() {
    let case = Case::empty();
    let before = case.tree();
    let long = "a".repeat(61);
    for key in [
        "Test", "a.b", "a/b", "../a", "a_b", "a--b", "-a", "a-", "\u{430}uth", "ａ", "log",
        "index", &long,
    ] {
        let refused = case
            .run("entry write --type gotcha --confidence low")
            .args([format!("--key={key}"), "--body-stdin".to_owned()])
            .stdin("Text.\n")
            .code(4);
        assert!(refused.stderr().contains("is not a key"), "{}", refused.report());
        assert_unchanged(&before, &case, &refused);
    }
    prints(&write(&case, &long[1..], "Text.\n", ""), &format!("Stored: {}.\n", &long[1..]));
}

// Entry format

#[test]
fn format_a_body_with_its_own_title_is_stored_verbatim() {
    let case = Case::empty();
    let body = "\n\n# Auth\r\n\n## Flow\n\tA \u{1F680} `x`  \n## See also\n- [[a]] — why";
    prints(&write(&case, "auth", body, ""), "Stored: auth.\n");
    assert!(memory(&case, "auth.md").ends_with(&format!("---\n\n{body}")));
}

#[test]
fn format_a_body_without_a_title_gets_one() {
    let case = Case::empty();
    let named = case
        .run("entry write --key a --type gotcha --confidence low --body-stdin")
        .args(["--title", "The cache"])
        .stdin("It lies.\n");
    prints(&named.success(), "Stored: a.\n");
    assert!(memory(&case, "a.md").ends_with("---\n\n# The cache\n\nIt lies.\n"));
    write(&case, "merge-freeze-2026-q2", "On Friday.\n", "");
    let text = memory(&case, "merge-freeze-2026-q2.md");
    assert!(text.ends_with("\n# Merge freeze 2026 q2\n\nOn Friday.\n"), "{text}");
}

#[test]
fn a_new_entry_without_body_and_title_is_refused() {
    let case = two();
    let before = case.tree();
    let line = "entry write --key deploy --type convention --confidence high";
    let refused = case.run(line).stdin("# Deploy\n\nOnly on Tuesdays.\n").code(2);
    assert_error(
        &refused,
        "the new entry `deploy` has no body",
        "pass `body`, on the command line --body @FILE or --body-stdin",
    );
    assert_unchanged(&before, &case, &refused);
    case.run(&format!("{line} --title Tuesdays")).code(2);
}

#[test]
fn format_an_unknown_field_keeps_its_position() {
    let case = Case::empty();
    let old = "---\r\nowner: ada # keep\r\nkey:   a\r\ntype: convention\r\ntags:\r\n  - x\r\n\
        created: 2026-01-10\r\nupdated: 2026-01-11\r\nstatus: active\r\nconfidence: high\r\n---\r\n\r\n# A\r\n\r\nOld.\r\n";
    case.write(&format!("{MEMORY}/a.md"), old);
    case.run("entry write --key a --type convention --confidence high").success();
    assert_eq!(memory(&case, "a.md"), old.replace("2026-01-11", "2026-03-01"));
    prints(&write(&case, "a", "# A\r\n\r\nNew.\r\n", ""), "Updated a (+1/-1 lines).\n");
    let new = old.replace("2026-01-11", "2026-03-01").replace("Old.", "New.");
    assert_eq!(memory(&case, "a.md"), new);
}

// Type vocabulary

#[test]
fn every_line_that_annals_adds_ends_as_those_of_its_file() {
    let case = Case::empty();
    let front = "---\r\nkey: a\r\ntype: convention\r\n---\r\n\r\n";
    case.write(&format!("{MEMORY}/a.md"), format!("{front}# A\r\n\r\nOld.\r\n"));
    case.write(&format!("{MEMORY}/log.md"), "- 2026-02-01T12:00:00Z write a (convention, low)\r\n");
    write(&case, "a", "New.\r\n", "");
    assert!(memory(&case, "a.md").ends_with("\r\n---\r\n\r\n# A\r\n\r\nNew.\r\n"));
    case.run("remember --key a the gate is red").success();
    let end = "\r\n---\r\n\r\n# The gate is red\r\n\r\nthe gate is red\r\n";
    assert!(memory(&case, "a.md").ends_with(end));
    for name in ["a.md", "log.md"] {
        let text = memory(&case, name);
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    }
}

#[test]
fn types_are_a_closed_set() {
    let case = Case::empty();
    for kind in [
        "convention", "decision", "preference", "gotcha", "contact", "deadline", "architecture",
        "pattern", "debugging", "environment", "session-log", "reference",
    ] {
        case.run(&format!(
            "entry write --key a-{kind} --type {kind} --confidence low --body-stdin"
        ))
        .stdin(format!("About {kind}.\n"))
        .success();
    }
    let before = case.tree();
    let wrong = case.run("entry write --key b --type fact --confidence low --body-stdin").code(2);
    assert!(wrong.stderr().contains("session-log"), "{}", wrong.report());
    case.run("entry write --key b --type gotcha --confidence sure").code(2);
    assert_unchanged(&before, &case, &wrong);
}

// Cross-references

#[test]
fn links_are_never_made_true_by_creating_their_target() {
    let case = Case::empty();
    write(&case, "a", "See [[b]].\n", "");
    audit(&case);
    assert_eq!(case.read(&format!("{MEMORY}/b.md")), None);
}

// read

#[test]
fn read_returns_the_entry_verbatim() {
    let case = Case::empty();
    let text = "---\nkey: a\ntype: gotcha\n---\n\n# A\r\n\ttab \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{1F680} 日本語\n\n\n";
    case.write(&format!("{MEMORY}/a.md"), text);
    let read = case.run("entry read --key a").success();
    prints(&read, text);
    assert_eq!(read.stderr(), "");
    let json = case.run("entry read --key a --json").success().json();
    assert_eq!(json["body"], "# A\r\n\ttab \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{1F680} 日本語\n\n\n");
    assert_eq!(json["hash"].as_str().unwrap().len(), 32);
}

#[test]
fn read_of_an_unknown_key_names_the_three_closest() {
    let case = Case::empty();
    for key in ["test-runner", "test-runners", "best-runner", "zebra"] {
        put(&case, key, &[], "# T\n");
    }
    let missing = case.run("entry read --key test-runer").code(3);
    assert_error(
        &missing,
        "not found: test-runer",
        "closest keys: test-runner, best-runner, test-runners",
    );
    assert_eq!(missing.stdout(), "");
    for (part, closest) in [
        ("zeb", "zebra, best-runner, test-runner"),
        ("runner", "best-runner, test-runner, test-runners"),
        ("runners", "test-runners, best-runner, test-runner"),
    ] {
        let missing = case.run(&format!("entry read {part}")).code(3);
        assert_error(&missing, &format!("not found: {part}"), &format!("closest keys: {closest}"));
    }
    let json = case.run("entry read --key x --json").code(3).json();
    assert_eq!(json["error"]["kind"], "not_found");
}

// query

#[test]
fn query_prints_hits_as_yaml() {
    let case = two();
    prints(
        &case.run("entry query --text vitest").success(),
        "hits:\n  - key: use-vitest\n    type: convention\n    snippet: \"# Use vitest\"\n    score: 4\n",
    );
    prints(&case.run("entry query --text nothing").success(), "hits: []\n");
    case.run("entry query --json --text vitest").success().stdout_json(&json!({
        "hits": [{"key": "use-vitest", "type": "convention", "snippet": "# Use vitest", "score": 4}]
    }));
}

#[test]
fn query_scores_key_tag_type_title_and_body() {
    let case = Case::empty();
    put(
        &case,
        "alpha",
        &[("tags", "[beta, Gamma]"), ("type", "gotcha")],
        "# Title word\n\nbody word body\n",
    );
    let score = |text: &str| {
        let hits = case.run("entry query --json").args(["--text", text]).success().json();
        hits["hits"][0]["score"].clone()
    };
    for (text, expected) in [
        ("alpha", 10),
        ("ALPHA", 10),
        ("beta", 5),
        ("beta gamma", 10),
        ("gotcha", 5),
        ("title", 3),
        ("body", 1),
        ("body BODY body", 1),
        ("word", 4),
        ("title body beta alpha", 19),
    ] {
        assert_eq!(score(text), json!(expected), "{text}");
    }
    let tagged = case.run("entry query --json --text body --tags beta --type gotcha").success();
    assert_eq!(tagged.json()["hits"][0]["score"], json!(11));
}

#[test]
fn query_is_neither_fuzzy_nor_a_pattern() {
    let case = Case::empty();
    put(&case, "a", &[], "# A title\n\nThe latest tests, \"quoted\" and re*d.\n");
    for text in ["test", "late", "titel", "te.t", "titl*"] {
        let found = case.run("entry query").args(["--text", text]).success();
        prints(&found, "hits: []\n");
    }
    for text in ["AND \"quoted\"", "-tests", "re*d", "(tests", "[tests"] {
        let found = case.run("entry query --json").args(["--text", text]).success();
        assert_eq!(found.json()["hits"][0]["key"], "a", "{}", found.report());
    }
}

#[test]
fn query_finds_every_script() {
    let case = Case::empty();
    put(&case, "cjk", &[], "# 再試行\n\n再試行の間隔は倍になる。\n");
    put(&case, "rtl", &[], "# שלום\n\nהתור נכשל שוב.\n");
    put(&case, "emoji", &[], "# Ship\n\nWe \u{1F680} on Friday.\n");
    put(&case, "accent", &[], "# ÉTÉ\n\nÄpfel.\n");
    for (text, key) in
        [("間隔", "cjk"), ("נכשל", "rtl"), ("\u{1F680}", "emoji"), ("äpfel été", "accent")]
    {
        let found = case.run("entry query --json").args(["--text", text]).success().json();
        assert_eq!(found["hits"][0]["key"], key, "{text}");
    }
}

#[test]
fn query_finds_accents_however_they_are_encoded() {
    let case = Case::empty();
    let (composed, parted) = ("Cr\u{e8}me br\u{fb}l\u{e9}e", "Cre\u{300}me bru\u{302}le\u{301}e");
    for (key, text) in [("composed", composed), ("parted", parted)] {
        let tags = format!("[{}]", text.replace(' ', "-"));
        put(&case, key, &[("tags", &tags)], &format!("# Dessert\n\n{text}\n"));
    }
    // The second round has the words from the cache.
    for text in [composed, parted, "BR\u{db}L\u{c9}E", "BRU\u{302}LE\u{301}E"].repeat(2) {
        let found = case.run("entry query --json").args(["--text", text]);
        let hits = found.success().json()["hits"].clone();
        let keys: Vec<_> = hits.as_array().unwrap().iter().map(|hit| hit["key"].clone()).collect();
        assert_eq!(keys, ["composed", "parted"], "{text}");
        assert_eq!(hits[0]["score"], hits[1]["score"], "{text}");
        assert_eq!(hits[0]["snippet"], composed, "as it stands");
        assert_eq!(hits[1]["snippet"], parted, "as it stands");
    }
    case.run("entry audit").success();
    for tag in [composed, parted].map(|text| text.replace(' ', "-")) {
        for command in ["query", "list"] {
            let line = format!("entry {command} --json --tags");
            let found = case.run(&line).args([&tag]).success().json().to_string();
            let both = found.contains("\"composed\"") && found.contains("\"parted\"");
            assert!(both, "{line} {tag}: {found}");
        }
    }
}

#[test]
fn query_ties_go_by_update_then_key_and_repeat_exactly() {
    let case = Case::empty();
    for (key, updated) in [("c", "2026-01-01"), ("b", "2026-02-01"), ("a", "2026-01-01")] {
        put(&case, key, &[("updated", updated)], &format!("# {key}{key}\n\nsame word\n"));
    }
    let first = case.run("entry query --text word --json").success();
    let keys: Vec<_> =
        first.json()["hits"].as_array().unwrap().iter().map(|hit| hit["key"].clone()).collect();
    assert_eq!(keys, ["b", "a", "c"]);
    assert_eq!(case.run("entry query --text word --json").success().stdout(), first.stdout());
}

#[test]
fn query_filters_by_tag_and_type() {
    let case = Case::empty();
    put(&case, "a", &[("tags", "[x]")], "# Aa\n\nword\n");
    put(&case, "b", &[("tags", "[y]"), ("type", "gotcha")], "# Bb\n\nword\n");
    for (filter, key) in [("--tags x", "a"), ("--tags y,z", "b"), ("--type gotcha", "b")] {
        let found = case.run(&format!("entry query --text word --json {filter}")).success().json();
        let hits = found["hits"].as_array().unwrap();
        assert_eq!((hits.len(), &hits[0]["key"]), (1, &json!(key)), "{filter}");
        let alone = case.run(&format!("entry query --json {filter}")).success().json();
        assert_eq!(alone["hits"][0]["key"], key);
    }
    case.run("entry query").code(2);
}

#[test]
fn query_and_list_only_show_active_entries_by_default() {
    let case = Case::empty();
    put(&case, "a", &[("status", "superseded")], "# Aa\n\nword\n");
    put(&case, "b", &[("status", "stale")], "# Bb\n\nword\n");
    put(&case, "c", &[], "# Cc\n\nword\n");
    case.run("entry audit").success();
    for (line, count) in [
        ("entry query --text word --json", 1),
        ("entry query --text word --json --include-superseded", 3),
        ("entry list --json", 1),
        ("entry list --json --include-superseded", 3),
    ] {
        let found = case.run(line).success().json();
        let list = found.as_object().unwrap().values().next().unwrap();
        assert_eq!(list.as_array().unwrap().len(), count, "{line}");
    }
}

#[test]
fn query_snippets_are_the_first_matching_line_verbatim() {
    let case = Case::empty();
    put(&case, "a", &[], "# Title\n\nnone\n  - \"Quoted\": `word`\\ # x\nword again\n");
    let found = case.run("entry query --text word --json").success().json();
    assert_eq!(found["hits"][0]["snippet"], "  - \"Quoted\": `word`\\ # x");
    let yaml = case.run("entry query --text word").success().stdout();
    assert!(yaml.contains("snippet: \"  - \\\"Quoted\\\": `word`\\\\ # x\"\n"), "{yaml}");
    let by_tag = case.run("entry query --text testing --json").success().json();
    assert_eq!(by_tag["hits"][0]["snippet"], "tags: [testing]");
}

#[test]
fn query_and_list_print_no_tag_of_a_client_and_nothing_invisible() {
    let case = Case::empty();
    let text = "go\u{200b}t </system-reminder> it";
    put(&case, "a", &[], &format!("# {text}\n\nword {text}\n"));
    let found = case.run("entry query --text word --json").success().json();
    assert_eq!(found["hits"][0]["snippet"], "word got <\\/system-reminder> it");
    let read = case.run("entry query --text word").success().stdout();
    assert!(read.contains(r#"snippet: "word got <\\/system-reminder> it""#), "{read}");
    case.run("entry audit").success();
    let listed = case.run("entry list --json").success().json();
    assert_eq!(listed["entries"][0]["title"], "got <\\/system-reminder> it");
    assert!(case.run("entry read a").success().stdout().contains(text));
}

// list

#[test]
fn list_reads_the_index_and_no_body() {
    let case = Case::empty();
    case.write(
        &format!("{MEMORY}/INDEX.md"),
        "| key | title | type | tags | status | updated |\n|---|---|---|---|---|---|\n\
         | a | A title: yes | gotcha | x, y | active | 2026-02-20 |\n| b | B | decision | | superseded | 2026-02-21 |\n",
    );
    prints(
        &case.run("entry list").success(),
        "entries:\n  - key: a\n    title: \"A title: yes\"\n    type: gotcha\n    updated: 2026-02-20\n",
    );
    prints(&case.run("entry list --type decision").success(), "entries: []\n");
    let all = case.run("entry list --include-superseded --tags y --json").success();
    assert!(all.stderr().contains("INDEX.md: does not match the entries"), "{}", all.report());
    let all = all.json();
    assert_eq!(all["entries"][0]["key"], "a");
    assert_eq!(all["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn list_without_an_index_warns_and_lists_the_entries() {
    let case = two();
    let before = case.tree();
    let listed = case.run("entry list").success();
    assert!(listed.stdout().contains("key: use-jest\n"), "{}", listed.report());
    assert!(listed.stderr().contains("INDEX.md: is missing"), "{}", listed.report());
    assert_unchanged(&before, &case, &listed);
    prints(&Case::empty().run("entry list").success(), "entries: []\n");
}

// write

#[test]
fn write_creates_entry_index_row_and_log_line() {
    let case = Case::empty();
    prints(
        &write(&case, "test-runner", "It is vitest.\n", "--tags testing,tools"),
        "Stored: test-runner.\n",
    );
    assert!(memory(&case, "INDEX.md").ends_with(
        "|---|---|---|---|---|---|\n| test-runner | Test runner | convention | testing, tools | active | 2026-03-01 |\n"
    ));
    assert_eq!(
        memory(&case, "log.md"),
        "- 2026-03-01T12:00:00Z write test-runner (convention, high)\n"
    );
}

#[test]
fn write_replaces_wholesale_and_keeps_created() {
    let case = Case::empty();
    put(&case, "a", &[("updated", "2026-01-11")], "# A\n\nOne.\nTwo.\n");
    prints(&write(&case, "a", "# A\n\nTwo.\nThree.\nFour.\n", ""), "Updated a (+2/-1 lines).\n");
    let text = memory(&case, "a.md");
    assert!(text.contains("created: 2026-01-10\nupdated: 2026-03-01\n"), "{text}");
    assert!(text.ends_with("---\n\n# A\n\nTwo.\nThree.\nFour.\n"), "{text}");
    assert!(text.contains("tags: [testing]\n"), "tags that are not given stay: {text}");
}

#[test]
fn an_empty_standard_input_does_not_wipe_a_body() {
    let case = two();
    let before = case.tree();
    for (key, body) in [("use-jest", ""), ("use-jest", " \n\n"), ("new-one", "")] {
        let refused = write(&case, key, body, "");
        assert_eq!(refused.exit_code(), Some(4), "{}", refused.report());
        let hint = "an update without a body changes only the front matter; a new entry needs one";
        assert_error(&refused, "the body is empty", hint);
        assert_unchanged(&before, &case, &refused);
    }
}

#[test]
fn a_body_that_is_too_large_is_named_as_what_would_be_written() {
    let case = Case::empty();
    let refused = write(&case, "big", &"long line\n".repeat(900_000), "");
    assert_eq!(refused.exit_code(), Some(1));
    assert_error(
        &refused,
        ".vibekit/memory/big.md: would be larger than 8 MiB, so it is not written",
        "split it, or move a part of it elsewhere",
    );
}

#[test]
fn a_title_underlined_gets_no_second_one() {
    let case = Case::empty();
    let body = "Test runner\n===========\n\nIt is vitest.\n";
    write(&case, "test-runner", body, "");
    assert!(memory(&case, "test-runner.md").ends_with(&format!("---\n\n{body}")));
    let listed = case.run("entry list --json").success().json();
    assert_eq!(listed["entries"][0]["title"], json!("Test runner"));
}

#[test]
fn write_rejects_a_duplicate_of_another_entry() {
    let case = Case::empty();
    let body = "# Cache\n\none\ntwo\nthree\nfour\n";
    put(&case, "cache-rules", &[], body);
    let before = case.tree();
    for body in [body, "# Cache\n\none\ntwo\n  three \nother\n"] {
        let refused = write(&case, "cache-again", body, "");
        assert_eq!(refused.exit_code(), Some(4), "{}", refused.report());
        let said = refused.stderr();
        assert!(said.contains("near-duplicate of `cache-rules`"), "{said}");
        assert!(said.contains("update it") && said.contains("supersede"), "{said}");
        assert_unchanged(&before, &case, &refused);
    }
    for body in ["# Another\n\none\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\n"] {
        let refused = write(&case, "cache-third", body, "");
        assert_eq!(refused.exit_code(), Some(4), "whatever the heading: {}", refused.report());
    }
    let refused = write(&case, "cache-fourth", "# Cache\n\nfirst\ntwo\nthree\nfour\n", "");
    assert!(
        refused
            .stderr()
            .contains("near-duplicate of `cache-rules` (same title, 80 % of lines shared)"),
        "{}",
        refused.report()
    );
    prints(
        &write(&case, "cache-again", "# Cache\n\none\ntwo\nother\nmore\n", ""),
        "Stored: cache-again.\n",
    );
}

#[test]
fn write_says_that_the_entry_it_duplicates_is_superseded() {
    let case = two();
    case.run("entry supersede --old use-jest --new use-vitest").success();
    let text = memory(&case, "use-jest.md");
    let body = text.split_once("---\n\n").unwrap().1;
    let refused = write(&case, "jest-again", body, "");
    assert_error(
        &refused,
        "near-duplicate of `use-jest`, which is superseded (same first line, 100 % of lines shared)",
        "if it holds again, set `status: active` in use-jest.md; else say what is different now",
    );
}

#[test]
fn write_rejects_byte_identical_bodies_when_the_title_is_one_entry_s_key() {
    let case = Case::empty();
    let body = "# Test runner\n\nThe test runner is vitest.\n";
    prints(&write(&case, "test-runner", body, ""), "Stored: test-runner.\n");
    let refused = write(&case, "runner-of-tests", body, "");
    assert_eq!(refused.exit_code(), Some(4), "{}", refused.report());
    assert_eq!(write(&case, "only-title", "# Same\n", "").exit_code(), Some(0));
    assert_eq!(write(&case, "title-only", "# Same\n", "").exit_code(), Some(4));
}

#[test]
fn write_rejects_the_same_body_under_another_key_without_a_title() {
    let case = Case::empty();
    write(&case, "one", "The same fact.\n", "");
    assert_eq!(write(&case, "two", "The same fact.\n", "").exit_code(), Some(4));
    let before = case.tree();
    let again = write(&case, "one", "The same fact.\n", "");
    prints(&again, "Unchanged: one.\n");
    assert_unchanged(&before, &case, &again);
    let json = write(&case, "one", "The same fact.\n", "--json").json();
    assert_eq!((&json["outcome"], &json["unchanged"]), (&json!("updated"), &json!(true)));
    prints(&write(&case, "one", "The same fact.\n", "--tags x"), "Updated one (+0/-0 lines).\n");
}

#[test]
fn write_takes_a_file_or_standard_input() {
    let case = Case::empty();
    case.write("note.md", "# From a file\n");
    let line = "entry write --key a --type gotcha --confidence low";
    prints(&case.run(&format!("{line} --body @note.md")).success(), "Stored: a.\n");
    assert!(memory(&case, "a.md").ends_with("\n\n# From a file\n"));
    case.run(&format!("{line} --body note.md")).code(2);
    case.run(&format!("{line} --body @missing.md")).code(3);
    case.run(&format!("{line} --body @note.md --body-stdin")).code(2);
}

#[test]
fn write_needs_type_and_confidence() {
    let case = Case::empty();
    case.run("entry write --key a --type gotcha").code(2);
    case.run("entry write --key a --confidence low").code(2);
}

#[test]
fn write_if_match_refuses_a_concurrent_change() {
    let case = two();
    let hash = case.run("entry read --key use-jest --json").success().json()["hash"].clone();
    let guarded = format!("--if-match {}", hash.as_str().unwrap());
    prints(&write(&case, "use-jest", "# Mine\n", &guarded), "Updated use-jest (+1/-3 lines).\n");
    let before = case.tree();
    let refused = write(&case, "use-jest", "# Theirs\n", &guarded);
    assert_eq!(refused.exit_code(), Some(4), "{}", refused.report());
    assert!(refused.stderr().contains("has changed since it was read"), "{}", refused.report());
    assert_unchanged(&before, &case, &refused);
    let absent = write(&case, "new-one", "# New\n", &guarded);
    assert_eq!(absent.exit_code(), Some(4), "{}", absent.report());
    let hint = "without a hash to match, the write creates it";
    assert_error(&absent, "the entry `new-one` does not exist", hint);
}

#[test]
fn write_with_a_request_id_is_executed_once() {
    let case = Case::empty();
    for flag in ["", " --no-history"] {
        let more = format!("--request-id id{}{flag}", flag.len());
        let key = format!("a{}", flag.len());
        let first = write(&case, &key, &format!("{key}.\n"), &more);
        prints(&first, &format!("Stored: {key}.\n"));
        let after = case.tree();
        let again = write(&case, &key, "Something else.\n", &more);
        prints(&again, &format!("Stored: {key}.\n"));
        assert_unchanged(&after, &case, &again);
    }
}

#[test]
fn write_refuses_secrets_unless_allowed() {
    let case = Case::empty();
    let body = format!("# Deploy\n\nUse AKIA{}.\n", "IOSFODNN7EXAMPL3");
    let before = case.tree();
    let refused = write(&case, "deploy", &body, "");
    assert_eq!(refused.exit_code(), Some(4), "{}", refused.report());
    assert!(refused.stderr().contains("(aws-access-key, line 3)"), "{}", refused.report());
    assert_unchanged(&before, &case, &refused);
    prints(&write(&case, "deploy", &body, "--allow-secret"), "Stored: deploy.\n");
}

#[test]
fn write_refuses_a_body_that_still_has_its_front_matter() {
    let case = two();
    let whole = memory(&case, "use-jest.md");
    assert_eq!(write(&case, "use-jest", &whole, "").exit_code(), Some(4));
}

#[test]
fn write_dry_run_shows_and_writes_nothing() {
    let case = Case::empty();
    let dry = write(&case, "a", "Text.\n", "--dry-run");
    assert!(dry.stdout().contains("+# A\n"), "{}", dry.report());
    assert!(case.whole_tree().is_empty());
}

// supersede

#[test]
fn supersede_marks_the_old_and_names_it_in_the_new() {
    let case = two();
    let (old, new) = (memory(&case, "use-jest.md"), memory(&case, "use-vitest.md"));
    prints(
        &case.run("entry supersede --old use-jest --new use-vitest").success(),
        "Superseded use-jest by use-vitest.\n",
    );
    assert_eq!(memory(&case, "use-jest.md"), old.replace("status: active", "status: superseded"));
    assert_eq!(
        memory(&case, "use-vitest.md"),
        new.replace("status: active\n", "status: active\nsupersedes: use-jest\n")
    );
    assert_eq!(
        memory(&case, "log.md"),
        "- 2026-03-01T12:00:00Z supersede use-jest -> use-vitest\n"
    );
    assert!(
        memory(&case, "INDEX.md")
            .contains("| use-jest | Use jest | convention | testing | superseded |")
    );
    let found = case.run("entry query --text tests --json").success().json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn supersede_again_changes_nothing() {
    let case = two();
    let line = "entry supersede --old use-jest --new use-vitest";
    case.run(line).success();
    let before = case.tree();
    let again = case.run(line).success();
    prints(&again, "Unchanged: use-jest is superseded by use-vitest.\n");
    let json = case.run(&format!("{line} --json")).success().json();
    assert_eq!(json, json!({"old": "use-jest", "new": "use-vitest", "unchanged": true}));
    assert_unchanged(&before, &case, &again);
}

#[test]
fn supersede_refuses_itself_a_cycle_and_a_superseded_entry() {
    let case = two();
    let before = case.tree();
    let itself = case.run("entry supersede --old use-jest --new use-jest").code(4);
    assert_unchanged(&before, &case, &itself);
    case.run("entry supersede --old use-jest --new none").code(3);
    case.run("entry supersede --old none --new use-jest").code(3);
    case.run("entry supersede --old use-jest --new use-vitest").success();
    put(&case, "use-mocha", &[], "# Use mocha\n\nMocha.\n");
    let superseded = case.run("entry supersede --old use-mocha --new use-jest").code(4);
    assert!(superseded.stderr().contains("is itself superseded"), "{}", superseded.report());
    // Its status does not say that it is superseded, but the chain does.
    put(&case, "use-jest", &[], "# Use jest\n");
    let cycle = case.run("entry supersede --old use-vitest --new use-jest").code(4);
    assert!(cycle.stderr().contains("cycle"), "{}", cycle.report());
    put(&case, "use-jest", &[("status", "superseded")], "# Use jest\n");
    case.run("entry supersede --old use-vitest --new use-mocha").success();
}

#[test]
fn an_update_of_a_superseded_entry_warns_that_it_stays_hidden() {
    let case = two();
    case.run("entry supersede --old use-jest --new use-vitest").success();
    let updated = write(&case, "use-jest", "# Use jest\n\nJest, again.\n", "");
    assert_eq!(updated.exit_code(), Some(0), "{}", updated.report());
    let said = updated.stderr();
    assert!(said.contains("is superseded and stays superseded"), "{}", updated.report());
}

#[test]
fn a_stale_entry_is_active_again_with_a_new_body_and_else_stays_hidden() {
    let case = Case::empty();
    put(&case, "gate", &[("status", "stale")], "# Gate\n\nIt is red.\n");
    let line = "entry write --key gate --type convention --confidence low";
    let updated = case.run(line).success();
    assert!(updated.stderr().contains("is stale and stays stale"), "{}", updated.report());
    let updated = write(&case, "gate", "# Gate\n\nIt is still red.\n", "");
    assert_eq!(updated.stderr(), "");
    assert!(memory(&case, "gate.md").contains("\nstatus: active\n"));
    let found = case.run("entry query --text red --json").success().json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn one_entry_names_all_that_it_supersedes() {
    let case = two();
    put(&case, "use-bun", &[], "# Use bun\n\nBun runs them.\n");
    for old in ["use-jest", "use-vitest"] {
        let done = case.run(&format!("entry supersede --old {old} --new use-bun")).success();
        assert_eq!(done.stderr(), "", "{}", done.report());
    }
    assert!(memory(&case, "use-bun.md").contains("supersedes: use-jest, use-vitest\n"));
    let read = case.run("entry read --key use-bun --json").success().json();
    assert!(read.to_string().contains("use-jest, use-vitest"), "{read}");
}

#[test]
fn supersede_accepts_an_entry_that_supersedes_itself() {
    let case = two();
    put(&case, "use-vitest", &[("supersedes", "use-vitest")], "# Use vitest\n");
    case.run("entry supersede --old use-jest --new use-vitest").success();
    assert!(memory(&case, "use-vitest.md").contains("supersedes: use-jest\n"));
}

// delete

#[test]
fn delete_needs_a_reason() {
    let case = two();
    let before = case.tree();
    for line in ["entry delete --key use-jest", "entry delete --key use-jest --reason="] {
        let refused = case.run(line).code(4);
        assert!(refused.stderr().contains("supersede"), "{}", refused.report());
        assert_unchanged(&before, &case, &refused);
    }
}

#[test]
fn delete_prints_a_reason_of_two_lines_like_the_log() {
    let case = two();
    let deleted =
        case.run("entry delete --key use-jest").args(["--reason", "never used\n  and slow\n"]);
    prints(&deleted.success(), "Deleted use-jest. Reason: never used and slow.\n");
    let log = memory(&case, "log.md");
    assert!(log.ends_with("Reason: never used and slow\n"), "{log}");
}

#[test]
fn delete_logs_the_reason_verbatim_and_leaves_links() {
    let case = two();
    put(&case, "other", &[], "# Other\n\nSee [[use-jest]].\n");
    let reason = "we \"never\" used it — não, never";
    let deleted = case.run("entry delete --key use-jest").args(["--reason", reason]).success();
    prints(&deleted, &format!("Deleted use-jest. Reason: {reason}.\n"));
    assert_eq!(case.read(&format!("{MEMORY}/use-jest.md")), None);
    assert_eq!(
        memory(&case, "log.md"),
        format!("- 2026-03-01T12:00:00Z delete use-jest — Reason: {reason}\n")
    );
    assert!(!memory(&case, "INDEX.md").contains("use-jest"));
    assert!(memory(&case, "other.md").contains("[[use-jest]]"));
    assert_eq!(
        audit(&case)["broken_links"],
        json!([{"from": "other", "to": "use-jest", "line": 13}])
    );
    case.run("entry delete --key use-jest --reason again").code(3);
}

#[test]
fn delete_refuses_a_secret_in_its_reason_unless_allowed() {
    let case = two();
    let token = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let delete = |more: &str| {
        let line = format!("entry delete --key use-jest{more}");
        case.run(&line).args(["--reason", &token])
    };
    let before = case.tree();
    let refused = delete("").code(4);
    let said = refused.stderr();
    assert!(said.contains("the reason contains what looks like a secret (github-token"), "{said}");
    assert!(said.contains("--allow-secret"), "{said}");
    assert_unchanged(&before, &case, &refused);
    let deleted = delete(" --allow-secret").success();
    prints(&deleted, &format!("Deleted use-jest. Reason: {token}.\n"));
    assert!(memory(&case, "log.md").contains(&token));
}

#[test]
fn the_log_tells_of_every_write_and_so_of_an_undo() {
    let case = two();
    case.run("entry delete --key use-jest --reason slow").success();
    case.run("undo").success();
    case.run("undo").success();
    assert_eq!(
        memory(&case, "log.md"),
        "- 2026-03-01T12:00:00Z delete use-jest — Reason: slow\n\
         - 2026-03-01T12:00:00Z undo 1 (entry delete use-jest)\n\
         - 2026-03-01T12:00:00Z undo 2 (undo 1)\n"
    );
    assert_eq!(case.read(&format!("{MEMORY}/use-jest.md")), None);
}

// audit

#[test]
fn audit_prints_its_fields_in_order() {
    let case = two();
    case.run("entry audit").success();
    prints(
        &case.run("entry audit").success(),
        "pruned_working: 0\nstale_low_confidence: []\nstale: []\nindex_rebuilt: false\nduplicates: []\n\
         broken_links: []\noversized: []\nsuperseded_with_active_inbound: []\ninvalid: []\n\
         superseded_links: []\nmissing_paths: []\n",
    );
    let nothing = Case::empty();
    nothing.run("entry audit").success();
    assert!(nothing.whole_tree().is_empty());
}

#[test]
fn audit_1_prunes_working_memory_of_eight_days_and_nothing_else() {
    let case = Case::empty();
    let notepad = "# Vibekit Notepad\n\n## Priority Context\n- [2020-01-01T00:00Z] stays\n\n## Working Memory\n\
        - [2026-02-28T09:00Z] new\n- [2026-02-21T09:00Z] old\n\n## Manual\n- [2020-01-01T00:00Z] stays\n";
    case.write(".vibekit/notepad.md", notepad);
    assert_eq!(audit(&case)["pruned_working"], 1);
    let left = String::from_utf8(case.read(".vibekit/notepad.md").unwrap()).unwrap();
    assert_eq!(left, notepad.replace("- [2026-02-21T09:00Z] old\n", ""));
    assert_eq!(audit(&case)["pruned_working"], 0);
}

#[test]
fn audit_2_and_3_flag_old_guesses_and_old_entries() {
    let case = Case::empty();
    for (key, confidence, updated) in [
        ("guess-30", "low", "2026-01-30"),
        ("guess-31", "low", "2026-01-29"),
        ("sure-31", "high", "2026-01-29"),
        ("sure-180", "high", "2025-09-02"),
        ("sure-181", "high", "2025-09-01"),
    ] {
        put(
            &case,
            key,
            &[("confidence", confidence), ("updated", updated)],
            &format!("# T {key}\n"),
        );
    }
    put(&case, "done-181", &[("status", "superseded"), ("updated", "2025-09-01")], "# Done\n");
    let found = audit(&case);
    assert_eq!(found["stale_low_confidence"], json!(["guess-31"]));
    assert_eq!(found["stale"], json!(["sure-181"]));
    assert!(memory(&case, "sure-181.md").contains("status: active"), "audit only flags");
}

#[test]
fn audit_4_rebuilds_a_drifted_index() {
    let case = two();
    assert_eq!(audit(&case)["index_rebuilt"], true);
    let index = memory(&case, "INDEX.md");
    assert_eq!(audit(&case)["index_rebuilt"], false);
    case.write(&format!("{MEMORY}/INDEX.md"), index.replace("Use jest", "Edited"));
    put(&case, "third", &[], "# Third\n");
    assert_eq!(audit(&case)["index_rebuilt"], true);
    assert!(memory(&case, "INDEX.md").contains("| third | Third |"));
    assert!(memory(&case, "INDEX.md").contains("| use-jest | Use jest |"));
    let dry = case.write(&format!("{MEMORY}/INDEX.md"), "").run("entry audit --dry-run").success();
    assert!(dry.stdout().contains("index_rebuilt: true"), "{}", dry.report());
    assert_eq!(memory(&case, "INDEX.md"), "");
}

#[test]
fn audit_5_reports_duplicates_by_key_and_by_body() {
    let case = Case::empty();
    put(&case, "a", &[], "# Same\n\none\ntwo\nthree\nfour\n");
    put(&case, "b", &[], "# Same\n\none\ntwo\nthree\nother\n");
    put(&case, "c", &[("key", "A")], "# Another\n");
    let found = audit(&case)["duplicates"].clone();
    assert_eq!(
        found,
        json!([
            {"a": "a", "b": "b", "reason": "same first line, 80 % of the lines in common"},
            {"a": "a", "b": "c", "reason": "both have the key `a`, ignoring case"},
        ])
    );
}

#[test]
fn audit_6_reports_broken_links_with_their_lines() {
    let case = Case::empty();
    put(
        &case,
        "a",
        &[],
        "# A\n\n[[b]] and [[none]]\n`[[code]]`\n\n```\n[[fence]]\n```\n- [[gone]] — why\n",
    );
    put(&case, "b", &[], "# B\n\n[text](none)\n");
    assert_eq!(
        audit(&case)["broken_links"],
        json!([{"from": "a", "to": "none", "line": 13}, {"from": "a", "to": "gone", "line": 19}])
    );
    let yaml = case.run("entry audit").success().stdout();
    assert!(
        yaml.contains(
            "broken_links: [{from: a, to: none, line: 13}, {from: a, to: gone, line: 19}]\n"
        ),
        "{yaml}"
    );
}

#[test]
fn audit_7_flags_bodies_of_over_500_lines() {
    let case = Case::empty();
    let body = |first: &str, lines: usize| format!("# {first}\n{}", "line\n".repeat(lines - 1));
    put(&case, "a", &[], &body("A", 500));
    put(&case, "b", &[], &body("B", 501));
    assert_eq!(audit(&case)["oversized"], json!(["b"]));
}

#[test]
fn audit_8_flags_superseded_entries_with_active_links() {
    let case = Case::empty();
    put(&case, "old", &[("status", "superseded")], "# Old\n");
    put(&case, "older", &[("status", "superseded")], "# Older\n\n[[old]]\n");
    put(&case, "new", &[], "# New\n\n[[old]]\n");
    let found = audit(&case);
    assert_eq!(found["superseded_with_active_inbound"], json!(["old"]));
    assert_eq!(found["superseded_links"], json!([{"from": "new", "to": "old", "line": 13}]));
    assert_eq!(found["broken_links"], json!([]));
    let shown = case.run("audit").output().stdout();
    assert!(shown.contains("    .vibekit/memory/new.md:13: links to old, which is superseded\n"));
}

#[test]
fn audit_names_the_paths_in_active_entries_that_no_longer_exist() {
    let case = Case::empty();
    case.git_init();
    for file in ["lib/fmt.py", "lib/old.py", "lib/kept.py"] {
        case.write(file, format!("{file}\n").repeat(20));
    }
    case.commit("one", "2026-03-01T09:00:00Z");
    let body = "# lib/fmt.py has the formats\n\n- `lib/kept.py` reads\n- lib/fmt.py has the formats\n\
        - see lib/old.py and .planning/STATE.md, run `dist/app.js`\n";
    put(&case, "formats", &[], body);
    put(&case, "former", &[("status", "superseded")], "# Former\n\nlib/old.py reads\n");
    put(&case, "told", &[], "# Told\n\nlib/old.py was removed in March.\n");
    assert_eq!(audit(&case)["missing_paths"], json!([]));
    case.remove("lib/old.py");
    case.remove("lib/fmt.py").write("lib/formats.py", "lib/fmt.py\n".repeat(20));
    case.commit("two", "2026-03-01T10:00:00Z");
    assert_eq!(
        audit(&case)["missing_paths"],
        json!([
            {"from": "formats", "path": "lib/fmt.py", "to": "lib/formats.py", "line": 11},
            {"from": "formats", "path": "lib/old.py", "to": null, "line": 15},
        ])
    );
    let shown = case.run("audit").output().stdout();
    for told in [
        "11: names lib/fmt.py, which moved to lib/formats.py",
        "15: names lib/old.py, which does not exist",
    ] {
        assert!(shown.contains(&format!("    .vibekit/memory/formats.md:{told}\n")), "{shown}");
    }
}

#[test]
fn audit_lists_invalid_entries_and_search_still_finds_them() {
    let case = Case::empty();
    case.write(&format!("{MEMORY}/plain.md"), "# Plain\n\nneedle\n");
    case.write(
        &format!("{MEMORY}/broken.md"),
        "---\nkey: broken\ntype: gotcha\ntags: [a, b\n---\n\n# Broken\n\nneedle\n",
    );
    put(&case, "kind", &[("type", "fact")], "# Kind\n\nneedle\n");
    put(&case, "state", &[("status", "gone")], "# State\n\nneedle\n");
    case.write(&format!("{MEMORY}/bytes.md"), b"---\ntype: gotcha\n---\n\nneedle \xff\n");
    case.write(&format!("{MEMORY}/Odd_Name.md"), entry("Odd_Name", &[], "# Odd\n\nneedle\n"));
    let found = audit(&case);
    let invalid = found["invalid"].as_array().unwrap();
    let told: Vec<(&str, u64)> = invalid
        .iter()
        .map(|one| (one["key"].as_str().unwrap(), one["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        told,
        [("Odd_Name", 1), ("broken", 4), ("bytes", 5), ("kind", 3), ("plain", 1), ("state", 7)]
    );
    assert_eq!(invalid[3]["file"], ".vibekit/memory/kind.md");
    assert_eq!(invalid[3]["problem"], "type: `fact` is not a valid value");
    let hits = case.run("entry query --text needle --json").success().json();
    assert_eq!(hits["hits"].as_array().unwrap().len(), 6);
    prints(&case.run("entry read --key Odd_Name").success(), &memory(&case, "Odd_Name.md"));
}

#[test]
fn audit_changes_no_entry() {
    let case = two();
    put(&case, "old", &[("updated", "2020-01-01"), ("type", "fact")], "# Old\n\n[[none]]\n");
    let before = case.tree();
    audit(&case);
    let changed = crate::support::difference(&before, &case.tree());
    assert_eq!(changed, ["added .vibekit/memory/INDEX.md"]);
}

// Discipline rules and anti-patterns

#[test]
fn rule_operations_change_only_the_named_entries() {
    let case = two();
    case.run("entry audit").success();
    let before = case.tree();
    write(&case, "third", "# Third\n", "");
    let changed = crate::support::difference(&before, &case.tree());
    assert_eq!(
        changed,
        [
            "changed .vibekit/memory/INDEX.md",
            "added .vibekit/memory/log.md",
            "added .vibekit/memory/third.md"
        ]
    );
}

#[test]
fn rule_reading_never_refreshes_the_age() {
    let case = two();
    let before = case.tree();
    for line in ["entry read --key use-jest", "entry query --text jest", "entry list"] {
        let outcome = case.run(line).success();
        assert_unchanged(&before, &case, &outcome);
    }
}

#[test]
fn rule_index_is_not_edited_by_hand_but_rebuilt() {
    let case = two();
    case.write(&format!("{MEMORY}/INDEX.md"), "# My own list\n\n- use-jest\n");
    write(&case, "third", "# Third\n", "");
    let index = memory(&case, "INDEX.md");
    for key in ["third", "use-jest", "use-vitest"] {
        assert!(index.contains(&format!("| {key} |")), "{index}");
    }
}

#[test]
fn rule_nothing_is_loaded_or_written_automatically() {
    let case = Case::new("examples/vbw-project");
    case.run("sync").success();
    assert!(case.read(".vibekit/notepad.md").is_none());
    assert!(!case.tree().keys().any(|path| path.starts_with(".vibekit")));
}

#[test]
fn output_of_a_write_is_one_line_and_of_json_one_document() {
    let case = Case::empty();
    let json = write(&case, "a", "Text.\n", "--json").json();
    assert_eq!(json["outcome"], "stored");
    let hash = case.run("entry read --key a --json").success().json()["hash"].clone();
    assert_eq!(json["hash"], hash);
    let json = write(&case, "a", "Other.\nMore.\n", "--json").json();
    assert_eq!((&json["added"], &json["removed"]), (&json!(2), &json!(1)));
}

#[test]
fn audit_finds_near_identical_bodies_with_another_first_line() {
    let case = Case::empty();
    let rest = "line two\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
    for (key, first) in [("one", "first"), ("two", "changed first"), ("three", "third")] {
        put(&case, key, &[], &format!("# {key}\n\n{first}\n{rest}"));
    }
    let found = audit(&case)["duplicates"].clone();
    let reason = "90 % of the lines in common";
    assert_eq!(
        found,
        json!([{"a": "one", "b": "three", "reason": reason}, {"a": "one", "b": "two", "reason": reason}])
    );
}

#[test]
fn audit_finds_near_identical_bodies_that_begin_with_other_lines() {
    let case = Case::empty();
    let lines: Vec<String> = (1..=30).map(|number| format!("line {number}\n")).collect();
    let (rest, part) = (lines.concat(), lines[..20].concat());
    let turned: String = lines.iter().rev().map(String::as_str).collect();
    put(&case, "one", &[], &format!("# One\n\na1\na2\n{rest}"));
    put(&case, "other", &[], &format!("# Other\n\nb1\nb2\n{rest}"));
    put(&case, "turned", &[], &format!("# Turned\n\n{turned}"));
    put(&case, "unlike", &[], &format!("# Unlike\n\n{part}"));
    let found = audit(&case)["duplicates"].clone();
    let reason = "93 % of the lines in common";
    assert_eq!(
        found,
        json!([{"a": "one", "b": "other", "reason": reason}, {"a": "one", "b": "turned", "reason": reason}])
    );
}

#[test]
fn audit_reports_one_key_in_two_files() {
    let case = two();
    put(&case, "other", &[("key", "use-jest")], "# Other\n\nOther.\n");
    let found = audit(&case)["duplicates"].clone();
    assert_eq!(
        found,
        json!([{"a": "other", "b": "use-jest", "reason": "both have the key `use-jest`"}])
    );
}

#[cfg(unix)]
#[test]
fn an_entry_that_is_not_read_is_not_listed_as_active() {
    let case = two();
    audit(&case);
    std::os::unix::fs::symlink("/etc/hosts", case.root().join(MEMORY).join("away.md")).unwrap();
    assert_eq!(audit(&case)["index_rebuilt"], json!(false));
    let listed = case.run("entry list --json").success().json();
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2, "{listed}");
}

#[test]
fn audit_accepts_windows_line_ends_in_the_index() {
    let case = two();
    case.run("entry audit").success();
    let index = memory(&case, "INDEX.md").replace('\n', "\r\n");
    case.write(&format!("{MEMORY}/INDEX.md"), &index);
    assert_eq!(audit(&case)["index_rebuilt"], json!(false));
    assert_eq!(memory(&case, "INDEX.md"), index);
}

#[test]
fn audit_check_fails_if_priority_context_exceeds_its_limit() {
    let case = Case::empty();
    let pad = |count: usize| format!("# Notepad\n\n## Priority Context\n- {}\n", "x".repeat(count));
    case.write(".vibekit/notepad.md", pad(498));
    case.run("audit --check").success();
    case.write(".vibekit/notepad.md", pad(499));
    let told = case.run("audit --check").code(1).stdout();
    assert!(told.contains("has 501 characters of Priority Context, 500 are allowed"), "{told}");
}
