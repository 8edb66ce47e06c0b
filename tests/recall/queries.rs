//! No query is an error, and nothing in it is an operator.

use std::sync::OnceLock;

use annals::project::{OpenRequest, Project};
use annals::recall::{RecallQuery, recall};
use proptest::prelude::*;

use crate::support::Case;

fn project() -> (Case, Project) {
    let case = Case::empty();
    case.write(
        ".planning/PROJECT.md",
        "# P\n\n- a - \"quoted\" * AND b\n- 再試行 🚀 مرحبا שלום\n- col:umn (paren) ^caret {brace}\n",
    );
    let project =
        Project::open(OpenRequest { directory: case.root().to_owned(), ..OpenRequest::default() });
    (case, project.unwrap())
}

fn found(project: &Project, text: &str) -> usize {
    let query = RecallQuery { include_irrelevant: true, ..RecallQuery::new(text).unwrap() };
    recall(project, &query).unwrap().value.hits.len()
}

#[test]
fn operators_and_any_script_are_plain_text() {
    let (_case, project) = project();
    for query in [
        "\"", "'", "-", "*", "a*", "-a", "AND", "OR", "NOT", "NEAR(a b)", "a AND", "col:umn",
        "(paren", "^caret", "{brace}", "a\0b", "\u{1b}[31m", "🚀", "مرحبا", "שלום", "\u{202e}abc",
        "再", "é", "e\u{301}", "%", "_", ";", "DROP TABLE words", "words MATCH 'x'", "$1", "?1",
        "\u{feff}", "\\", "a\nb",
    ] {
        found(&project, query);
    }
    assert!(found(&project, "\"quoted\"") > 0);
    assert!(found(&project, "-paren*") > 0);
    assert!(found(&project, "שלום") > 0);
}

#[test]
fn a_page_of_text_is_a_query_too() {
    let (_case, project) = project();
    let words: Vec<String> = (0..2500).map(|n| format!("w{n}")).collect();
    let words = words.join(" ");
    let quoted = format!("{words} \"quoted\"");
    assert!(quoted.len() > 10_000);
    found(&project, &quoted);
    assert!(found(&project, &format!("quoted {words}")) > 0);
    found(&project, &"x".repeat(10_000));
    found(&project, &"再".repeat(10_000));
    found(&project, &"\"".repeat(10_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_query_is_an_error(text in any::<String>(), signs in "[\"'*()^:{}A-Z -]{1,40}") {
        static INDEXED: OnceLock<(Case, Project)> = OnceLock::new();
        let (_, project) = INDEXED.get_or_init(project);
        for text in [text, signs] {
            if let Ok(query) = RecallQuery::new(&text) {
                let found = recall(project, &query);
                prop_assert!(found.is_ok(), "{found:?}");
            }
        }
    }
}
