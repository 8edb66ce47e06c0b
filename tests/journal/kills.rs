//! Killed at each file operation of a write: repeated with its request id, the record is there once.

use serde_json::{Value, json};

use crate::support::Case;

fn records(case: &Case) -> (Vec<String>, usize) {
    let path = case.home().join(".codex/memory.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let (whole, torn): (Vec<_>, Vec<_>) =
        text.lines().map(serde_json::from_str::<Value>).partition(Result::is_ok);
    let contents =
        whole.into_iter().map(|record| record.unwrap()["content"].as_str().unwrap().to_owned());
    (contents.collect(), torn.len())
}

/// Kills a write at each of its operations, repeats it, and returns how often it was killed.
fn repeat_after_each_kill(arguments: &[&str], input: &str, expected: &[&str]) -> usize {
    for stop_at in 1.. {
        let case = Case::empty();
        case.run("journal write --content before").success();
        let run = || {
            let run = case.run("journal write").args(["--request-id", "r"]).args(arguments);
            run.stdin(input.to_owned())
        };
        let killed = run().env("ANNALS_FAIL_AFTER", stop_at.to_string()).output();
        if killed.exit_code() == Some(0) {
            return stop_at - 1;
        }
        case.run("journal write --content between").success();
        let later = "2026-03-05T00:00:00Z";
        let first = run().env("ANNALS_NOW", later).success();
        let second = run().env("ANNALS_NOW", "2026-03-09T00:00:00Z").success();
        assert_eq!(first.stdout(), second.stdout(), "{stop_at}");
        let (contents, torn) = records(&case);
        assert!(torn <= 1, "{stop_at}: {torn} torn lines");
        let own = |content: &&String| *content != "before" && *content != "between";
        let found: Vec<&String> = contents.iter().filter(own).collect();
        assert_eq!(found, expected, "{stop_at}: {contents:?}");
        assert_eq!(contents.len(), expected.len() + 2, "{stop_at}");
    }
    unreachable!("the loop ends when the write comes through")
}

#[test]
fn a_repeated_write_is_there_once() {
    let input = json!({"content": "one"}).to_string();
    let kills = repeat_after_each_kill(&[], &input, &["one"]);
    assert!(kills >= 5, "{kills}");
}

#[test]
fn a_repeated_batch_is_there_once() {
    let input = "{\"content\":\"one\"}\n{\"content\":\"two\"}\n{\"content\":\"three\"}\n";
    let kills = repeat_after_each_kill(&["--batch"], input, &["one", "two", "three"]);
    assert!(kills >= 5, "{kills}");
}
