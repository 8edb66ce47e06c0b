//! A search gives what a plain, slow reading of the same file gives; and what `rg` and `jq` give.

use std::path::Path;
use std::process::Command;

use annals::journal;
use annals::journal::{JournalQuery, Mode, SearchResults};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::require;

/// Words that meet each other often, with all that JSON writes in more than one way.
const TEXT: &str = "[abtu\"\\\\/\n\té日\u{2028}<' .0]{0,6}";

/// How a writer may put a text into JSON.
#[derive(Clone, Copy, Debug)]
enum Escapes {
    Few,
    AllButAscii,
    Everything,
}

fn quoted(text: &str, escapes: Escapes) -> String {
    let json = serde_json::to_string(text).unwrap();
    match escapes {
        Escapes::Few => json,
        Escapes::AllButAscii => json
            .chars()
            .map(|c| match c {
                '/' => "\\/".to_owned(),
                c if c.is_ascii() => c.to_string(),
                c => units(c),
            })
            .collect(),
        Escapes::Everything => format!("\"{}\"", text.chars().map(units).collect::<String>()),
    }
}

fn units(c: char) -> String {
    let units = c.encode_utf16(&mut [0; 2]).to_vec();
    let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04X}")).collect();
    escapes.concat()
}

fn line() -> impl Strategy<Value = String> {
    let escapes = prop_oneof![
        4 => Just(Escapes::Few),
        2 => Just(Escapes::AllButAscii),
        1 => Just(Escapes::Everything),
    ];
    let record = (TEXT, TEXT, prop::option::of(TEXT), escapes).prop_map(|(content, tag, meta, escapes)| {
        let meta = meta.map_or("null".to_owned(), |text| format!("{{\"k\":[{}]}}", quoted(&text, escapes)));
        format!(
            "{{\"ts\":\"2026-02-01T00:00:00+00:00\",\"type\":\"note\",\"content\":{},\"tags\":[{}],\"meta\":{meta}}}",
            quoted(&content, escapes),
            quoted(&tag, escapes),
        )
    });
    prop_oneof![
        12 => record,
        1 => Just(String::new()),
        1 => Just("[\"ab\"]".to_owned()),
        1 => Just("{\"content\":\"ab".to_owned()),
        1 => Just("{\"content\":\"ab\\ud800\"}".to_owned()),
    ]
}

fn query() -> impl Strategy<Value = JournalQuery> {
    let regex = prop_oneof![
        Just("/a.b/"),
        Just("/^a/"),
        Just("/b$/i"),
        Just("/[^a]\"/"),
        Just("/\\bA/i"),
        Just("/(?s)a.+t/"),
        Just("/a{2}/"),
    ];
    // Text between slashes is read as a regular expression too, and one that is none is an error.
    let text = TEXT.prop_filter("not a regular expression", |text| {
        expression(text).is_none_or(|pattern| regex::Regex::new(&pattern).is_ok())
    });
    let q = prop_oneof![6 => text, 2 => regex.prop_map(str::to_owned)];
    let mode = prop_oneof![Just(Mode::Hybrid), Just(Mode::Rg), Just(Mode::Jq)];
    (q, mode, 1_usize..6, 1_usize..12).prop_map(|(q, mode, limit, window_lines)| JournalQuery {
        limit: Some(limit),
        window_lines: Some(window_lines),
        mode: Some(mode),
        ..JournalQuery::new(q)
    })
}

/// The contract, read line by line and window by window.
fn reference(text: &str, query: &JournalQuery) -> (Vec<Value>, bool, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let (limit, mut window) = (query.limit.unwrap(), query.window_lines.unwrap());
    loop {
        let from = lines.len().saturating_sub(window);
        let matching: Vec<Value> = lines[from..]
            .iter()
            .rev()
            .filter_map(|line| match serde_json::from_str(line) {
                Ok(Value::Object(fields)) => Some((line, Value::Object(fields))),
                _ => None,
            })
            .filter(|(line, record)| is_match(line, record, query))
            .map(|(_, record)| record)
            .collect();
        if matching.len() >= limit || window >= journal::MAX_WINDOW {
            let truncated = matching.len() > limit;
            let results = matching.into_iter().take(limit).collect();
            return (results, truncated, window);
        }
        window = (window * 4).min(journal::MAX_WINDOW);
    }
}

/// The regular expression that a query asks for, where it asks for one.
fn expression(query: &str) -> Option<String> {
    let inner =
        |end| query.strip_prefix('/')?.strip_suffix(end).filter(|inner: &&str| !inner.is_empty());
    match (inner("/i"), inner("/")) {
        (Some(pattern), _) => Some(format!("(?i){pattern}")),
        (None, pattern) => pattern.map(str::to_owned),
    }
}

fn is_match(line: &str, record: &Value, query: &JournalQuery) -> bool {
    let regex = expression(&query.q).map(|pattern| regex::Regex::new(&pattern).unwrap());
    let is_in = |text: &str| match &regex {
        Some(regex) => regex.is_match(text),
        None => text.contains(&query.q),
    };
    let decoded = || {
        ["content", "type", "tags", "meta"].iter().any(|field| any_text(&record[*field], &is_in))
    };
    // Nobody writes the plainest characters in another way, so that hybrid does not look for it.
    let is_plain = |c: char| matches!(c, ' '..='~') && !"\"\\/<>&'+`=".contains(c);
    let is_read_whole = regex.is_some() || !query.q.chars().all(is_plain);
    match query.mode.unwrap() {
        Mode::Rg => is_in(line),
        Mode::Jq => decoded(),
        Mode::Hybrid => is_in(line) || (is_read_whole && decoded()),
    }
}

fn any_text(value: &Value, is_in: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_in(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, is_in)),
        Value::Object(fields) => fields.values().any(|field| any_text(field, is_in)),
        _ => false,
    }
}

fn values(found: &SearchResults) -> Vec<Value> {
    let texts = found.results.iter().map(|result| result.get());
    texts.map(|text| serde_json::from_str(text).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_search_finds_what_a_slow_one_finds(
        lines in prop::collection::vec(line(), 0..40),
        ends in any::<bool>(),
        query in query(),
    ) {
        // Half a character as a query is a fault, not a search.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        let text = lines.join("\n") + if ends { "\n" } else { "" };
        std::fs::write(&path, &text).unwrap();
        let found = journal::search(&path, &query).unwrap();
        let (results, truncated, window) = reference(&text, &query);
        prop_assert_eq!(values(&found), results);
        prop_assert_eq!((found.truncated, found.used_window_lines), (truncated, window));
    }

    #[test]
    fn no_bytes_make_a_search_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), q in ".{0,8}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        for mode in [Mode::Hybrid, Mode::Rg, Mode::Jq] {
            let query = JournalQuery { mode: Some(mode), ..JournalQuery::new(q.clone()) };
            // A regular expression that is none is an error, and that is all it may be.
            let _answer = journal::search(&path, &query).is_ok();
        }
        let _answer = journal::statistics(&path).is_ok();
    }
}

/// A few thousand lines in which each query matches some, and some of the lines are broken.
fn generated() -> String {
    let words =
        ["Python", "pantry", "\"quoted\"", "caf\u{e9}", "a/b", "TODO", "line\nbreak", "tab\t"];
    (0..3000_usize)
        .map(|number| {
            let content = format!("{} {} {number}", words[number % 8], words[number * 7 % 5]);
            match number % 100 {
                17 => "{\"torn\": \"Python".to_owned(),
                18 => "Python TODO a/b".to_owned(),
                _ => serde_json::json!({"ts": "T", "type": "note", "content": content, "tags": [words[number % 3]]}).to_string(),
            }
        })
        .map(|line| line + "\n")
        .collect()
}

#[test]
fn a_search_finds_what_rg_and_jq_find() {
    if !require("rg") || !require("jq") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    std::fs::write(&path, generated()).unwrap();
    for q in ["Python", "pantry 1", "caf\u{e9}", "\\\"quoted\\\"", "TODO", "absent"] {
        let raw =
            JournalQuery { limit: Some(10_000), mode: Some(Mode::Rg), ..JournalQuery::new(q) };
        let found = values(&journal::search(&path, &raw).unwrap());
        let script =
            r#"{ rg -F -e "$2" "$1" || true; } | jq -cR 'fromjson? | select(type == "object")'"#;
        assert_eq!(found, piped(script, &path, q), "rg {q:?}");
    }
    for q in ["Python", "\"quoted\"", "line\nbreak", "caf\u{e9}", "\t", "absent"] {
        let decoded =
            JournalQuery { limit: Some(10_000), mode: Some(Mode::Jq), ..JournalQuery::new(q) };
        let found = values(&journal::search(&path, &decoded).unwrap());
        let script = r#"jq -cR --arg q "$2" 'fromjson? | select(type == "object")
            | select([.content, .type, (.tags, .meta | ..)] | map(strings) | any(contains($q)))' "$1""#;
        assert_eq!(found, piped(script, &path, q), "jq {q:?}");
    }
}

/// What a shell pipeline prints, the latest first.
fn piped(script: &str, path: &Path, q: &str) -> Vec<Value> {
    let output = Command::new("sh").args(["-c", script, "sh"]).arg(path).arg(q).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().rev().map(|line| serde_json::from_str(line).unwrap()).collect()
}
