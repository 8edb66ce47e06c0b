//! The hits of a search and their properties.

use serde_json::{Value, json};

use crate::recall::{hits, places};
use crate::support::Case;

fn flags(case: &Case, query: &str) -> Value {
    hits(case, query)[0]["flags"].clone()
}

#[test]
fn outdated_texts_come_last() {
    let case = Case::empty();
    case.write(
        "docs/memory/CONSTRAINTS.md",
        "# Constraints\n\n## Rules\n\n- the gateway port is 9000\n\n## Superseded\n\n- the gateway port is 8000\n",
    );
    let found = hits(&case, "gateway port");
    assert_eq!(found[0]["snippet"], "the gateway port is 9000");
    assert_eq!(found[1]["flags"], json!(["superseded"]));
    case.write(
        ".vibekit/memory/guess.md",
        "---\nconfidence: low\n---\n# Guess\n\nThe flux capacitor may overheat.\n",
    );
    assert_eq!(flags(&case, "flux capacitor overheat"), json!(["low-confidence"]));
}

#[test]
fn an_entry_that_was_replaced_comes_behind_the_one_that_replaced_it() {
    let case = Case::empty();
    let entry = |key: &str, fields: &str, text: &str| {
        case.write(&format!(".vibekit/memory/{key}.md"), format!("---\n{fields}---\n\n{text}\n"));
    };
    entry("pager", "status: superseded\n", "Tomasz has the pager in even weeks.");
    entry("rota", "status: superseded\nsupersedes: pager\n", "The rota is in the wiki.");
    entry("opsgenie", "supersedes: rota\n", "Opsgenie calls whoever is on duty.");
    let ids = |query: &str| -> Vec<Value> {
        hits(&case, query).as_array().unwrap().iter().map(|hit| hit["id"].clone()).collect()
    };
    assert_eq!(ids("who has the pager in even weeks"), ["opsgenie", "pager"]);
    // Two that name each other.
    entry("opsgenie", "status: superseded\nsupersedes: [rota, pager]\n", "Opsgenie calls.");
    entry("pager", "status: superseded\nsupersedes: opsgenie\n", "Tomasz has the pager.");
    assert!(ids("who has the pager").contains(&json!("pager")));
}

#[test]
fn a_pattern_that_names_a_deleted_file_is_stale() {
    let case = Case::empty();
    case.git_init();
    for name in ["lock", "store", "shelf", "item", "unit", "main"] {
        case.write(&format!("src/{name}.rs"), name);
    }
    case.write(
        ".vbw-planning/patterns/PATTERNS.md",
        "# Patterns\n\n### Phase 1: Store (2026-01-02)\n\n**What worked:**\n- Locking in `src/lock.rs` kept writers apart\n- Small walrus plans\n",
    );
    case.commit("one", "2026-01-01T00:00:00Z");
    assert_eq!(flags(&case, "locking kept writers apart"), json!([]));
    std::fs::remove_file(case.root().join("src/lock.rs")).unwrap();
    case.commit("two", "2026-01-03T00:00:00Z");
    let found = hits(&case, "locking kept writers apart");
    assert_eq!(found[0]["flags"], json!(["stale"]));
    assert_eq!(found[0]["headings"][2], "What worked");
    assert_eq!(found[0]["source"], "patterns");
    assert_eq!(flags(&case, "small walrus plans"), json!([]));
}

#[test]
fn identifiers_are_found_by_their_parts() {
    let case = Case::empty();
    case.write(
        ".planning/PROJECT.md",
        "# P\n\n- `RetryQueue::push_back` grew\n- `src/http_client.rs` shrank\n- 再試行キューが遅い\n",
    );
    for (query, line) in [
        ("retry queue", 3),
        ("retryqueue", 3),
        ("RetryQueue", 3),
        ("push back", 3),
        ("http client", 4),
        ("キュー", 5),
        ("再試行", 5),
        ("遅", 5),
    ] {
        let found = places(&case, query);
        let expected = format!(".planning/PROJECT.md:{line}");
        assert_eq!(found.first(), Some(&expected), "{query}: {found:?}");
    }
}

#[test]
fn a_hit_that_names_a_file_changed_after_its_date_says_so() {
    let case = Case::empty();
    case.git_init();
    case.write("src/gate.rs", "1").write("src/shed.rs", "1").commit("one", "2026-01-01T00:00:00Z");
    case.write(
        ".planning/PROJECT.md",
        "# P\n\n- (2026-01-05) the walrus gate in `src/gate.rs`\n- (2026-01-05) the walrus shed in `src/shed.rs`\n\
         - (2026-01-05) the walrus door in `src/door.rs`\n",
    );
    case.write("src/gate.rs", "2").write("src/door.rs", "1");
    case.commit("two", "2026-01-04T00:00:00Z");
    std::fs::rename(case.root().join("src/door.rs"), case.root().join("src/lid.rs")).unwrap();
    case.write("src/gate.rs", "3").commit("three", "2026-01-09T00:00:00Z");
    assert_eq!(flags(&case, "walrus gate"), json!(["changed since"]));
    assert_eq!(flags(&case, "walrus shed"), json!([]));
    assert_eq!(flags(&case, "walrus door"), json!(["changed since"]), "it was renamed");
}

#[test]
fn an_entry_has_the_date_of_its_fields() {
    let case = Case::empty();
    case.run("remember the contract with Hertz ends on 2027-02-28").success();
    assert_eq!(hits(&case, "contract with Hertz")[0]["date"], json!("2026-03-01"));
}

#[test]
fn an_entry_is_found_by_its_key_and_its_tags() {
    let case = Case::empty();
    case.run("remember --key vpn --tags network").args(["ask Tom for the profile"]).success();
    for query in ["vpn", "network"] {
        let found = hits(&case, query);
        assert_eq!(found[0]["headings"], json!(["vpn", "network", "Ask Tom for the profile"]));
    }
    // Not by a part of a word.
    case.run("remember --key ci").args(["the decision is made by Anna"]).success();
    assert_eq!(hits(&case, "ci")[0]["id"], "ci");
}

#[test]
fn what_a_template_leaves_to_be_filled_in_is_no_hit() {
    let case = Case::empty();
    let state = "# State\n\n## Todos\n{todos-or-none}\n\n## Blockers\n{blockers}\n";
    case.write(".planning/STATE.md", state);
    assert_eq!(case.run("recall --all todos blockers").success().stdout(), "Nothing found.\n");
}

#[test]
fn the_encoder_finds_what_is_asked_in_other_words() {
    let case = Case::empty();
    case.write(
        ".planning/PROJECT.md",
        "# P\n\n- the dog barks at night\n- prices are whole cents\n",
    );
    let run = case.run("recall --json --all").args(["noise of a pet in the dark"]);
    let found = run.env("ANNALS_ENCODER", "true").success().json();
    assert_eq!(found["hits"][0]["snippet"], "the dog barks at night");
}

#[test]
fn a_single_word_that_a_text_contains_is_evidence_enough() {
    let case = Case::empty();
    case.write(".planning/PROJECT.md", "# P\n\n- walrus token red\n- prices are whole cents\n");
    let found = case.run("recall --json walrus").success().json();
    assert_eq!(found["hits"][0]["relevance"], "high");
}

#[test]
fn secrets_and_escapes_are_not_printed() {
    let case = Case::empty();
    let key = format!("ghp_{}", "q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUo");
    case.write(
        ".planning/PROJECT.md",
        format!("# P {key}\n\n- walrus token {key} \u{1b}[31mred\u{1b}[0m\n"),
    );
    let run = case.run("recall walrus").success();
    assert!(!run.stdout().contains(&key), "{}", run.report());
    assert!(run.stdout().contains("walrus token [redacted] red"), "{}", run.report());
    let json = case.run("recall walrus --json").success().stdout();
    assert!(!json.contains(&key) && !json.contains('\u{1b}'), "{json}");
}

#[test]
fn the_newer_of_two_equally_relevant_texts_comes_first() {
    let case = Case::empty();
    case.write(
        "docs/memory/DECISIONS.md",
        "# D\n\n### 2026-01-01 — One\n\nUse walrus.\n\n### 2026-02-20 — Two\n\nUse walrus.\n",
    );
    let found = hits(&case, "walrus");
    assert_eq!(found[0]["date"], "2026-02-20");
}

#[test]
fn a_journal_record_names_the_project_in_its_meta_first() {
    let case = Case::empty();
    let record = ["--content", "a young seal", "--meta", r#"{"project":"larder"}"#];
    case.run("journal write").args(record).success();
    assert_eq!(hits(&case, "young seal")[0]["headings"], json!(["larder", "note"]));
}

#[test]
fn the_journal_is_searched_from_its_end() {
    let case = Case::empty();
    let record = |at: usize, content: &str| {
        format!(
            "{{\"ts\":\"2026-02-01T00:00:{:02}+00:00\",\"type\":\"note\",\"content\":\"{content}\",\"tags\":null,\"meta\":null}}\n",
            at % 60
        )
    };
    let folder = case.home().join(".codex");
    std::fs::create_dir_all(&folder).unwrap();
    let mut lines = record(0, "an ancient walrus");
    lines.extend((0..2000).map(|at| record(at, &format!("number {at}"))));
    lines.push_str("torn\n");
    lines.push_str(&record(7, "a young seal"));
    std::fs::write(folder.join("memory.jsonl"), &lines).unwrap();
    let found = hits(&case, "young seal");
    assert_eq!(found[0]["snippet"], "a young seal");
    assert_eq!(found[0]["source"], "journal");
    assert_eq!(found[0]["id"], "2026-02-01T00:00:07+00:00");
    assert!(!hits(&case, "walrus").to_string().contains("ancient"));
    lines.push_str(&record(8, "a late walrus"));
    std::fs::write(folder.join("memory.jsonl"), &lines).unwrap();
    assert_eq!(hits(&case, "walrus")[0]["snippet"], "a late walrus");
}

#[test]
fn planning_folders_of_several_tools_are_searched() {
    let case = Case::empty();
    case.write(".vbw-planning/STATE.md", "# S\n\n- an old walrus\n");
    case.write(".yolo-planning/STATE.md", "# S\n\n- a young walrus\n");
    let run = case.run("-q recall --json walrus").success().json();
    assert_eq!(run["hits"].as_array().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project_are_not_followed() {
    let case = Case::empty();
    std::fs::write(case.home().join("diary.md"), "# D\n\n- a secret walrus\n").unwrap();
    case.write(".planning/PROJECT.md", "# P\n\n- fish\n");
    let link =
        |to: &str| std::os::unix::fs::symlink(case.home().join("diary.md"), case.root().join(to));
    link("CLAUDE.md").unwrap();
    link(".planning/STATE.md").unwrap();
    let run = case.run("recall --json walrus").success();
    assert_eq!(run.json()["hits"], json!([]));
    let told = run.stderr();
    assert!(told.contains("CLAUDE.md: leads outside the project"), "{told}");
}

#[test]
fn a_question_without_a_subject_is_answered_by_its_place() {
    let case = Case::empty();
    case.write(
        ".planning/PROJECT.md",
        "# Kiosk\n\n## What This Is\n\nA till for markets.\n\n## Context\n\nThe app has a project board.\n",
    );
    case.write(
        ".planning/STATE.md",
        "# State\n\n## Current Position\n\nPhase: 2 of 4\n\n## Blockers/Concerns\n\n- No key for the printer\n",
    );
    case.write(
        ".planning/codebase/TESTING.md",
        "# Testing\n\n- The tests of the app run the tests\n\n**Run Commands:**\n\n```\nmake check\n```\n",
    );
    case.write(
        ".planning/milestones/v1/PROJECT.md",
        "# Kiosk\n\n## What This Is\n\nA stall for one project, the app.\n",
    );
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n## Phase 3: Receipts\n\nPrint them.\n\n## Phase 4: Taxes\n\nAfter phase 3.\n",
    );
    for (question, place) in [
        ("What is this app?", "PROJECT.md:5"),
        ("Is phase 3 done?", "ROADMAP.md:5"),
        ("Which phase is being worked on?", "STATE.md:5"),
        ("What is blocking the project?", "STATE.md:9"),
        ("How do I run the tests?", "codebase/TESTING.md:5"),
        ("Which board has the app?", "PROJECT.md:9"),
    ] {
        let found = places(&case, question);
        assert_eq!(found.first(), Some(&format!(".planning/{place}")), "{question}: {found:?}");
    }
}

#[test]
fn the_readme_answers_what_it_says_of_the_project() {
    let case = Case::empty();
    let readme = "[![CI](a.svg)](b)\n\n# Till\n\nA stall for markets.\n\n## License\n\nMIT\n";
    case.write("README.md", readme);
    case.write("docs/README.md", "# License\n\nAnother license.\n");
    let answers = || ["What is this app?", "Which license?"].map(|asked| places(&case, asked));
    assert_eq!(answers(), [["README.md:5"], ["README.md:9"]]);
    case.write(".planning/STATE.md", "# State\n\n- A license for the till\n");
    let found = answers().map(|found| found.into_iter().next());
    assert_eq!(found.map(Option::unwrap), ["README.md:5", "README.md:9"]);
}

#[test]
fn only_the_open_items_of_a_place_in_the_projects_own_documents_answer() {
    let case = Case::empty();
    let open: Vec<String> = (1..=5).map(|n| format!("- Vendor {n} is late\n")).collect();
    case.write(
        ".planning/STATE.md",
        format!(
            "# State\n\n## Blockers resolved in phase 1\n\n- No key for the printer\n\n## Blockers\n\n{}",
            open.concat()
        ),
    );
    case.write("CLAUDE.md", "# Till\n\n## Forbidden commands\n\nmake deploy\n");
    case.write(".planning/quick/001-x/CLAUDE.md", "# Till\n\n## Commands\n\nmake old\n");
    case.write(".planning/codebase/STACK.md", "# Stack\n\n## Commands\n\nmake check\n");
    let mut blockers = places(&case, "What is blocking us?");
    blockers.sort();
    assert_eq!(blockers, [10, 11, 12, 13, 9].map(|line| format!(".planning/STATE.md:{line}")));
    let commands = places(&case, "What are the commands?");
    assert_eq!(commands.first().unwrap(), ".planning/codebase/STACK.md:5", "{commands:?}");
    case.write(".planning/STATE.md", "# State\n\n## Blockers\n\nNone - all cleared\n");
    assert_eq!(hits(&case, "What is blocking us?"), json!([]));
}

#[test]
fn what_says_how_it_is_run_answers_how_tests_and_specs_are_run() {
    let case = Case::empty();
    case.write(
        ".planning/codebase/TESTING.md",
        "# Testing\n\n## Running\n\n```bash\nbundle exec rspec\n```\n\n## Harness\n\n- The tests run the specs\n",
    );
    for question in ["how do we run the tests", "run the tests", "how are the specs run?"] {
        let found = places(&case, question);
        assert_eq!(found.first().unwrap(), ".planning/codebase/TESTING.md:5", "{question}");
    }
}

#[test]
fn a_blocker_of_a_finished_phase_is_stale() {
    let case = Case::empty();
    let state = "# State\n\nPhase: 2 of 2 (Shelf)\n\n## Blockers\n\n- Phase 1 needs the vendor key\n- Phase 2 needs\n  a printer\n";
    case.write(".planning/STATE.md", state);
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [x] **Phase 1: Base**\n- [ ] **Phase 2: Shelf**\n",
    );
    for file in ["01-base/01-01-PLAN.md", "01-base/01-01-SUMMARY.md", "02-shelf/02-01-PLAN.md"] {
        case.write(&format!(".planning/phases/{file}"), "# Plan\n");
    }
    let found = hits(&case, "What is blocking us?");
    let found = found.as_array().unwrap().iter().map(|hit| (&hit["line"], &hit["flags"]));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(&json!(8), &json!([])), (&json!(7), &json!(["stale"]))]
    );
}

#[test]
fn an_entry_about_a_file_that_is_gone_is_stale() {
    let case = Case::empty();
    case.write("app/rates.py", "RATE = 1\n");
    case.run("remember rates are cached for one hour in app/rates.py").success();
    let flags = |case: &Case| hits(case, "how long are rates cached")[0]["flags"].clone();
    assert_eq!(flags(&case), json!(["low-confidence"]));
    case.remove("app/rates.py");
    assert_eq!(flags(&case), json!(["stale", "low-confidence"]));
}

#[test]
fn the_milestone_in_progress_is_current_wherever_its_folder_is() {
    let case = Case::empty();
    case.write(".vbw-planning/PROJECT.md", "# Till\n\nA till for markets.\n");
    for slug in ["one", "two"] {
        let home = format!(".vbw-planning/milestones/{slug}");
        let state = format!("# State\n\n## Current Position\n\nPhase: 1 of milestone {slug}\n");
        case.write(&format!("{home}/STATE.md"), state);
        case.write(&format!("{home}/ROADMAP.md"), "# Roadmap\n\n- Print the receipts\n");
        case.write(&format!("{home}/phases/01-a/01-01-PLAN.md"), "# Plan\n");
    }
    // The files themselves do not change.
    for slug in ["two", "one"] {
        case.write(".vbw-planning/ACTIVE", slug);
        let home = format!(".vbw-planning/milestones/{slug}");
        let found = places(&case, "Where do things stand?");
        assert_eq!(found, [format!("{home}/STATE.md:5")]);
        let found = hits(&case, "print the receipts");
        assert_eq!(found[0]["file"], format!("{home}/ROADMAP.md"), "{found}");
    }
    let case = Case::empty();
    case.write(".planning/STATE.md", "---\nmilestone: v1.1\n---\n# State\n");
    case.write(".planning/milestones/v1.0-ROADMAP.md", "# Roadmap\n");
    for phase in ["v1.0-phases/01-a/01", "v1.1-phases/02-b/02"] {
        case.write(
            &format!(".planning/milestones/{phase}-CONTEXT.md"),
            "# Context\n\nPaper is thin\n",
        );
        case.write(&format!(".planning/milestones/{phase}-01-PLAN.md"), "# Plan\n");
    }
    let found = hits(&case, "paper is thin");
    assert_eq!(found[0]["file"], ".planning/milestones/v1.1-phases/02-b/02-CONTEXT.md", "{found}");
}
