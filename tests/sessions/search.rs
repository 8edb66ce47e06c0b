//! `recall --in sessions`: what is found, how it is cited, and where its index lies.

use std::fs;

use annals::recall::{RecallQuery, SourceName, recall};

use crate::sessions::made::{script, write};
use crate::sessions::{WORK, open, turn_on};
use crate::support::{Case, whole_tree};

/// Minimum share of the questions whose answer is in a unit among the first ten hits.
const MIN_RECALL_AT_10: f64 = 0.8;

/// Sixty questions about twelve made-up sessions, written before the search was tuned on them.
#[test]
fn questions_about_sessions_find_the_unit_that_answers() {
    let case = Case::empty();
    for (number, made) in script(include_str!("tideboard.txt")).iter().enumerate() {
        write(&case, number, made);
    }
    let project = open(&case);
    let questions: Vec<&str> = include_str!("questions.tsv").lines().collect();
    let is_missed = |line: &&&str| {
        let (question, answer) = line.split_once('\t').unwrap();
        let query = RecallQuery {
            sources: vec![SourceName::Sessions],
            limit: 10,
            include_irrelevant: true,
            uses_encoder: false,
            ..RecallQuery::new(question).unwrap()
        };
        let found = recall(&project, &query).unwrap().value;
        !found.hits.iter().any(|hit| hit.snippet.contains(answer))
    };
    let missed: Vec<&&str> = questions.iter().filter(is_missed).collect();
    let share = |count: usize| f64::from(u32::try_from(count).unwrap());
    let recall = 1.0 - share(missed.len()) / share(questions.len());
    assert!(recall >= MIN_RECALL_AT_10, "R@10 {recall:.3}; missed: {missed:#?}");
}

fn case_with(client: &str, text: &str) -> Case {
    let case = Case::empty();
    write(&case, 1, &script(&format!("# {client} 2026-03-01\n{text}"))[0]);
    turn_on(&case);
    case
}

#[test]
fn a_hit_cites_its_session_and_the_command_that_resumes_it() {
    let case = case_with("codex", WORK);
    let found = case.run("recall --json --in sessions loader crash E0308").success().json();
    let hit = &found["hits"][0];
    assert_eq!(hit["source"], "sessions");
    assert_eq!(hit["date"], "2026-03-01");
    assert_eq!(hit["id"], "codex:00000001-1111-4222-8333-444444444444");
    assert_eq!(hit["resume"], "codex resume 00000001-1111-4222-8333-444444444444");
    let without = case.run("recall --json loader crash E0308").success().json();
    assert_eq!(without["hits"], serde_json::json!([]), "sessions are searched only if asked for");
}

#[test]
fn a_topic_is_answered_from_sessions_and_a_session_s_start_is_not() {
    let case = case_with("gemini", WORK);
    case.write("CLAUDE.md", "# A project\n");
    let asked = case.run("context --for").args(["why does the loader crash"]).success().stdout();
    assert!(asked.contains("## Earlier sessions") && asked.contains("(gemini:"), "{asked}");
    for line in ["context", "hook session-start"] {
        let shown = case.run(line).stdin("{}").success().stdout();
        assert!(!shown.contains("loader"), "{line}: {shown}");
    }
}

#[test]
fn the_index_follows_the_transcripts_and_can_be_removed() {
    let case = case_with("claude", "> Where is the lock?\n- In the store.\n");
    let found = |words: &str| {
        let run = case.run("recall --all --json --in sessions").args([words]).success();
        run.json()["hits"].to_string()
    };
    assert!(found("lock").contains("In the store."));
    let index = case.home().join(".cache/annals/sessions");
    assert_eq!(fs::read_dir(&index).unwrap().count(), 1);
    let text = "# claude 2026-03-02\n> Where is the lock?\n- In the cellar, since today.\n";
    let path = write(&case, 1, &script(text)[0]);
    assert!(found("lock").contains("In the cellar"));
    fs::remove_file(path).unwrap();
    assert_eq!(found("lock"), "[]");
    case.run("sessions forget").success();
    assert_eq!(fs::read_dir(&index).unwrap().count(), 0);
}

#[test]
fn without_a_cache_folder_the_newest_sessions_are_read() {
    let case = case_with("claude", "> Where is the lock?\n- In the store.\n");
    fs::write(case.home().join(".cache"), "a file").unwrap();
    let found = case.run("recall --all --in sessions lock").success();
    assert!(found.stdout().contains("In the store."), "{}", found.report());
    let warned = found.stderr();
    assert!(warned.contains("there is no index: 1 newest session"), "{warned}");
}

#[test]
fn keys_are_not_in_the_index() {
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("> Use {key} for the upload\n- The token {key} is wrong.\n");
    let case = case_with("claude", &text);
    let found = case.run("recall --all --json --in sessions upload token").success().stdout();
    assert!(!found.contains(&key) && found.contains("[redacted]"), "{found}");
    for (name, bytes) in whole_tree(&case.home().join(".cache")) {
        assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()), "{name}");
    }
}
