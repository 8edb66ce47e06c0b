use proptest::prelude::*;

use super::*;
use crate::error::Problem;
use crate::project::OpenRequest;
use crate::project::fixture::Tree;

const FILE: &str = "# Decisions\n\n## Recent (last 30 days)\n- One\n\n## 2026-02\n\n### 2026-02-17 \u{2014} B\n\n- **Why:** x\n\n### 2026-02-11 \u{2014} A\n\n- **Why:** y\n\n## 2026-01\n\n### 2026-01-05 \u{2014} Z\n";

fn project(tree: &Tree) -> Project {
    Project::open(OpenRequest {
        directory: tree.at(""),
        environment: std::iter::once(("ANNALS_NOW".to_owned(), "2026-03-01T12:00:00Z".to_owned()))
            .collect(),
        ..OpenRequest::default()
    })
    .unwrap()
}

fn decision(date: &str, title: &str) -> NewDecision {
    NewDecision {
        date: date.to_owned(),
        title: title.to_owned(),
        why: Some("Because".to_owned()),
        impact: Some("Much".to_owned()),
        evidence: "https://example.org/a/pull/1".to_owned(),
        ..NewDecision::default()
    }
}

fn applied(text: &str, decisions: &[NewDecision]) -> (String, Vec<Problem>) {
    let tree = Tree::new(&[]);
    tree.write("src/main.rs", "x");
    let mut problems = Problems::default();
    let text = apply(&project(&tree), text, decisions, &mut problems).unwrap();
    (text, problems.all)
}

/// Returns the text with another rollup, and what is wrong with it.
fn rolled(text: &str, bullets: &[String]) -> (String, Vec<Problem>) {
    let mut problems = Problems::default();
    (with_rollup(text, bullets, &mut problems), problems.all)
}

fn entry(date: &str, title: &str) -> String {
    format!(
        "### {date} \u{2014} {title}\n\n- **Why:** Because\n- **Impact:** Much\n- **Evidence:** https://example.org/a/pull/1\n"
    )
}

#[test]
fn an_entry_goes_into_its_month_newest_first() {
    for (date, before) in [
        ("2026-02-20", "### 2026-02-17"),
        ("2026-02-17", "### 2026-02-17"),
        ("2026-02-12", "### 2026-02-11"),
        ("2026-01-31", "### 2026-01-05"),
    ] {
        let text = applied(FILE, &[decision(date, "New")]).0;
        assert_eq!(
            text,
            FILE.replace(before, &format!("{}\n{before}", entry(date, "New"))),
            "{date}"
        );
    }
    let text = applied(FILE, &[decision("2026-02-01", "New")]).0;
    assert_eq!(
        text,
        FILE.replace("## 2026-01\n", &format!("{}\n## 2026-01\n", entry("2026-02-01", "New")))
    );
}

#[test]
fn a_missing_month_is_inserted_in_order() {
    let month = |name: &str, date: &str| format!("## {name}\n\n{}", entry(date, "New"));
    let text = applied(FILE, &[decision("2026-03-01", "New")]).0;
    assert_eq!(
        text,
        FILE.replace("## 2026-02\n", &format!("{}\n## 2026-02\n", month("2026-03", "2026-03-01")))
    );
    let text = applied(FILE, &[decision("2025-12-24", "New")]).0;
    assert_eq!(text, format!("{FILE}\n{}", month("2025-12", "2025-12-24")));
    let foreign = "# Log\n\n## D-001 \u{b7} 2026-02-01 \u{b7} Use tabs\n\n- because";
    let text = applied(foreign, &[decision("2026-03-01", "New")]).0;
    assert_eq!(text, format!("{foreign}\n\n{}", month("2026-03", "2026-03-01")));
}

#[test]
fn every_problem_has_its_pointer() {
    let without = |evidence: &str| NewDecision {
        evidence: evidence.to_owned(),
        ..decision("2026-02-17", "C")
    };
    for (one, pointers) in [
        (decision("2026-02-30", "C"), vec!["/decisions/0/date"]),
        (decision("2026-03-03", "C"), vec!["/decisions/0/date"]),
        (decision("2026-02-17", "b"), vec!["/decisions/0/title"]),
        (without("see the chat"), vec!["/decisions/0/evidence"]),
        (without("src/main.rs"), vec!["/decisions/0/evidence"]),
        (without("../x.rs (on-disk invariant)"), vec!["/decisions/0/evidence"]),
        (without("src/gone.rs (on-disk invariant)"), vec!["/decisions/0/evidence"]),
        (without("84e9493"), vec!["/decisions/0/evidence"]),
        (without("`src/main.rs` (on-disk invariant)"), vec![]),
    ] {
        let (text, problems) = applied(FILE, &[one]);
        let found: Vec<_> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(found, pointers, "{problems:?}");
        assert_eq!(text != FILE, pointers.is_empty());
    }
}

#[test]
fn repeated_entries_are_recognised() {
    let decisions = [decision("2026-02-20", "New"), decision("2026-03-01", "# Odd\ntitle")];
    let (once, problems) = applied(FILE, &decisions);
    assert_eq!(problems, []);
    assert_eq!(applied(&once, &decisions), (once, Vec::new()));
}

#[test]
fn a_rollup_replaces_the_old_one() {
    let five: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let text = rolled(FILE, &five).0;
    assert_eq!(text, FILE.replace("- One\n", "- a\n- b\n- c\n"));
    let mixed = FILE.replace("- One\n", "- One\n\nmine\n\n- Two\n");
    let (text, problems) = rolled(&mixed, &five);
    assert!(problems[0].message.contains("text among its bullets"), "{problems:?}");
    assert_eq!(text, mixed);
    let loose = "## Recent (last 30 days)\nIn short:\n\n- One\n\n- Two\n  more\n\nAnd so on.\n\n## 2026-02\n";
    let text = rolled(loose, &five).0;
    assert_eq!(
        text,
        "## Recent (last 30 days)\nIn short:\n\n- a\n- b\n- c\n\nAnd so on.\n\n## 2026-02\n"
    );
    let foreign = "# Log\n\nProse.\n\n## D-001\n";
    let text = rolled(foreign, &five).0;
    assert_eq!(text, "# Log\n\nProse.\n\n## Recent (last 30 days)\n- a\n- b\n- c\n\n## D-001\n");
    assert_eq!(rolled(&text, &five).0, text);
}

fn any_file() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(FILE.to_owned()),
        Just(FILE.replace('\n', "\r\n")),
        Just(String::new()),
        Just("# Log\n\n## 2026-02-03\n\n### Use tabs\nwhy\n\n## 2026-02-10\n- (2026-02-11) Other - why\n".to_owned()),
        Just("## 2026-01\n\n### 2026-01-02 - A\n```\n### 2026-01-01 - not one\n".to_owned()),
        "[-#*`> a\n1.2026()|]{0,60}",
    ]
}

fn entries(text: &str) -> Vec<(String, String)> {
    let day = |entry: &DecisionEntry| entry.date.map(|date| date.to_string()).unwrap_or_default();
    let found = Decisions::parse(text).entries;
    found.iter().map(|entry| (day(entry), entry.title.clone())).collect()
}

#[test]
fn entries_of_every_format_are_parsed() {
    for (text, title) in [
        ("## 2026-02\n### 2026-02-17 \u{2014} Keep tabs\n- **Why:** x\n", "Keep tabs"),
        ("### 2026-02-17 - Keep tabs\n", "Keep tabs"),
        ("### 2026-02-17: Keep tabs\n", "Keep tabs"),
        ("## D-001 \u{b7} 2026-02-17 \u{b7} Keep tabs\n", "Keep tabs"),
        ("## 2026-02-17\n\n### Keep tabs\ntext\n", "Keep tabs"),
        ("## Keep tabs\n\n**Date:** 2026-02-17\n", "Keep tabs"),
        ("## Keep tabs (2026-02-17)\n", ")"),
    ] {
        let found = entries(&format!("# Decisions\n\n{text}"));
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        assert_eq!(found[0].0, "2026-02-17", "{text:?}");
        if title != ")" {
            assert_eq!(found[0].1, title, "{text:?}");
        }
    }
}

#[test]
fn rollup_months_and_entries_are_parsed() {
    let text = "# Decisions\n\n## Recent (last 30 days)\n- (2026-02-01) one\n  more\n- two\n\n## 2026-02\n\n### 2026-02-17 \u{2014} B\n- x\n\n### 2026-02-11 \u{2014} A\n\n## 2026-01\n";
    let found = Decisions::parse(text);
    let rollup = found.rollup.clone().unwrap();
    let filled: Vec<_> = rollup.filled().map(|bullet| bullet.text.as_str()).collect();
    assert_eq!(filled, ["(2026-02-01) one more", "two"]);
    assert_eq!(&text[rollup.bullets[0].lines.clone()], "- (2026-02-01) one\n  more\n");
    let names: Vec<_> = found.months.iter().map(|month| month.name.as_str()).collect();
    assert_eq!(names, ["2026-02", "2026-01"]);
    assert_eq!(found.entries_of(&found.months[0]).count(), 2);
    assert_eq!(found.entries.len(), 2);
    assert!(found.entries[0].is_standard);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_sequence_of_entries_and_rollups_loses_an_entry(
        file in any_file(),
        days in prop::collection::vec((1u32..4, 1u32..29, "[a-c #`-]{1,3}", any::<bool>()), 1..6),
    ) {
        let mut text = file;
        for (month, day, title, rolls) in days {
            let before = Decisions::parse(&text);
            let bodies: Vec<String> = before.entries.iter().map(|entry| text[entry.range.clone()].trim_end().to_owned()).collect();
            let (mut new, _) = applied(&text, &[decision(&format!("2026-{month:02}-{day:02}"), &title)]);
            if rolls {
                let bullets: Vec<String> = (0..7).map(|n| format!("gist {n}")).collect();
                new = rolled(&new, &bullets).0;
            }
            let after = Decisions::parse(&new);
            prop_assert!(after.entries.len() >= before.entries.len(), "{}\n---\n{}", text, new);
            for body in bodies {
                prop_assert!(new.contains(&body), "lost {:?}\n{}", body, new);
            }
            text = new;
        }
    }
}

#[test]
fn a_date_may_follow_a_letter_but_not_a_digit() {
    for (title, at) in
        [("2026-01-02", Some(0)), ("\u{6c7a}\u{5b9a}2026-01-02", Some(6)), ("12026-01-02", None)]
    {
        assert_eq!(find_date(title).map(|(at, ..)| at), at, "{title}");
    }
}
