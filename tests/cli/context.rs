//! `annals context`

use crate::cli::{VBW, assert_error};
use crate::support::Case;

#[test]
fn a_session_is_told_where_the_work_stands_first() {
    let case = Case::new(VBW);
    let before = case.tree();
    let digest = case.run("context").success();
    let text = digest.stdout();
    let order = [
        "## Position",
        "Next action: /vbw:vibe --execute 4",
        "## Blockers",
        "## Decisions",
        "## Learned Patterns",
    ];
    let places: Vec<_> = order.iter().map(|part| text.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(digest.stderr(), "");
    assert_eq!(case.tree(), before);
}

#[test]
fn what_does_not_fit_is_counted_with_the_command_that_prints_it() {
    let case = Case::new(VBW);
    let digest = case.run("context --budget 200 --json").success().json();
    assert!(digest["tokens"].as_u64().unwrap() <= 200, "{digest}");
    let left = digest["left_out"].as_array().unwrap();
    assert!(left.iter().any(|left| left["command"] == "annals patterns relevant"), "{digest}");
    let text = digest["text"].as_str().unwrap();
    assert!(text.contains("Lines left out: "), "{text}");
}

#[test]
fn the_topic_chooses_the_patterns() {
    let case = Case::new(VBW);
    let about = |topic: &str| case.run("context").args(["--for", topic]).success().stdout();
    let text = about("round-trip tests of the missing trailing newline");
    let patterns = text.split("## Learned Patterns\n").nth(1).unwrap();
    assert!(patterns.lines().next().unwrap().contains("round-trip"), "{patterns}");
}

#[test]
fn the_notepad_is_there_without_its_marks_and_without_keys() {
    let case = Case::new(VBW);
    let key = ["ghp", "_0123456789abcdefghijABCDEFGHIJ012345"].concat();
    case.write(
        ".vibekit/notepad.md",
        format!("# Vibekit Notepad\n\n## Priority Context\n- Ship on Friday\n* token {key}\n\n## Working Memory\n- [2026-02-28T10:00Z] looked\n"),
    );
    let text = case.run("context").success().stdout();
    assert!(text.contains("## Notepad\n- Ship on Friday\n- token "), "{text}");
    assert!(!text.contains(&key), "{text}");
    assert!(!text.contains("looked"), "{text}");
}

#[test]
fn a_topic_that_nothing_answers_is_not_an_empty_memory() {
    let case = Case::empty();
    case.run("remember the gateway listens on 7443").success();
    let digest = case.run("context --for zebras").success();
    assert_eq!(digest.stdout(), "");
    assert!(digest.stderr().contains("nothing remembered answers it"), "{}", digest.report());
}

#[test]
fn where_nothing_is_remembered_that_is_said() {
    let case = Case::empty();
    let digest = case.run("context").success();
    assert_eq!(digest.stdout(), "");
    assert!(digest.stderr().contains("no memory here yet"), "{}", digest.report());
    assert_error(
        &case.run("context --budget 10").code(2),
        "10 tokens are too few for the start of a session",
        "give it 100 or more; 2000 is the default",
    );
}

#[test]
fn the_ledger_tells_its_state_its_constraints_and_what_it_covers() {
    let case = Case::empty();
    case.run("ledger init").success();
    case.write(
        "update.json",
        r#"{"state":{"objective":"Ship the pantry","active_work":["Write the merge"]},
            "constraints":[{"op":"add","section":"Rules","bullet":"Never panic on input"}],
            "decisions":[{"date":"2026-02-27","title":"Keep one file","why":"w","impact":"i","evidence":"https://example.org/pull/1"}],
            "rollup":["One file for everything"]}"#,
    );
    case.run("ledger update --file update.json").success();
    let text = case.run("context").success().stdout();
    for line in [
        "- Current Objective: Ship the pantry",
        "- Active Work: Write the merge",
        "- Rules: Never panic on input",
        "- 2026-02-27 \u{2014} Keep one file",
        "- One file for everything",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn entries_on_the_topic_are_named_and_others_are_not() {
    let case = Case::empty();
    for (key, title) in [("sync-protocol", "Sync protocol"), ("oven", "Oven cleaning")] {
        case.run(&format!(
            "entry write --key {key} --type architecture --confidence high --body-stdin"
        ))
        .stdin(format!("# {title}\n\nOne line about {title}.\n"))
        .success();
    }
    let text = case.run("context --for sync").success().stdout();
    assert!(text.contains("## Knowledge\n- [[sync-protocol]] "), "{text}");
    assert!(!text.contains("oven"), "{text}");
    let text = case.run("context --for").args(["what about the sync"]).success().stdout();
    assert!(text.contains("sync-protocol") && !text.contains("oven"), "{text}");
}

#[test]
fn an_entry_that_names_a_file_which_is_gone_says_so() {
    let case = Case::empty();
    case.write("src/quota.py", "").write("CLAUDE.md", "");
    case.run("remember --key limits --confidence high the limits are in src/quota.py").success();
    case.run("sync --target claude").success();
    case.remove("src/quota.py");
    let line =
        "## Knowledge\n- [[limits]] (src/quota.py not found) the limits are in src/quota.py\n";
    assert!(case.run("context").success().stdout().contains(line));
    case.run("sync --check").success();
    let start = case.run("hook session-start").stdin("{}").success().stdout();
    assert!(start.contains("not found"), "{start}");
}

#[test]
fn the_users_facts_are_told_only_where_a_user_is_set() {
    let case = Case::empty();
    case.run("facts add --user ada --key preference.editor --value helix").success();
    let about = |user: &str| case.run("context").env("ANNALS_USER", user).success().stdout();
    assert!(
        about("ada").contains("## About the user\n- preference.editor: helix"),
        "{}",
        about("ada")
    );
    assert!(!about("bob").contains("helix"));
    assert!(!case.run("context").success().stdout().contains("helix"));
}

#[test]
fn every_fact_is_told_or_counted_preferences_and_the_latest_first() {
    let case = Case::empty();
    let value = "a question that is asked again and again ".repeat(8);
    for (day, key) in (1..).zip(["asked.1", "asked.2", "preference.a", "asked.3", "preference.b"]) {
        let add = case.run("facts add --user ada --value").args([&*value, "--key", key]);
        add.env("ANNALS_NOW", format!("2026-02-0{day}T00:00:00Z")).success();
    }
    let digest = |line: &str| case.run(line).env("ANNALS_USER", "ada").success().json();
    let keys = |digest: &serde_json::Value| -> Vec<String> {
        let text = digest["text"].as_str().unwrap();
        let keys = text.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(':'));
        keys.map(|(key, _)| key.to_owned()).collect()
    };
    let all = digest("context --json");
    assert_eq!(keys(&all), ["preference.b", "preference.a", "asked.3", "asked.2", "asked.1"]);
    assert_eq!(all["left_out"], serde_json::json!([]));
    let few = digest("context --budget 200 --json");
    let shown = keys(&few).len();
    assert!((1..5).contains(&shown), "{few}");
    assert_eq!(few["left_out"][0]["lines"], 5 - shown);
    let injected = digest("facts inject --budget 500 --json")["text"].to_string();
    assert!(injected.starts_with("\"Preferences:\\n- preference.b: "), "{injected}");
    assert!(injected.contains("\\nOther facts:\\n- asked.3: "), "{injected}");
}

#[test]
fn an_escape_sequence_inside_of_a_key_hides_it_from_nobody() {
    const STATE: &str = ".vbw-planning/STATE.md";
    const DONE: &str = ".vbw-planning/phases/01-event-log-store/01-02-SUMMARY.md";
    let case = Case::new(VBW);
    case.write(".vbw-planning/patterns/PATTERNS.md", "");
    let key = ["AKIA", "Q3EGZ7YJ", "4WX2MNTB"].concat();
    let broken = ["AKIA", "Q3EGZ7YJ", "\u{1b}[0m", "4WX2MNTB"].concat();
    for (path, from) in [
        (STATE, "Say how many lines a merge added"),
        (STATE, "cron needs no parsing"),
        (STATE, "The tablet's clock runs four minutes ahead"),
        (DONE, "took the CSV row type"),
    ] {
        let text = String::from_utf8(case.read(path).unwrap()).unwrap();
        assert!(text.contains(from), "{path}: {from}");
        case.write(path, text.replace(from, &format!("larder {broken} is it")));
    }
    for line in [
        "sync --stdout",
        "context",
        "recall larder",
        "recall larder --json",
        "execute --all --dry-run",
    ] {
        let said = case.run(line).success();
        assert!(!said.stdout().contains(&key), "{}", said.report());
        assert!(said.stdout().contains("[redacted]"), "{}", said.report());
    }
}

#[test]
fn a_session_starts_with_the_note_of_the_last_until_a_plan_is_completed() {
    let case = Case::new(VBW);
    case.run("pause")
        .args(["Try the other parser\nfirst.\n\nThen measure.\nThen decide."])
        .success();
    let position = || {
        let text = case.run("context").success().stdout();
        text.split("## Blockers").next().unwrap().to_owned()
    };
    let text = position();
    for line in [
        "- Note: Try the other parser\n",
        "- Note: Then measure.\n",
        "- Note: `annals resume` prints the rest",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("Then decide"), "{text}");
    assert!(text.find("- Note: ") < text.find("- Milestone: "), "{text}");
    let note = ".vbw-planning/RESUME.md";
    let text = String::from_utf8(case.read(note).unwrap()).unwrap();
    case.write(note, text.replace("## Notes", "## Other"));
    assert!(!position().contains("- Note: "));
    case.write(note, text);
    let phase = ".vbw-planning/phases/04-low-stock-alerts";
    case.write(&format!("{phase}/04-02-SUMMARY.md"), "# Done\n");
    assert!(!position().contains("- Note: "));
}

#[test]
fn a_check_that_is_left_behind_is_named_once() {
    let case = Case::empty();
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [ ] **Phase 1: Base**\n- [ ] **Phase 2: Shelf**\n",
    );
    case.write(".planning/STATE.md", "# State\n\nPhase: 1 of 2\nStatus: Verifying\n");
    case.write(".planning/phases/01-base/01-01-PLAN.md", "# Plan\n");
    case.write(".planning/phases/01-base/01-01-SUMMARY.md", "---\nstatus: complete\n---\n");
    let context = || case.run("context").success().stdout();
    // What STATE.md alone says is only an alternative.
    assert_eq!(
        case.run("status --json").success().json()["next"]["alternative"]["action"],
        "verify"
    );
    assert!(!context().contains("Also open"), "{}", context());
    case.write(".planning/STATE.md", "# State\n\nPhase: 2 of 2\nStatus: Ready to plan\n");
    let check = ".planning/phases/01-base/01-VERIFICATION.md";
    case.write(check, "---\nstatus: gaps_found\n---\n");
    let line = format!("Also open: /gsd:plan-phase 1 --gaps ({check}: gaps_found)");
    assert!(
        context().contains(&format!("- Next action: /gsd:plan-phase 2\n- {line}\n")),
        "{}",
        context()
    );
    let start = || case.run("hook session-start").stdin("{}").success().stdout();
    assert!(start().contains(&line), "{}", start());
    case.run("sync").success();
    let file = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    let line = line.replacen("Also open:", "**Also open:**", 1);
    assert!(file.contains(&format!("**Next action:** /gsd:plan-phase 2\n{line}\n")), "{file}");
    assert!(!start().contains("Also open"), "{}", start());
    case.write(check, "---\nstatus: passed\n---\n");
    case.run("sync").success();
    let file = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(!file.contains("Also open"), "{file}");
}

#[test]
fn accepted_issues_take_no_lines_and_what_is_out_of_scope_comes_last() {
    let case = Case::new(VBW);
    let state = ".vbw-planning/STATE.md";
    let text = String::from_utf8(case.read(state).unwrap()).unwrap();
    let todo = "- [ ] Say how many lines a merge added\n";
    let known = "- [KNOWN-ISSUE] clippy: a lint (accepted)\n- [KNOWN-ISSUE] clippy: another\n";
    assert!(text.contains(todo), "{text}");
    case.write(state, text.replace(todo, &format!("{todo}{known}")));
    let ledger =
        "# State\n\n## Next Actions\n- [ ] Measure\n\n## Out of Scope (for now)\n- Themes\n";
    case.write("docs/memory/STATE.md", ledger);
    let digest = case.run("context").success().stdout();
    assert!(digest.contains("- 2 known issues (`annals status`)\n"), "{digest}");
    let ledger = "- Next Actions: Measure\n- Out of Scope (for now): Themes\n";
    assert!(digest.contains(ledger), "{digest}");
    assert!(!digest.contains("clippy"), "{digest}");
}

#[test]
fn plans_left_without_a_summary_are_one_line_and_a_file_is_one_line() {
    let case = Case::new(VBW);
    let phases = ".vbw-planning/phases";
    for name in ["01-event-log-store/01-02", "01-event-log-store/01-03", "03-shopping-lists/03-02"]
    {
        std::fs::remove_file(case.root().join(format!("{phases}/{name}-SUMMARY.md"))).unwrap();
    }
    let state = case.read(".vbw-planning/STATE.md").unwrap();
    let state = String::from_utf8(state).unwrap();
    let state = state
        .replace("Phase: 4 of 5", "Phase: 3 of 5")
        .replace("Status: in progress", "Status: shipped everything");
    case.write(".vbw-planning/STATE.md", state);
    let text = case.run("context").success().stdout();
    let drift: Vec<&str> = text.lines().filter(|line| line.starts_with("- Drift: ")).collect();
    let [stated, left] = drift[..] else { panic!("{text}") };
    assert!(stated.contains("the current phase is 3, but the files show 4; "), "{stated}");
    assert!(stated.ends_with("see `annals status` for 1 more line"), "{stated}");
    assert_eq!(left, "- Drift: 3 plans left without a summary (`annals status`)");
}

#[test]
fn decisions_are_listed_newest_first_whatever_their_order_in_the_file() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", "# Roadmap: A\n\n- [ ] **Phase 1: One** - a\n");
    case.write(
        ".planning/STATE.md",
        "# State\n\n## Decisions\n\n- 2026-02-03: pages are cached\n- 2026-02-02: ids are numbers\n- 2026-02-01: files are plain\n",
    );
    let text = case.run("context").success().stdout();
    let places: Vec<usize> = ["pages are cached", "ids are numbers", "files are plain"]
        .iter()
        .map(|part| text.find(part).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
}
