//! The rules of `classify`.

use std::path::Path;

use annals::markdown::{FrontMatter, Node};
use serde_json::{Value, json};

use crate::support::Case;

const INDEX: &str = "| key | title | type | tags | status | updated |\n|---|---|---|---|---|---|\n| test-runner | Test runner is vitest | convention | testing | active | 2026-01-01 |\n";

fn proposed(finding: &str) -> Value {
    let case = Case::empty();
    case.write(".vibekit/memory/INDEX.md", INDEX);
    let answer = case.run("entry classify --json").args([finding]).success();
    answer.json()["proposed"].clone()
}

#[test]
fn a_fact_stated_in_the_code_is_not_kept() {
    let answer = proposed("the auth middleware is in src/auth/middleware.ts");
    assert_eq!(answer["surface"], json!("none"));
    assert!(answer["reason"].as_str().unwrap().contains("code fact"), "{answer}");
}

#[test]
fn a_fact_stated_in_the_spec_is_not_kept() {
    let answer = proposed("docs/specs/auth.md says that tokens expire after an hour");
    assert_eq!(answer["surface"], json!("none"));
    assert!(answer["reason"].as_str().unwrap().contains("spec fact"), "{answer}");
}

#[test]
fn a_finding_that_the_index_has_is_not_kept() {
    let answer = proposed("Our test runner is vitest");
    assert_eq!(answer["surface"], json!("none"));
    assert_eq!(answer["reason"], json!("already known as test-runner"));
}

#[test]
fn ephemera_belong_nowhere() {
    let answer = proposed("I just ran the migration and it worked");
    assert_eq!(answer["surface"], json!("none"));
}

#[test]
fn ephemeral_findings_are_not_kept() {
    for finding in [
        "just ran the tests",
        "Ran cargo test, two failures left",
        "Fixed the login bug by clearing the cache",
        "never mind",
        "always",
        "Never!",
        "Created 2026-01-01",
        "Last updated: 2026-02-11",
        "2026-01-01",
        "Ask the user whether to deploy",
        "The user asked me to fix the login bug",
        "We need to fix the flaky test tomorrow",
        "Today we decided to look at the logs first",
    ] {
        let answer = proposed(finding);
        assert_eq!(answer["surface"], json!("none"), "{finding}: {answer}");
        assert_eq!(answer["key"], Value::Null, "{finding}");
    }
    for (finding, expected) in [
        ("Always ask the user before a deployment", "convention"),
        ("The user told us to always use tabs", "convention"),
        ("Run the tests with just test", "environment"),
        ("We decided to look up hosts first because DNS is slow", "decision"),
        ("We need to fix the certificate by 2026-03-05", "deadline"),
        ("Never mind-map in the repository: never commit drawings", "convention"),
        ("Merge freeze 2026-03-05", "deadline"),
    ] {
        let answer = proposed(finding);
        assert_eq!(answer["type"], json!(expected), "{finding}: {answer}");
    }
}

#[test]
fn a_proposed_key_spells_umlauts_out_and_drops_other_accents() {
    let answer = proposed("Always pr\u{fc}fe Schl\u{fc}ssel f\u{fc}r caf\u{e9} Gr\u{f6}\u{df}e");
    assert_eq!(answer["key"], json!("pruefe-schluessel-fuer-cafe-groesse"));
}

#[test]
fn a_finding_is_not_kept_by_default() {
    let answer = proposed("The weather widget shows clouds");
    assert_eq!(answer["surface"], json!("none"));
    assert_eq!(answer["key"], Value::Null);
    assert_eq!(answer["type"], Value::Null);
}

#[test]
fn the_type_follows_from_the_cue() {
    for (finding, expected) in [
        ("Code freeze starts 2026-03-20", "deadline"),
        ("We chose SQLite because one file is enough", "decision"),
        ("Always pin action versions by hash", "convention"),
        ("Tests fail with EADDRINUSE on port 3000; fix: set PORT=0", "gotcha"),
        ("When the worker hangs, check the queue length first", "debugging"),
        ("Ask the #platform-help channel on Slack about DNS", "contact"),
        ("Deploy with `make deploy ENV=staging`", "environment"),
    ] {
        let answer = proposed(finding);
        assert_eq!(answer["surface"], json!("entry"), "{finding}");
        assert_eq!(answer["type"], json!(expected), "{finding}");
        assert_ne!(answer["confidence"], json!("high"), "{finding}");
    }
}

#[test]
fn the_answer_is_the_format_of_the_seed_and_the_finding_verbatim() {
    let finding = "We chose \"x: y\" # because\n\tit # is 日本 \\ fine";
    let case = Case::empty();
    let yaml = case.run("entry classify").args([finding]).success().stdout();
    let labels: Vec<&str> = yaml.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(
        labels,
        [
            "finding", "proposed", "  surface", "  key", "  type", "  tags", "  confidence",
            "  reason"
        ]
    );
    // A YAML string in double quotes has the same escapes as JSON.
    let quoted = yaml.lines().next().unwrap().strip_prefix("finding: ").unwrap();
    assert_eq!(serde_json::from_str::<String>(quoted).unwrap(), finding);
}

/// Parses the printed YAML.
fn read_back(case: &Case, finding: &str) -> Node {
    let printed = case.run("entry classify").args([finding]).success();
    let document = format!("---\n{}---\n", printed.stdout());
    let read = FrontMatter::parse(&document, Path::new("classify"));
    assert_eq!(read.warnings, [], "{document}");
    let said = read.value.get(&["finding"]).and_then(Node::as_text);
    assert_eq!(said, Some(finding), "{document}");
    read.value.get(&["proposed"]).unwrap().clone()
}

#[test]
fn every_field_round_trips_for_any_finding() {
    let case = Case::empty();
    case.write(
        ".vibekit/memory/INDEX.md",
        "| key | title | type | tags | status | updated |\n|---|---|---|---|---|---|\n\
         | drill: \"x\" # y | Snapshot restore drill | gotcha | a: b, c \"d\", [e, yes | active | |\n",
    );
    let field =
        |node: &Node, name: &str| node.get(&[name]).and_then(Node::as_text).map(str::to_owned);
    let known = read_back(&case, "The snapshot restore drill");
    let reason = field(&known, "reason").unwrap();
    assert_eq!(reason, "already known as drill: \"x\" # y");
    for (finding, key) in [
        ("Deadline: by 2026-02-17", "deadline-2026-02-17"),
        ("Must be by 2026-02-17", "2026-02-17"),
        ("We decided \"null\":\nbecause that is it", "null"),
    ] {
        let proposed = read_back(&case, finding);
        let printed = case.run("entry classify").args([finding]).success().stdout();
        let quoted = format!("  key: \"{key}\"\n");
        let plain = format!("  key: {key}\n");
        let is_mistakable = key.starts_with(|c: char| c.is_ascii_digit()) || key == "null";
        let wanted = if is_mistakable { quoted } else { plain };
        assert!(printed.contains(&wanted), "{printed}");
        assert_eq!(field(&proposed, "key").as_deref(), Some(key), "{printed}");
    }
    let tagged = read_back(&case, "We chose a, b, c and d for yes because of e");
    let tags: Vec<_> = tagged.get(&["tags"]).unwrap().elements();
    let tags: Vec<_> = tags.iter().filter_map(|tag| tag.as_text()).collect();
    assert_eq!(tags, ["[e", "a: b", "c \"d\"", "yes"]);
}

#[test]
fn nothing_is_written() {
    let case = Case::empty();
    let before = case.whole_tree();
    case.run("entry classify").args(["Always write tests first"]).success();
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn the_tool_that_a_project_uses_is_a_convention() {
    let case = Case::empty();
    for finding in
        ["test runner is vitest", "The package manager is pnpm.", "Our default branch is `trunk`"]
    {
        let answer = case.run("entry classify --json").args([finding]).success();
        let proposed = answer.json()["proposed"].clone();
        assert_eq!(proposed["surface"], json!("entry"), "{finding}: {proposed}");
        assert_eq!(proposed["type"], json!("convention"), "{finding}: {proposed}");
        assert_eq!(proposed["confidence"], json!("low"), "nobody confirmed it");
    }
    for finding in ["the linter is green now", "the build tool is not running"] {
        let answer = case.run("entry classify --json").args([finding]).success();
        assert_eq!(answer.json()["proposed"]["surface"], json!("none"), "{finding}");
    }
}
