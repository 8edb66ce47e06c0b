//! `annals recall`

use serde_json::json;

use crate::cli::{VBW, assert_error, assert_unchanged};
use crate::support::Case;

#[test]
fn hits_are_cited_and_explained() {
    let case = Case::new(VBW);
    let before = case.tree();
    let run = case.run("recall --limit 1 --explain").args(["two writers at once"]);
    let run = run.env("ANNALS_ENCODER", "true").success();
    let shown = run.stdout();
    assert!(shown.starts_with(".vbw-planning/PROJECT.md:16 (plan, "), "{shown}");
    let hit = "  larderbook > Requirements > Validated\n    Two writers at once (0.2, phase 2.1)\n";
    assert!(shown.contains(hit), "{shown}");
    for part in ["words 0.", "meaning 0.", "late 0.", "encoder 0.", "neighbours 0."] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(shown.ends_with("\nMore results are available; raise --limit.\n"), "{shown}");
    assert_eq!(run.stderr(), "");
    assert_unchanged(&before, &case, &run);
}

#[test]
fn where_nothing_is_relevant_the_places_that_may_answer_are_named() {
    let case = Case::empty();
    case.git_init();
    case.run("remember the gateway listens on 7443").success();
    case.write("packages/api/.planning/STATE.md", "# State\n");
    let said = |line: &str| case.run(line).env("ANNALS_SESSIONS", "true").success().stdout();
    let there = "1 entry of the whole repository: `annals -C [ROOT] recall WORDS`\n";
    let sessions = "`annals recall --in sessions WORDS` searches earlier sessions\n";
    assert_eq!(
        said("-C packages/api recall gateway"),
        format!("nothing relevant; --all shows the nearest\n{there}{sessions}")
    );
    assert!(said("-C packages/api status").ends_with(&format!("Also:       {there}")));
    assert!(said("-C packages/api context").contains(&format!("- Also: {there}")));
    assert_eq!(said("recall --in sessions zebra"), "Nothing found.\n");
}

#[test]
fn where_the_work_stands_is_said_first_as_status_derives_it() {
    let case = Case::new(VBW);
    let status = case.run("status --json").success().json();
    let next = status["next"]["command"].as_str().unwrap();
    let shown = |line: &str| case.run(line).success().stdout();
    let found = shown("recall what should I do next");
    assert!(found.starts_with(&format!("Next action: {next}; phase ")), "{found}");
    for other in ["recall what is phase 1 about", "recall --in entries what is next"] {
        assert!(!shown(other).contains("Next action"), "{other}");
    }
}

#[test]
fn that_nothing_blocks_the_work_is_said_with_its_place_and_nothing_else_is_sure() {
    let case = Case::empty();
    let state = "# State\n\n## Todos\n\n- The guard no longer blocks writes\n\n## Blockers\n\n";
    for (said, shown) in [("None", "None"), ("- [resolved] No key", "- [resolved] No key")] {
        case.write(".planning/STATE.md", format!("{state}{said}\n"));
        for question in ["are there any blockers?", "blockers", "what is blocked right now?"] {
            let run = case.run("recall --no-encoder").args([question]).success();
            assert_eq!(run.stdout(), format!("No blockers (.planning/STATE.md:9: {shown})\n"));
        }
    }
    for text in ["# State\n\nThe guard blocks.\n".to_owned(), format!("{state}- No key\n")] {
        case.write(".planning/STATE.md", text);
        let run = case.run("recall --no-encoder are there any blockers?").success();
        assert!(!run.stdout().contains("No blockers"), "{}", run.stdout());
    }
}

#[test]
fn a_position_that_the_files_contradict_says_so_and_only_its_place_follows() {
    let case = Case::empty();
    case.write(
        ".planning/STATE.md",
        "# State\n\n## Current Position\n\nPhase: 1 of 1 (Base)\nStatus: In progress\n\n## Notes\n\n- What comes next is plan 2\n",
    );
    case.write(".planning/ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Base**\n");
    for file in ["01-01-PLAN.md", "01-01-SUMMARY.md"] {
        case.write(&format!(".planning/phases/01-base/{file}"), "# Base\n");
    }
    let run = case.run("recall --no-encoder what comes next?").success();
    insta::assert_snapshot!(run.stdout(), @r#"
    Next action: /gsd:complete-milestone; phase 1 - Base (complete); .planning/STATE.md:6: the status is "In progress", but the files show "complete"

    .planning/STATE.md:5 (plan, stale, 1.02)
      State > Current Position
        Phase: 1 of 1 (Base)
        Status: In progress
    "#);
}

#[test]
fn what_a_phase_delivered_is_answered_by_its_summaries_and_what_it_is_about_by_the_roadmap() {
    let case = Case::empty();
    case.write(
        ".vbw-planning/ROADMAP.md",
        "# Roadmap\n\n## Phase 1: Till\n\n**Goal:** A till\n\n## Phase 2: Mail\n\n**Goal:** Mails\n\n## Phase 2.1: Fax\n\n**Goal:** Built for fax\n",
    );
    for (folder, built) in [("01-till", "A drawer that opens"), ("02-mail", "Receipts by mail")] {
        case.write(
            &format!(".vbw-planning/phases/{folder}/01-SUMMARY.md"),
            format!("---\nphase: 1\nplan: 1\ntitle: First parts\nstatus: complete\n---\n\n## What Was Built\n\n- {built}\n\n## Deviations\n\n- The parts of phase 2 were delivered late\n"),
        );
    }
    let questions =
        ["what did phase 2 deliver", "what is phase 2 about", "what was built in phase 9"];
    let shown = questions.map(|question| {
        case.run("recall --no-encoder --limit 2").args([question]).success().stdout()
    });
    insta::assert_snapshot!(shown.join("----\n"), @"
    .vbw-planning/phases/02-mail/01-SUMMARY.md:10 (plan, 1.44)
      Phase 2: mail > First parts > What Was Built
        Receipts by mail
    ----
    .vbw-planning/ROADMAP.md:9 (plan, 2.18)
      Roadmap > Phase 2: Mail
        **Goal:** Mails

    .vbw-planning/phases/02-mail/01-SUMMARY.md:10 (plan, 1.66)
      Phase 2: mail > First parts > What Was Built
        Receipts by mail

    More results are available; raise --limit.
    ----
    no sure answer; the nearest:

    .vbw-planning/ROADMAP.md:13 (plan, low relevance, 0.93)
      Roadmap > Phase 2.1: Fax
        **Goal:** Built for fax

    .vbw-planning/phases/01-till/01-SUMMARY.md:10 (plan, low relevance, 0.72)
      Phase 1: till > First parts > What Was Built
        A drawer that opens
    ");
}

#[test]
fn the_parts_of_a_score_add_up() {
    let case = Case::empty();
    case.write(".planning/STATE.md", "# State\n\n## Blockers\n\n- The key is late\n");
    let run = case.run("recall --explain --no-encoder").args(["What is blocking us?"]).success();
    insta::assert_snapshot!(run.stdout(), @"
    .planning/STATE.md:5 (plan, 2.00)
      State > Blockers
        The key is late
      (words 0.00 + meaning 0.25 + late 0.40 + encoder 0.00) x 1.00 + neighbours 0.00 + recency 0.000 + place 1.35
    ");
}

#[test]
fn more_results_are_named_only_if_a_higher_limit_shows_them() {
    let case = Case::empty();
    let bullets: Vec<String> =
        (1..=3).map(|n| format!("- The bolt backup of shelf {n} runs at night\n")).collect();
    // No more than two hits are of one section.
    case.write("docs/memory/DECISIONS.md", format!("# Decisions\n\n{}", bullets.concat()));
    for n in 1..=12 {
        let text = format!("# Shelf {n}\n\nA shelf of {n} planks.\n");
        case.write(&format!("docs/memory/shelves/{n}.md"), text);
    }
    let more = |options: &str| {
        let run = case.run(&format!("recall --json {options} --in ledger bolt backup"));
        run.success().json()["truncated"].clone()
    };
    let all = ["", "--limit 1", "--limit 2", "--limit 100"].map(more);
    assert_eq!(json!(all), json!([false, true, false, false]));
}

#[test]
fn a_hit_as_json_has_all_fields() {
    let case = Case::empty();
    case.write(
        ".vibekit/memory/port.md",
        "---\ntitle: Port\nstatus: superseded\nconfidence: low\nupdated: 2026-02-01\n---\n# Port\n\nThe gateway listens on 7443.\n",
    );
    let found = case.run("recall --json --limit 1").args(["gateway listens"]).success();
    let score = found.json()["hits"][0]["score"].clone();
    found.stdout_json(&json!({
        "query": "gateway listens",
        "hits": [{
            "source": "entries",
            "file": ".vibekit/memory/port.md",
            "line": 9,
            "id": "port",
            "headings": ["Port"],
            "snippet": "The gateway listens on 7443.",
            "score": score,
            "relevance": "high",
            "date": "2026-02-01",
            "flags": ["superseded", "low-confidence"]
        }],
        "truncated": false
    }));
    let explained = case.run("recall --json --explain gateway").success();
    assert!(explained.json()["hits"][0]["parts"]["words"].as_f64() > Some(0.2));
}

#[test]
fn an_empty_query_is_a_usage_error() {
    let case = Case::new(VBW);
    let empty = case.run("recall").args(["  "]).code(2);
    assert_error(&empty, "the query is empty", "say what you want to know, in words");
    case.run("recall").code(2);
    case.run("recall x --in nowhere").code(2);
}

#[test]
fn a_function_word_alone_is_not_searched_for() {
    let case = Case::new(VBW);
    let run = case.run("recall the").success();
    assert_eq!(run.stdout(), "nothing to search for: say in words what it is about\n");
    let found = case.run("recall --all --json the").success();
    found
        .stdout_json(&json!({"query": "the", "hits": [], "is_wordless": true, "truncated": false}));
}

#[test]
fn only_the_named_stores_are_searched() {
    let case = Case::new(VBW);
    case.write(".vibekit/notepad.md", "# Notepad\n\n- the pantry lock\n");
    case.write("docs/memory/DECISIONS.md", "# Decisions\n\n- a pantry lock\n");
    for (named, expected) in [
        ("plan", vec!["plan"]),
        ("entries", vec!["entries"]),
        ("ledger,entries", vec!["entries", "ledger"]),
    ] {
        let line = format!("recall --json --limit 100 --in {named}");
        let found = case.run(&line).args(["pantry lock"]).success().json();
        let hits = found["hits"].as_array().unwrap();
        let mut sources: Vec<&str> =
            hits.iter().map(|hit| hit["source"].as_str().unwrap()).collect();
        sources.sort_unstable();
        sources.dedup();
        assert_eq!(sources, expected);
    }
}

#[test]
fn a_limit_is_at_least_one() {
    let case = Case::empty();
    for line in [
        "recall cat --limit 0",
        "facts retrieve --query cat --user ada --limit 0",
        "patterns relevant --limit 0",
        "log --limit 0",
    ] {
        let refused = case.run(line).code(2);
        let error = "error: --limit <N> takes a positive whole number, not '0'\n";
        assert!(refused.stderr().starts_with(error), "{}", refused.report());
    }
}
