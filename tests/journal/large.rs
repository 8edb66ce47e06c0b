//! Contents and lines of any size.

use serde_json::json;

use crate::support::Case;

#[test]
fn a_mebibyte_of_anything_comes_back_as_it_was() {
    let case = Case::empty();
    for unit in ["x", "\u{0}", "\u{1f600}"] {
        let content = unit.repeat(1024 * 1024 / unit.len());
        let input = json!({"content": content}).to_string();
        case.run("journal write").stdin(input).success();
        let found = case
            .run("journal search")
            .stdin(json!({"q": &content[..unit.len() * 8], "limit": 1}).to_string());
        assert_eq!(found.success().json()["results"][0]["content"], content, "{unit:?}");
    }
    let text = std::fs::read_to_string(case.home().join(".codex/memory.jsonl")).unwrap();
    assert_eq!(text.split('\n').count(), 4);
    let many = case.run("journal search").args([""]).success().json();
    assert_eq!(many["truncated"], true, "4 MiB are given at once");
    assert!(!many["results"].as_array().unwrap().is_empty());
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let case = Case::empty();
    let long = format!("{{\"content\":\"needle {}\"}}\n", "x".repeat(9 * 1024 * 1024));
    case.write(
        "memory.jsonl",
        format!("{{\"content\":\"needle first\"}}\n{long}{{\"content\":\"needle last\"}}\n"),
    );
    let file = case.root().join("memory.jsonl");
    let found = case.run("journal search needle").env("MEMORY_FILE", &file).success().json();
    assert_eq!(found["results"], json!([{"content": "needle last"}, {"content": "needle first"}]));
    let tail = case.run("journal tail -n 2").env("MEMORY_FILE", &file).success();
    assert_eq!(tail.stdout().lines().count(), 2);
    let written = case.run("journal write").stdin(long).code(1);
    assert!(written.stdout().contains("larger than 8 MiB"), "{}", written.report());
}

#[test]
fn a_million_lines_back_the_search_stops() {
    let case = Case::empty();
    let lines =
        format!("{{\"content\":\"old\"}}\n{{\"content\":\"edge\"}}\n{}", "{}\n".repeat(999_999));
    case.write("memory.jsonl", lines);
    let file = case.root().join("memory.jsonl");
    let search =
        |q: &str| case.run("journal search").args([q]).env("MEMORY_FILE", &file).success().json();
    let nothing = json!({"results": [], "truncated": false, "used_window_lines": 1_000_000});
    assert_eq!(search("old"), nothing);
    assert_eq!(search("edge")["results"], json!([{"content": "edge"}]));
    let wider = case.run("journal search old --window-lines 1000001").env("MEMORY_FILE", &file);
    assert_eq!(wider.success().json()["used_window_lines"], 1_000_001);
}
