//! The user's facts among the hits: queried each time, never stored in the project.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::{answer, call, session};
use crate::support::Case;

fn with_facts() -> Case {
    let case = Case::empty();
    case.write(".planning/PROJECT.md", "# P\n\n- the editor saves at once\n- pears are green\n");
    for line in [
        "--user ada --key preference.editor --value helixeditor",
        "--user ada --key preference.indent --value tabs",
        "--user grace --key preference.editor --value emacsforever",
    ] {
        case.run(&format!("facts add {line}")).success();
    }
    case
}

fn found(case: &Case, user: Option<&str>, line: &str) -> Vec<Value> {
    let mut run = case.run(line);
    if let Some(user) = user {
        run = run.env("ANNALS_USER", user);
    }
    let run = run.success();
    assert_eq!(run.stderr(), "", "{}", run.report());
    run.json()["hits"].as_array().unwrap().clone()
}

fn of_facts(hits: &[Value]) -> Vec<&str> {
    let facts = hits.iter().filter(|hit| hit["source"] == "facts");
    facts.map(|hit| hit["snippet"].as_str().unwrap()).collect()
}

#[test]
fn facts_are_ranked_among_the_projects_texts() {
    let case = with_facts();
    let hits = found(&case, Some("ada"), "recall --json editor");
    assert_eq!(of_facts(&hits)[0], "preference.editor: helixeditor");
    assert!(hits.iter().any(|hit| hit["source"] == "plan"), "{hits:?}");
    let fact = hits.iter().find(|hit| hit["source"] == "facts").unwrap();
    assert_eq!(fact["date"], "2026-03-01");
    assert!(fact["id"].is_string() && fact["file"].is_null());
    let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, next| one >= next), "{scores:?}");
    let plan = found(&case, Some("ada"), "recall --json pears");
    assert_eq!(plan[0]["source"], "plan", "what fits better is first: {plan:?}");
}

#[test]
fn only_facts_are_searched_on_request() {
    let case = with_facts();
    let hits = found(&case, Some("ada"), "recall --json --in facts indent");
    assert_eq!(of_facts(&hits)[0], "preference.indent: tabs");
    assert_eq!(of_facts(&hits).len(), hits.len());
    let page =
        case.run("recall --in facts --limit 1 indent").env("ANNALS_USER", "ada").success().stdout();
    assert!(page.starts_with("your facts (facts, "), "{page}");
    assert!(page.contains("    preference.indent: tabs\n"), "{page}");
    let nobody = case.run("recall --in facts indent").code(2);
    assert!(nobody.stderr().contains("no user is set"), "{}", nobody.report());
}

#[test]
fn the_users_own_name_answers_no_question_about_something_else() {
    let case = with_facts();
    for (key, value) in [("name", "Ada Byron"), ("work.role", "data engineer at a hospital")] {
        case.run("facts add --user ada --key").args([key, "--value", value]).success();
    }
    let retrieved = |question: &str| {
        let run = case.run("facts retrieve --user ada --query").args([question]);
        run.success().stdout()
    };
    for question in ["who is Ada", "what is Ada's full name"] {
        assert!(retrieved(question).contains("  name: Ada Byron"), "{question}");
        let page = case.run("recall").args([question]).env("ANNALS_USER", "ada").success().stdout();
        assert!(page.contains("name: Ada Byron"), "{page}");
    }
    let first = retrieved("what is Ada's job").lines().next().unwrap().to_owned();
    assert!(first.ends_with("work.role: data engineer at a hospital"), "{first}");
    let page = case.run("recall --all what is Ada's job").env("ANNALS_USER", "ada");
    let page = page.success().stdout();
    assert!(page.contains("work.role") && !page.contains("name: Ada"), "{page}");
}

#[test]
fn a_user_sees_no_facts_of_another_and_nobody_sees_none() {
    let case = with_facts();
    let everything = "recall --json --limit 100 editor";
    let grace = found(&case, Some("grace"), everything);
    assert_eq!(of_facts(&grace), ["preference.editor: emacsforever"]);
    let ada = found(&case, Some("ada"), everything);
    assert!(!format!("{ada:?}").contains("emacsforever"));
    assert_eq!(of_facts(&found(&case, None, everything)), [""; 0]);
    assert_eq!(of_facts(&found(&case, Some("mallory"), everything)), [""; 0]);
    assert_eq!(of_facts(&found(&case, Some("ada"), "recall --json --in plan editor")), [""; 0]);
}

#[test]
fn no_file_of_the_project_contains_a_fact() {
    let case = with_facts();
    for query in ["editor", "helixeditor", "indent"] {
        found(&case, Some("ada"), &format!("recall --json --limit 50 {query}"));
    }
    let mut files = 0;
    for file in fs::read_dir(case.root().join(".annals")).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            files += 1;
            let bytes = fs::read(&path).unwrap();
            for fact in ["helixeditor", "preference", "emacsforever"] {
                let is_there = bytes.windows(fact.len()).any(|part| part == fact.as_bytes());
                assert!(!is_there, "{fact} in {}", path.display());
            }
        }
    }
    assert!(files > 1, "the cache is there");
}

#[test]
fn an_unavailable_database_does_not_hide_other_stores() {
    let case = with_facts();
    case.write("broken.db", "no database at all ".repeat(100));
    let run = case
        .run("recall --json pears")
        .env("ANNALS_USER", "ada")
        .env("ANNALS_DB", case.root().join("broken.db").to_str().unwrap())
        .success();
    assert_eq!(run.json()["hits"][0]["source"], "plan");
    assert!(run.stderr().contains("facts are not included"), "{}", run.report());
    case.run("recall --in facts pears")
        .env("ANNALS_USER", "ada")
        .env("ANNALS_DB", case.root().join("broken.db").to_str().unwrap())
        .code(1);
}

#[test]
fn the_ranking_of_facts_does_not_depend_on_the_project() {
    let case = with_facts();
    let scores = || -> Vec<Value> {
        let line = "recall --json --in facts tabs,helixeditor";
        let hits = found(&case, Some("ada"), line);
        hits.iter().map(|hit| hit["score"].clone()).collect()
    };
    let before = scores();
    assert_eq!(before.len(), 2);
    let all: Vec<String> =
        (0..50).map(|number| format!("- tabs are wider than {number} spaces")).collect();
    let all = all.join("\n");
    case.write(".planning/STATE.md", format!("# S\n\n{all}\n"));
    assert_eq!(scores(), before);
}

#[test]
fn a_pending_fact_is_marked_wherever_it_is_found_and_comes_after_the_one_that_holds() {
    let case = Case::empty();
    case.write("../home/.config/annals/config.toml", "user = \"ada\"\n");
    for value in ["the harbour", "a house by the river"] {
        case.run("facts add --key home.address --value").args([value]).success();
    }
    let query = "address of the house";
    let hits = found(&case, None, &format!("recall --json {query}"));
    let marked: Vec<String> =
        hits.iter().map(|hit| format!("{} {}", hit["snippet"], hit["flags"])).collect();
    assert_snapshot!(marked.join("\n"), @r#"
    "home.address: the harbour" ["low-confidence"]
    "home.address: a house by the river" ["low-confidence","pending"]
    "#);
    let calls = ["recall", "fact_retrieve"].map(|tool| call(1, tool, &json!({"query": query})));
    for one in &calls {
        let session = session(&case, "mcp --tools all", std::slice::from_ref(one));
        let told = answer(&session, 1)["result"]["content"][0]["text"].clone();
        let told = told.as_str().unwrap();
        let [holds, proposed] = ["the harbour", "a house"].map(|value| told.find(value));
        assert!(holds < proposed, "{told}");
        assert_eq!(told.matches("pending").count(), 1, "{told}");
    }
    let retrieved = case.run("facts retrieve --query").args([query]).success().stdout();
    let lines: Vec<&str> = retrieved.lines().map(|line| &line[10..]).collect();
    assert_snapshot!(lines.join("\n"), @r"
    0.40  home.address: the harbour
    0.40  home.address: a house by the river  (pending_confirmation)
    ");
}
