//! `annals journal`, and the tools that are links to it

use serde_json::{Value, json};

use crate::cli::assert_error;
use crate::support::{Case, Outcome, require};

const FILE: &str = "[HOME]/.codex/memory.jsonl";
const TIME: &str = "2026-03-01T12:00:00+00:00";

fn journal(case: &Case) -> String {
    std::fs::read_to_string(case.home().join(".codex/memory.jsonl")).unwrap_or_default()
}

fn contents(found: &Outcome) -> Vec<String> {
    let document = found.json();
    let results = document["results"].as_array().unwrap();
    let content = |record: &Value| record["content"].as_str().unwrap().to_owned();
    results.iter().map(content).collect()
}

fn write(case: &Case, input: &Value) {
    case.run("journal write").stdin(input.to_string()).success();
}

fn search(case: &Case, input: &Value) -> Outcome {
    case.run("journal search").stdin(input.to_string()).success()
}

#[test]
fn a_write_is_one_line_with_its_keys_in_order() {
    let case = Case::empty();
    let input = r#"{"type":"note","content":"User prefers Python.","tags":["preference"]}"#;
    let written = case.run("journal write").stdin(input).success();
    let line = format!(
        r#"{{"ts":"{TIME}","type":"note","content":"User prefers Python.","tags":["preference"],"meta":null}}"#
    );
    assert_eq!(written.stdout(), format!("{{\"ok\":true,\"file\":\"{FILE}\",\"entry\":{line}}}\n"));
    assert_eq!(written.stderr(), "");
    assert_eq!(journal(&case), format!("{line}\n"));
    let flags = [
        "--content", "two\nlines", "--type", "fact", "--tag", "a", "--tag", "b", "--meta",
        "{ \"n\": 1 }",
    ];
    case.run("journal write").args(flags).success();
    let second = format!(
        r#"{{"ts":"{TIME}","type":"fact","content":"two\nlines","tags":["a","b"],"meta":{{"n":1}}}}"#
    );
    assert_eq!(journal(&case), format!("{line}\n{second}\n"));
}

#[test]
fn a_request_as_an_argument_is_searched_literally_and_says_so() {
    let case = Case::empty();
    write(&case, &json!({"content": "User prefers Python."}));
    let query = r#"{"q":"Python"}"#;
    let found = case.run("journal search").args([query]).success();
    assert_eq!(contents(&found), [""; 0]);
    assert_eq!(
        found.stderr(),
        "searched literally; a request as JSON is read from standard input: `printf '%s' '{…}' | annals journal search`\n"
    );
    let found = case.run("journal search").stdin(query).success();
    assert_eq!(contents(&found), ["User prefers Python."]);
}

#[cfg(unix)]
#[test]
fn the_file_and_its_folder_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let case = Case::empty();
    write(&case, &json!({"content": "c"}));
    let mode = |path: &str| {
        let metadata = std::fs::metadata(case.home().join(path)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(".codex"), 0o700);
    assert_eq!(mode(".codex/memory.jsonl"), 0o600);
}

#[test]
fn bad_input_is_answered_and_writes_nothing() {
    let case = Case::empty();
    for (input, expected) in [
        ("", "the input is empty"),
        ("not json", "invalid input"),
        ("{}", "missing field `content`"),
        (r#"{"content":""}"#, "content must not be empty"),
        (r#"{"content":"c","colour":"red"}"#, "unknown field `colour`"),
        (r#"{"content":"c","tags":"t"}"#, "expected a sequence"),
        (r#"{"content":"c","meta":3}"#, "meta must be a JSON object"),
        (r#"{"content":"\ud800"}"#, "invalid input: "),
    ] {
        let outcome = case.run("journal write").stdin(input).code(1);
        let answer = outcome.json();
        assert_eq!(answer["ok"], false, "{}", outcome.report());
        assert!(answer["error"].as_str().unwrap().contains(expected), "{}", outcome.report());
        assert_eq!(answer.as_object().unwrap().len(), 2);
        assert_eq!(outcome.stderr(), "");
    }
    assert!(!case.home().join(".codex").exists());
}

#[test]
fn what_looks_like_a_secret_is_refused_unless_allowed() {
    let case = Case::empty();
    let key = ["AK", "IAQ7ZT2LMX9VKC4RBW"].concat();
    let input = json!({"content": format!("deploy with {key}")}).to_string();
    let refused = case.run("journal write").stdin(input.clone()).code(4);
    let answer = refused.json();
    assert_eq!(answer["ok"], false);
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("aws-access-key") && error.contains("--allow-secret"), "{error}");
    assert!(!error.contains(&key));
    assert_eq!(journal(&case), "");
    case.run("journal write --allow-secret").stdin(input).success();
    assert!(journal(&case).contains(&key));
}

#[test]
fn a_batch_is_written_whole_or_not_at_all() {
    let case = Case::empty();
    let bad = "{\"content\":\"a\"}\n\n{\"content\":\"\"}\n";
    let outcome = case.run("journal write --batch").stdin(bad).code(1);
    assert_eq!(outcome.json(), json!({"ok": false, "error": "line 3: content must not be empty"}));
    let broken =
        case.run("journal write --batch").stdin("{\"content\":\"a\"}\n{\"content\":x}\n").code(1);
    assert_eq!(broken.json()["error"], "line 2: invalid input: expected value at column 12");
    assert_eq!(journal(&case), "");
    let good = "{\"content\":\"a\"}\n\n{\"content\":\"b\",\"type\":\"todo\"}";
    let outcome = case.run("journal write --batch").stdin(good).success();
    assert_eq!(outcome.json(), json!({"ok": true, "file": FILE, "written": 2}));
    assert_eq!(journal(&case).lines().count(), 2);
}

#[test]
fn a_torn_line_stays_alone() {
    let case = Case::empty();
    case.write("memory.jsonl", "{\"ts\":\"2026-02-0");
    let file = case.root().join("memory.jsonl");
    let run = |line: &str| case.run(line).env("MEMORY_FILE", &file);
    run("journal write --content whole").success();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 2);
    let found = run("journal search 2026").success();
    assert_eq!(contents(&found), ["whole"]);
}

#[test]
fn a_repeated_request_answers_as_the_first_time_and_writes_nothing() {
    let case = Case::empty();
    let run = |content: &str, now: &str| {
        let args = ["--request-id", "turn 1", "--content", content];
        case.run("journal write").args(args).env("ANNALS_NOW", now)
    };
    let first = run("c", "2026-03-01T12:00:00Z").success();
    write(&case, &json!({"content": "somebody else's"}));
    let again = run("c", "2026-03-02T12:00:00Z").success();
    assert_eq!(first.stdout(), again.stdout());
    assert_eq!(run("other", "2026-03-03T12:00:00Z").success().stdout(), first.stdout());
    assert_eq!(journal(&case).lines().count(), 2);
    let invalid = case.run("journal write --content c").args(["--request-id", ""]).code(1);
    assert!(invalid.stdout().contains("a request id is"), "{}", invalid.report());
}

#[test]
fn a_dry_run_writes_nothing_and_shows_the_line() {
    let case = Case::empty();
    let outcome = case.run("journal write --dry-run --content c --request-id r").success();
    let answer = outcome.json();
    assert!(answer["diff"].as_str().unwrap().contains("\n+{\"ts\":"), "{}", outcome.report());
    assert_eq!(answer["entry"]["content"], "c");
    assert!(!case.home().join(".codex").exists());
}

#[test]
fn a_search_gives_the_latest_first_and_says_how_far_it_looked() {
    let case = Case::empty();
    let nothing = search(&case, &json!({"q": "tea"}));
    let widest = json!({"results": [], "truncated": false, "used_window_lines": 1_000_000});
    nothing.stdout_json(&widest);
    for content in ["tea one", "coffee", "tea two", "tea three"] {
        write(&case, &json!({"content": content}));
    }
    let all = search(&case, &json!({"q": "tea"}));
    assert_eq!(contents(&all), ["tea three", "tea two", "tea one"]);
    assert!(all.stdout().starts_with("{\"results\":[{\"ts\":"), "{}", all.report());
    let two = search(&case, &json!({"q": "tea", "limit": 2}));
    assert_eq!(contents(&two), ["tea three", "tea two"]);
    assert_eq!(two.json()["truncated"], true);
    assert_eq!(two.json()["used_window_lines"], 50_000);
    let grown = search(&case, &json!({"q": "tea", "limit": 2, "window_lines": 1}));
    assert_eq!(grown.json()["used_window_lines"], 4);
    assert_eq!(grown.json()["truncated"], true);
    let exact = search(&case, &json!({"q": "tea", "limit": 1, "window_lines": 1}));
    assert_eq!(
        (&exact.json()["used_window_lines"], &exact.json()["truncated"]),
        (&json!(1), &json!(false))
    );
    let flags = case.run("journal search coffee --mode jq --limit 1").success();
    assert_eq!(contents(&flags), ["coffee"]);
    let bad = case.run("journal search").stdin("{\"q\":\"a\",\"size\":1}").code(1);
    assert!(bad.json()["error"].as_str().unwrap().contains("unknown field `size`"));
    let bad = case.run("journal search /(/").code(1);
    assert!(bad.json()["error"].as_str().unwrap().contains("is invalid"), "{}", bad.report());
}

#[test]
fn a_search_gives_twenty_results_unless_told_otherwise() {
    let case = Case::empty();
    let lines: String =
        (1..=21).map(|number| format!("{{\"content\":\"tea {number}\"}}\n")).collect();
    case.run("journal write --batch").stdin(lines).success();
    let found = search(&case, &json!({"q": "tea"}));
    let latest: Vec<String> = (2..=21).rev().map(|number| format!("tea {number}")).collect();
    assert_eq!(contents(&found), latest);
    assert_eq!(found.json()["truncated"], true);
}

#[test]
fn text_is_found_as_it_was_said_however_the_file_escapes_it() {
    let case = Case::empty();
    let said = "first\n\"second\" caf\u{e9} \u{2028} a/b";
    write(&case, &json!({"content": said, "meta": {"deep": [{"x": "q\"r"}]}}));
    let python = r#"{"ts": "2026-03-01T12:00:00+00:00", "type": "note", "content": "first\n\"second\" caf\u00e9 \u2028 a\/b"}"#;
    let file = case.home().join(".codex/memory.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}{python}\n")).unwrap();
    for q in [
        said, "first\n\"sec", "\"second\" caf\u{e9}", "\u{e9}", "\u{2028} a", "a/b", "\n",
        "/t.\"s/",
    ] {
        for mode in ["hybrid", "jq"] {
            let found = search(&case, &json!({"q": q, "mode": mode}));
            let expected = if q == "/t.\"s/" { 0 } else { 2 };
            assert_eq!(contents(&found).len(), expected, "{q:?} {mode}");
        }
    }
    let found = search(&case, &json!({"q": "/first.{1,2}\"second\"/", "mode": "jq"}));
    assert_eq!(contents(&found).len(), 0, "a dot is no newline");
    let found = search(&case, &json!({"q": "/(?s)FIRST.\"second\"$?/i", "mode": "hybrid"}));
    assert_eq!(contents(&found).len(), 2);
    let found = search(&case, &json!({"q": "q\"r", "mode": "jq"}));
    assert_eq!(contents(&found).len(), 1);
    let raw = search(&case, &json!({"q": "\"second\"", "mode": "rg"}));
    assert_eq!(contents(&raw).len(), 0);
    let key = search(&case, &json!({"q": "content", "mode": "jq"}));
    assert_eq!(contents(&key).len(), 0);
}

#[test]
fn the_latest_records_are_listed() {
    let case = Case::empty();
    assert_eq!(case.run("journal tail").success().stdout(), "");
    write(&case, &json!({"content": "one\ntwo \u{1b}[31m", "tags": ["x", "y"]}));
    write(&case, &json!({"content": "three", "type": "todo"}));
    let tail = case.run("journal tail").success();
    assert_eq!(tail.stdout(), format!("{TIME}  note  one two  [x, y]\n{TIME}  todo  three\n"));
    let last = case.run("journal tail -n 1 --json").success();
    assert_eq!(last.stdout(), journal(&case).lines().last().unwrap().to_owned() + "\n");
    case.write("other.jsonl", "{\"content\":\"four\"}\n");
    let other = case.run("journal tail").env("MEMORY_FILE", case.root().join("other.jsonl"));
    assert_eq!(other.success().stdout(), "-  -  four\n");
}

#[test]
fn an_import_adds_what_is_missing_once() {
    let case = Case::empty();
    write(&case, &json!({"content": "here"}));
    let here = journal(&case);
    let other = format!(
        "{here}{}\n{}\nnot json\n{}\n",
        r#"{"ts":"2026-02-01T10:00:00Z","content":"new","by":"Ada"}"#,
        r#"{"ts":"2026-02-01T10:00:00Z","content":"new","by":"Ada"}"#,
        r#"{"content":"without a time"}"#,
    );
    case.write("other.jsonl", &other);
    let dry = case.run("journal write --import other.jsonl --dry-run --json").success();
    assert_eq!(dry.json()["imported"], 2);
    assert!(dry.json()["diff"].as_str().unwrap().contains("without a time"));
    assert_eq!(journal(&case), here);
    let done = case.run("journal write --import other.jsonl").success();
    assert_eq!(
        done.stdout(),
        format!("Imported 2 records into {FILE}; already there: 2, not understood: 1 line.\n")
    );
    let after = journal(&case);
    assert!(after.starts_with(&here));
    assert!(after.contains(r#"{"ts":"2026-02-01T10:00:00+00:00","type":"note","content":"new","tags":null,"meta":{"by":"Ada"}}"#));
    case.run("journal write --import other.jsonl").success();
    assert_eq!(journal(&case), after);
    assert_eq!(case.run("journal write --import none.jsonl").code(3).stdout(), "");
    let key = ["AK", "IAQ7ZT2LMX9VKC4RBW"].concat();
    case.write("secret.jsonl", format!("{{\"content\":\"{key}\"}}\n"));
    let refused = case.run("journal write --import secret.jsonl").code(4);
    assert!(
        refused.stderr().contains("secret.jsonl:1: contains what looks like a secret"),
        "{}",
        refused.report()
    );
    assert_eq!(journal(&case), after);
}

#[cfg(unix)]
#[test]
fn the_tools_are_told_by_their_names() {
    if !require("sh") {
        return;
    }
    let case = Case::empty();
    let scripts = case.root().join("memory/scripts");
    std::fs::create_dir_all(&scripts).unwrap();
    for name in ["memory_write", "memory_search"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_annals"), scripts.join(name)).unwrap();
    }
    let script = r#"printf '%s' '{"type":"note","content":"User prefers Python.","tags":["preference"]}' | memory/scripts/memory_write"#;
    let written = case.shell(script).success();
    let entry = json!({
        "ts": TIME, "type": "note", "content": "User prefers Python.", "tags": ["preference"], "meta": null
    });
    written.stdout_json(&json!({"ok": true, "file": FILE, "entry": entry}));
    let script = r#"printf '%s' '{"q":"Python","limit":5}' | memory/scripts/memory_search"#;
    let found = case.shell(script).success();
    found.stdout_json(
        &json!({"results": [entry], "truncated": false, "used_window_lines": 1_000_000}),
    );
}

#[test]
fn what_is_in_the_way_is_told_and_nothing_is_torn() {
    let case = Case::empty();
    let run = |line: &str, file: &str| case.run(line).env("MEMORY_FILE", case.root().join(file));
    std::fs::create_dir(case.root().join("folder")).unwrap();
    for line in ["journal write --content c", "journal search c"] {
        let outcome = run(line, "folder").code(1);
        let error = outcome.json()["error"].as_str().unwrap().to_owned();
        assert!(
            error.to_lowercase().contains("/folder: ") && error.contains("s a directory"),
            "{error}"
        );
    }
    case.write("file", "{}\n");
    let below = run("journal write --content c", "file/memory.jsonl").code(1);
    assert_eq!(below.json()["ok"], false);
    assert_eq!(case.read("file").unwrap(), b"{}\n");
    assert_eq!(contents(&run("journal search c", "file/memory.jsonl").success()).len(), 0);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_journal_is_no_empty_journal() {
    let case = Case::empty();
    case.program("mkfifo pipe").success();
    let run = |line: &str| case.run(line).env("MEMORY_FILE", case.root().join("pipe"));
    let read = "[ROOT]/pipe: is not a regular file, so it is not read";
    let hint = "move or rename it";
    let error = format!("{read}; {hint}");
    run("journal search c").code(1).stdout_json(&json!({"ok": false, "error": error}));
    assert_error(&run("journal tail").code(1), read, hint);
    run("journal write --content c").code(4).stdout_json(&json!({
        "ok": false,
        "error": "[ROOT]/pipe: is not a regular file, so annals does not write to it; remove it",
    }));
    let empty = case.run("journal search c").env("MEMORY_FILE", "/dev/null").success();
    assert_eq!(contents(&empty).len(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let case = Case::empty();
    let outcome = case.run("journal write --content c").env("MEMORY_FILE", "/dev/full").code(1);
    let error = outcome.json()["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("/dev/full: cannot append: "), "{error}");
}
