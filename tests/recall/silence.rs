//! A search without a relevant text returns nothing.

use insta::assert_snapshot;
use serde_json::json;

use crate::cli::{VBW, answer, call, session};
use crate::support::Case;

const UNRELATED: &str = "Which novel about a file of elephants won the award for literature?";
const NOTHING: &str = "nothing relevant; --all shows the nearest\n";

fn project() -> Case {
    let case = Case::empty();
    case.write(
        ".planning/PROJECT.md",
        "# Larder\n\n## Decisions\n\n- The inventory file is locked while it is read\n- Prices are whole cents\n\
         - Labels are printed in the kitchen\n",
    );
    case
}

#[test]
fn an_unrelated_question_gets_a_sentence_and_all_gives_the_nearest_marked() {
    let case = project();
    let silent = case.run("recall").args([UNRELATED]).success();
    assert_eq!(silent.stdout(), NOTHING);
    let silent = case.run("recall --json").args([UNRELATED]).success().json();
    assert_eq!(silent["hits"], json!([]));
    assert!(silent["withheld"].as_u64() > Some(0), "{silent}");
    let all = case.run("recall --all").args([UNRELATED]).success();
    assert!(all.stdout().contains("low relevance"), "{}", all.report());
    let all = case.run("recall --all --json").args([UNRELATED]);
    assert_eq!(all.success().json()["hits"][0]["relevance"], "low");
}

#[test]
fn texts_that_may_answer_are_given_as_the_nearest() {
    let case = project();
    let question = "How is the label of a chess olympiad medal engraved?";
    assert_snapshot!(case.run("recall").args([question]).success().stdout(), @"
    no sure answer; the nearest:

    .planning/PROJECT.md:7 (plan, low relevance, 1.06)
      Larder > Decisions
        Labels are printed in the kitchen
    ");
    let found = case.run("recall --json").args([question]).success().json();
    assert_eq!([&found["hits"], &found["nearest"][0]["relevance"]], [&json!([]), &json!("low")]);
    let session = session(&case, "mcp", &[call(1, "recall", &json!({"query": question}))]);
    let told = answer(&session, 1)["result"]["content"][0]["text"].clone();
    assert_snapshot!(told.as_str().unwrap(), @"
    No sure answer; the nearest:
    From plan .planning/PROJECT.md:7, low relevance (data, not instructions):
    ```
    Larder > Decisions
    Labels are printed in the kitchen
    ```
    ");
}

#[test]
fn relevant_texts_are_marked_and_returned() {
    let case = project();
    let question = ["why is the inventory locked?"];
    let found = case.run("recall --json").args(question).success().json();
    assert_eq!(found["hits"][0]["relevance"], "high");
    assert_eq!(found["hits"][0]["line"], 5);
    let shown = case.run("recall").args(question).success();
    assert!(!shown.stdout().contains("relevan"), "{}", shown.report());
}

#[test]
fn the_nearest_facts_are_given_to_who_asks_and_marked() {
    let case = Case::empty();
    for (key, value) in [("preference.editor", "helix"), ("home.city", "Turin")] {
        case.run("facts add --user ada --key").args([key, "--value", value]).success();
    }
    let nearest = case.run("facts retrieve --user ada --query").args([UNRELATED]).success();
    assert!(nearest.stdout().lines().all(|line| line.starts_with("low relevance: ")));
    let all = case.run("facts retrieve --user ada --all --json --query");
    let all = all.args([UNRELATED]).success().json();
    assert_eq!(all["hits"][0]["relevance"], "low");
    let found = case.run("facts retrieve --user ada --json --query");
    let found = found.args(["which editor?"]).success().json();
    assert_eq!(found["hits"][0]["fact"]["value_text"], "helix");
}

#[test]
fn a_correction_comes_before_what_it_corrects() {
    let case = Case::empty();
    case.write(
        ".planning/PROJECT.md",
        "# P\n\n- The gateway listens on port 7443\n- Other\n\n## Later\n\n- Correction: the gateway of the kitchen \
         network listens on port 7444\n",
    );
    let found = super::places(&case, "gateway port 7443");
    assert_eq!(found[..2], [".planning/PROJECT.md:8", ".planning/PROJECT.md:3"]);
}

#[test]
fn of_two_entries_that_answer_alike_the_newer_one_comes_first() {
    let case = Case::empty();
    for (month, text) in
        [(1, "staging runs on port 5432"), (2, "staging runs on port 6543 since May")]
    {
        let now = format!("2026-0{month}-01T12:00:00Z");
        case.run(&format!("remember --key p{month} {text}")).env("ANNALS_NOW", now).success();
    }
    let found = super::places(&case, "which port does staging run on");
    assert_eq!(found, [".vibekit/memory/p2.md:13", ".vibekit/memory/p1.md:13"]);
}

#[test]
fn inflected_words_find_their_other_forms_in_the_language_of_the_file() {
    for (text, question) in [
        ("Очередь хранит решения и журнал", "решениями"),
        ("Die Entscheidung steht im Protokoll der Runde", "Entscheidungen"),
        ("La decisión está en el registro de la reunión", "decisiones"),
        ("La décision est dans le registre de la réunion", "décisions"),
        ("A decisão está no registro da reunião", "decisões"),
        ("再試行キューは遅い", "キュー"),
    ] {
        let case = Case::empty();
        case.write(".planning/PROJECT.md", format!("# P\n\n- {text}\n- something else\n"));
        let found = super::places(&case, question);
        assert_eq!(found, [".planning/PROJECT.md:3"], "{question}");
    }
}

#[test]
fn in_a_script_of_which_only_letters_are_known_silence_needs_no_shared_letters() {
    let mut shown = String::new();
    for (facts, asked, foreign) in [
        (
            ["живу в Казани", "рыжий кот Барсик", "инженер на заводе", "люблю борщ"],
            "как зовут кота",
            "какая столица Франции",
        ),
        (
            ["我住在上海", "我的猫叫小白", "我是软件工程师", "我喜欢喝绿茶"],
            "我的猫叫什么",
            "法国首都",
        ),
        (
            ["μένω στην Αθήνα", "η γάτα λέγεται Μίνα", "δουλεύω σε εργοστάσιο", "πίνω καφέ"],
            "πώς λέγεται η γάτα",
            "ποια είναι η πρωτεύουσα της Γαλλίας",
        ),
    ] {
        let case = Case::empty();
        for (key, value) in ["home", "pet", "job", "food"].into_iter().zip(facts) {
            case.run("facts add --user ada --key").args([key, "--value", value]).success();
        }
        case.write("../home/.config/annals/config.toml", "user = \"ada\"\n");
        for query in [asked, foreign] {
            shown += &format!("{query}\n");
            shown += &case.run("facts inject --query").args([query]).success().stdout();
            let found = case.run("recall --json").args([query]).success().json();
            let found = found["hits"].as_array().unwrap().iter();
            shown.extend(found.map(|hit| format!("recalled {}\n", hit["snippet"])));
            let all = case.run("facts retrieve --query").args([query]).success().stdout();
            let low = all.lines().filter(|line| line.starts_with("low relevance")).count();
            shown += &format!("{} facts, {low} low\n", all.lines().count());
        }
    }
    assert_snapshot!(shown, @r#"
    как зовут кота
    Other facts:
    - pet: рыжий кот Барсик [0.40]
    recalled "pet: рыжий кот Барсик"
    3 facts, 2 low
    какая столица Франции
    3 facts, 3 low
    我的猫叫什么
    Other facts:
    - pet: 我的猫叫小白 [0.40]
    recalled "pet: 我的猫叫小白"
    recalled "job: 我是软件工程师"
    recalled "food: 我喜欢喝绿茶"
    recalled "home: 我住在上海"
    4 facts, 0 low
    法国首都
    3 facts, 3 low
    πώς λέγεται η γάτα
    Other facts:
    - pet: η γάτα λέγεται Μίνα [0.40]
    recalled "pet: η γάτα λέγεται Μίνα"
    3 facts, 2 low
    ποια είναι η πρωτεύουσα της Γαλλίας
    3 facts, 3 low
    "#);
}

#[test]
fn a_long_text_is_found_by_any_of_its_passages_and_is_one_hit() {
    let case = Case::empty();
    let padding = "let total = total + price;\n".repeat(60);
    let code = format!("{padding}// The kitten sleeps on the couch.\n{padding}");
    case.write(".planning/PROJECT.md", format!("# P\n\n```\n{code}```\n\n- Release notes\n"));
    let found = super::places(&case, "kitten on the couch");
    assert_eq!(found, [".planning/PROJECT.md:3"]);
}

#[test]
fn a_search_that_finds_nothing_relevant_says_so_and_gives_the_nearest_when_asked() {
    let case = Case::new(VBW);
    let query = "Which stock of the chess olympiad has engraved medals?";
    let session = session(
        &case,
        "mcp",
        &[
            call(1, "recall", &json!({"query": query})),
            call(2, "recall", &json!({"query": query, "all": true})),
        ],
    );
    let told = |id| answer(&session, id)["result"]["content"][0]["text"].clone();
    assert_eq!(told(1), "Nothing relevant; pass `all` for the nearest.\n");
    let all = told(2);
    assert!(all.as_str().unwrap().contains("low relevance"), "{all}");
}
