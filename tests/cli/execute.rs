//! `annals execute`

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::{VBW, assert_error, assert_unchanged};
use crate::support::Case;

const PATTERNS: &str = ".vbw-planning/patterns/PATTERNS.md";

#[test]
fn a_phase_is_recorded_once_and_says_so_after() {
    let case = Case::new(VBW);
    let before = case.read(PATTERNS).unwrap();
    let first = case.run("execute 3 --json").success();
    assert_eq!(first.json()["recorded"], json!(["03-shopping-lists"]));
    let after = case.read(PATTERNS).unwrap();
    assert!(after.starts_with(&before), "the old text is changed");
    let added = String::from_utf8(after[before.len()..].to_vec()).unwrap();
    assert!(added.contains("### Phase 3: Shopping Lists (2026-02-13)\n<!-- annals: phase-dir=03-shopping-lists plans=01,02,03 digest="), "{added}");
    assert!(
        added.contains(
            "- Plans: 3, Average: 25m, Total: 1h 14m\n- Effort: thorough (1 of 3 plans)\n\n**Deviations:** 0\n"
        ),
        "{added}"
    );
    let written = case.tree();
    let second = case.run("execute 3 --json").success();
    assert_eq!(second.json()["recorded"], json!([]));
    assert_eq!(second.json()["already"], json!(["03-shopping-lists"]));
    assert_unchanged(&written, &case, &second);
}

#[test]
fn phases_whose_summaries_state_no_lesson_are_named_apart() {
    let case = Case::empty();
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [x] Phase 1: Base\n- [x] Phase 2: Lock\n- [x] Phase 3: Cli\n",
    );
    let deviation = "## Deviations\n\n### 1. [Rule 1 - Bug] The `lock` is taken twice\n- **Issue:** `flock` is released when any handle of the file is closed.\n- **Fix:** Keep one handle open.\n";
    let unchosen = "## Deviations\n\n- Reordered the imports\n- Renamed a test\n";
    let phases = [("01-base", "All done.\n"), ("02-lock", deviation), ("03-cli", unchosen)];
    for (phase, text) in phases {
        let file = |kind| format!(".planning/phases/{phase}/{}-01-{kind}.md", &phase[..2]);
        case.write(&file("PLAN"), "# Plan\n");
        case.write(&file("SUMMARY"), format!("---\nstatus: complete\n---\n# Summary\n\n{text}"));
    }
    assert_snapshot!(case.run("execute --all").success().stdout(), @r"
    Recorded: 02-lock.
    Recorded without lessons, since the summaries state none: 01-base.
    Recorded without lessons, since no deviation was chosen: 03-cli (2 read).
    PATTERNS.md has the summaries' words. To word lessons that CLAUDE.md shows: annals execute N --digest, then --lessons.
    CLAUDE.md created (16 lines).
    ");
    assert_snapshot!(case.run("execute 3 --again").success().stdout(), @r"
    Recorded without lessons, since no deviation was chosen: 03-cli (2 read).
    To word lessons that CLAUDE.md shows: annals execute 3 --digest, then --lessons.
    CLAUDE.md unchanged (16 lines).
    ");
    assert_snapshot!(case.run("execute 1 --again").success().stdout(), @r"
    Recorded without lessons, since the summaries state none: 01-base.
    CLAUDE.md unchanged (16 lines).
    ");
}

#[test]
fn a_phase_of_which_a_check_found_issues_is_recorded_and_that_is_said() {
    let case = Case::empty();
    let home = ".vbw-planning/phases/01-base";
    case.write(".vbw-planning/ROADMAP.md", "# Roadmap\n\n- [x] Phase 1: Base\n");
    case.write(&format!("{home}/01-01-PLAN.md"), "# Plan\n");
    case.write(&format!("{home}/01-01-SUMMARY.md"), "---\nstatus: complete\n---\n");
    let check = format!("{home}/01-VERIFICATION.md");
    let warned = |line: &str| {
        let said = case.run(line).success().json()["warnings"].clone();
        said.as_array().unwrap().iter().map(|one| one["message"].clone()).collect::<Vec<_>>()
    };
    // One that is to be done is not one that failed.
    case.write(&format!("{home}/01-UAT.md"), "---\nstatus: in_progress\n---\n");
    case.write(&check, "---\nresult: PARTIAL\npassed: 4\nfailed: 1\ntotal: 5\n---\n");
    let said = "01-base was recorded while this says partial, 1 not passed";
    let advice = "; `annals execute 1 --again` adds what later plans teach";
    assert_eq!(warned("execute 1 --dry-run --json"), [json!(format!("{said}{advice}"))]);
    assert_eq!(warned("ship --force --dry-run --json"), [json!(said)]);
    case.write(&check, "---\nresult: PASS\n---\n");
    assert_eq!(warned("execute 1 --json"), Vec::<Value>::new());
    // Nothing is recorded any more.
    case.write(&check, "---\nresult: FAIL\n---\n");
    assert_eq!(warned("execute 1 --json"), Vec::<Value>::new());
}

#[test]
fn what_is_not_read_keeps_none_of_the_others_from_being_recorded() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", "# Roadmap\n\n- [x] Phase 1: Base\n");
    let phases = [("phases/01-base", "01-01"), ("phases/upgrade", "01-01")];
    for (phase, plan) in phases {
        case.write(&format!(".planning/{phase}/{plan}-PLAN.md"), "# Plan\n");
        let summary = format!(".planning/{phase}/{plan}-SUMMARY.md");
        case.write(&summary, "---\nstatus: complete\n---\n");
    }
    case.run("execute").code(4);
    let done = case.run("execute --all").success();
    let unread = ".planning/phases/upgrade: not a phase: its name has no phase number in front";
    assert!(done.stderr().contains(unread), "{}", done.report());
    assert!(done.stdout().contains(": 01-base.\n"), "{}", done.report());
}

#[test]
fn without_a_phase_it_is_the_latest_complete_one_not_yet_recorded() {
    let case = Case::new(VBW);
    let recorded = || case.run("execute --json").success().json()["recorded"].clone();
    assert_eq!(recorded(), json!(["03-shopping-lists"]));
    assert_eq!(recorded(), json!(["02.1-lost-updates"]));
}

#[test]
fn an_incomplete_phase_is_refused_unless_asked_for() {
    let case = Case::new(VBW);
    let before = case.tree();
    let refused = case.run("execute 4").code(4);
    assert_error(
        &refused,
        ".vbw-planning/phases/04-low-stock-alerts: phase 4 is not complete: no finished summary for 04-02-PLAN.md, 04-03-PLAN.md",
        "--partial records it in its current state",
    );
    assert_unchanged(&before, &case, &refused);
    let partial = case.run("execute 4 --partial --json").success();
    assert_eq!(partial.json()["recorded"], json!(["04-low-stock-alerts"]));
}

#[test]
fn what_is_asked_for_and_cannot_be_recorded_is_refused() {
    let case = Case::new(VBW);
    for plan in ["01", "02", "03"] {
        let summary = format!(".vbw-planning/phases/03-shopping-lists/03-{plan}-SUMMARY.md");
        case.remove(&summary);
    }
    let before = case.tree();
    let reason = ".vbw-planning/phases/03-shopping-lists: phase 3 has no summary to record";
    let hint = "record it when its plans have summaries";
    for line in
        ["execute 3", "execute 3 --partial", "execute 3 --lessons -", "execute 3 --partial --again"]
    {
        let refused = case.run(line).stdin(LESSONS).code(4);
        assert_error(&refused, reason, hint);
        assert_unchanged(&before, &case, &refused);
    }
    // Lessons for the latest phase are not discarded because that phase has no summary.
    let recorded = case.run("execute --lessons - --json").stdin(
        "{\"failed\":[{\"text\":\"Two writers lose an append unless the file is locked\",\"plans\":[\"01\"]}]}",
    );
    let recorded = recorded.success().json();
    assert_eq!(recorded["recorded"], json!(["02.1-lost-updates"]));
    let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    assert!(text.contains("Two writers lose an append"), "{text}");
    // Without a number there may be nothing to do.
    case.run("execute").success();
    case.run("execute --all").success();
}

#[test]
fn only_a_phase_with_a_summary_is_offered_to_be_recorded_partially() {
    let case = Case::new(VBW);
    case.remove(".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md");
    let refused = case.run("execute 4").code(4);
    assert_error(
        &refused,
        ".vbw-planning/phases/04-low-stock-alerts: phase 4 is not complete: no finished summary for 04-01-PLAN.md, 04-02-PLAN.md, 04-03-PLAN.md",
        "record it when its plans have summaries",
    );
    for plan in ["01", "02", "03"] {
        case.remove(&format!(".vbw-planning/phases/04-low-stock-alerts/04-{plan}-PLAN.md"));
    }
    let refused = case.run("execute 4").code(4);
    assert_error(
        &refused,
        ".vbw-planning/phases/04-low-stock-alerts: phase 4 is not planned yet",
        "record it when its plans have summaries",
    );
}

#[test]
fn a_phase_without_summaries_is_not_judged() {
    let case = Case::new(VBW);
    for plan in ["01", "02", "03"] {
        let summary = format!(".vbw-planning/phases/03-shopping-lists/03-{plan}-SUMMARY.md");
        case.remove(&summary);
    }
    let digest = case.run("execute 3 --digest").success().stdout();
    assert_eq!(
        digest,
        "Phase 3: Shopping Lists (no summary yet)\n\
         Nothing can be judged before its plans have summaries.\n"
    );
}

#[test]
fn an_unknown_phase_names_the_known_ones() {
    let case = Case::new(VBW);
    let refused = case.run("execute 9").code(3);
    assert_error(&refused, "there is no phase 9", "known phases: 1, 2, 2.1, 3, 4");
    case.run("execute x1").code(2);
}

#[test]
fn changed_summaries_are_reported_and_recorded_again_only_when_asked() {
    let case = Case::new(VBW);
    case.run("execute 3").success();
    let summary = ".vbw-planning/phases/03-shopping-lists/03-01-SUMMARY.md";
    let mut text = case.read(summary).unwrap();
    text.extend(b"\nOne more thing.\n");
    case.write(summary, text);
    let written = case.tree();
    let second = case.run("execute 3 --json").success();
    assert_eq!(second.json()["changed_since"], json!(["03-shopping-lists"]));
    assert_unchanged(&written, &case, &second);
    let again = case.run("execute 3 --again --json").success();
    assert_eq!(again.json()["recorded"], json!(["03-shopping-lists"]));
}

#[test]
fn a_dry_run_shows_the_entry_and_writes_nothing() {
    let case = Case::new(VBW);
    let before = case.tree();
    let shown = case.run("execute 3 --dry-run").success();
    assert!(shown.stdout().contains("+### Phase 3: Shopping Lists"), "{}", shown.report());
    assert!(shown.stdout().contains("+<!-- annals:begin"), "{}", shown.report());
    assert_unchanged(&before, &case, &shown);
}

#[test]
fn a_hand_edit_in_the_block_moves_below_it_and_stops_nothing() {
    let case = Case::new(VBW);
    case.run("sync").success();
    let block = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    let edited = block.replace("## Active Context", "## Active Context\n\nMine.");
    case.write("CLAUDE.md", &edited);
    let done = case.run("execute 3").success();
    assert!(
        done.stderr().contains("1 line added to the block by hand, kept below it"),
        "{}",
        done.report()
    );
    let written = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(written.contains("<!-- annals:end -->\n\nMine.\n"), "{written}");
    let patterns = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    assert!(patterns.contains("### Phase 3: Shopping Lists"));
    case.run("undo").success();
    assert_eq!(case.read("CLAUDE.md").unwrap(), edited.into_bytes());
}

#[test]
fn of_two_phases_with_one_number_lessons_are_of_the_one_that_the_digest_shows() {
    let case = Case::new(VBW);
    // It was finished before the other, and has one plan of its own.
    case.write(
        ".vbw-planning/phases/03-labels/03-01-PLAN.md",
        "---\nphase: 3\nplan: 1\ntitle: Labels\n---\n",
    )
    .write(
        ".vbw-planning/phases/03-labels/03-01-SUMMARY.md",
        "---\nphase: 3\nplan: 1\nstatus: complete\ncompleted: 2020-01-01\n---\n",
    );
    let digest = case.run("execute 3 --digest").success().stdout();
    let (own, other) = if digest.contains("(1 plan;") {
        ("03-labels", "03-shopping-lists")
    } else {
        ("03-shopping-lists", "03-labels")
    };
    case.write(
        "lessons.json",
        "{\"failed\":[{\"text\":\"A label is printed before its shelf is known\",\"plans\":[\"01\"]}]}",
    );
    let done = case.run("execute 3 --lessons lessons.json --json").success().json();
    assert_eq!(done["recorded"].as_array().unwrap().len(), 2, "{done}");
    let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    assert_eq!(text.matches("judged=1").count(), 1, "{text}");
    let entry_of = |name: &str| {
        let entries = text.split("\n### ");
        let mut of = entries.filter(|entry| entry.contains(&format!("phase-dir={name} ")));
        of.next().unwrap().to_owned()
    };
    assert!(entry_of(own).contains("- A label is printed before its shelf is known (plan 01)"));
    assert!(!entry_of(other).contains("judged=1"));
}

const LESSONS: &str = "{\"worked\":[{\"text\":\"Totals are summed by unit before they are shown, never across units\",\
                       \"plans\":[\"01\"]}],\"failed\":[{\"text\":\"`src/shopping.rs` must sort its lines, or tests depend \
                       on the order of a map\",\"files\":[\"src/shopping.rs\"]}]}";

#[test]
fn lessons_of_the_agent_take_the_place_of_chosen_ones() {
    let case = Case::new(VBW);
    case.run("execute 3").success();
    // Some editors begin a file with a mark.
    case.write("lessons.json", format!("\u{feff}{LESSONS}"));
    let done = case.run("execute 3 --lessons lessons.json --json").success();
    assert_eq!(done.json()["judged"], json!(["03-shopping-lists"]));
    let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    assert_eq!(text.matches("### Phase 3: Shopping Lists").count(), 1);
    assert!(text.contains("judged=1"), "{text}");
    assert!(
        text.contains(
            "- Totals are summed by unit before they are shown, never across units (plan 01)\n"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "- `src/shopping.rs` must sort its lines, or tests depend on the order of a map\n"
        ),
        "{text}"
    );
    let written = case.tree();
    let again = case.run("execute 3 --lessons lessons.json --json").success();
    assert_eq!(again.json()["judged"], json!([]));
    assert_eq!(again.json()["already"], json!(["03-shopping-lists"]));
    assert_unchanged(&written, &case, &again);
    // Somebody else's bullet stays, whatever is handed in.
    case.write(
        PATTERNS,
        text.replace("never across units (plan 01)\n", "never across (plan 01)\n"),
    );
    let before = case.tree();
    let refused = case.run("execute 3 --lessons lessons.json").code(4);
    assert!(refused.stderr().contains("were edited and are not replaced"), "{}", refused.stderr());
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn an_empty_list_says_that_nothing_was_recorded() {
    let case = Case::new(VBW);
    let summary = ".vbw-planning/phases/03-shopping-lists/03-01-SUMMARY.md";
    let text = String::from_utf8(case.read(summary).unwrap()).unwrap();
    let one = "deviations:\n  - \"Tasks 2 and 3 were committed together in one commit\"\n";
    case.write(summary, text.replace("deviations: []\n", one));
    // Without the other phases, no difference between plans is significant.
    for phase in ["01-event-log-store", "02-units-and-quantities", "02.1-lost-updates"] {
        let folder = case.root().join(".vbw-planning/phases").join(phase);
        std::fs::remove_dir_all(folder).unwrap();
    }
    case.run("execute 3").success();
    let entry = || {
        let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
        text[text.find("### Phase 3: Shopping Lists").unwrap()..].to_owned()
    };
    let none = "**What failed:**\n- none recorded\n\n";
    assert!(entry().contains(none), "{}", entry());
    let listed = case.run("patterns list --json").success().json();
    let recorded = listed["entries"].as_array().unwrap().last().unwrap();
    assert_eq!(recorded["failed"], json!([]), "{recorded}");
    let context = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(!context.contains("none recorded"), "{context}");
    // The bullets are still recognised as those that annals wrote, with either list replaced.
    let worked = json!({"worked": [{"text": "Totals are summed by unit, never across units", "plans": ["01"]}]});
    case.run("execute 3 --lessons -").stdin(worked.to_string()).success();
    assert!(entry().contains(none), "{}", entry());
    case.run("execute 3 --lessons -").stdin(LESSONS).success();
    assert!(!entry().contains("none recorded"), "{}", entry());
    case.run("execute 3 --lessons -").stdin(worked.to_string()).success();
    assert!(entry().contains(none), "{}", entry());
}

#[test]
fn lessons_replace_their_bullets_and_keep_every_other_line_end() {
    let case = Case::new(VBW);
    case.run("execute 3").success();
    let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    let crlf = text.replace('\n', "\r\n");
    let (start, end) = (crlf.find("**What worked:**").unwrap(), crlf.rfind("\r\n").unwrap());
    let bullets = crlf[start..end].replace("\r\n", "\n");
    let lf_bullets = format!("{}{bullets}{}", &crlf[..start], &crlf[end..]);
    case.write("lessons.json", LESSONS);
    for (text, lesson) in
        [(crlf, "never across units (plan 01)\r\n"), (lf_bullets, "never across units (plan 01)\n")]
    {
        case.write(PATTERNS, text + "by hand\n");
        case.run("execute 3 --lessons lessons.json").success();
        let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
        assert!(text.contains(lesson), "{text:?}");
        assert!(text.ends_with("\r\nby hand\n"), "{text:?}");
    }
}

#[test]
fn lessons_replace_nothing_in_a_file_that_is_not_utf_8() {
    let case = Case::new(VBW);
    case.run("execute 3").success();
    let mut bytes = case.read(PATTERNS).unwrap();
    bytes.extend(b"caf\xe9\n");
    case.write(PATTERNS, bytes);
    case.write("lessons.json", LESSONS);
    let before = case.tree();
    let refused = case.run("execute 3 --lessons lessons.json").code(4);
    let message = "is not valid UTF-8, so it is not changed";
    assert!(refused.stderr().contains(message), "{}", refused.stderr());
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn the_documented_lesson_is_recorded_and_the_same_again_is_refused() {
    let page = std::fs::read_to_string("docs/vbw.md").unwrap();
    let (_, lessons) = page.split_once("--lessons - <<'JSON'\n").unwrap();
    let (lessons, _) = lessons.split_once("JSON\n").unwrap();
    let case = Case::new(VBW);
    for plan in ["04-02", "04-03"] {
        let summary = std::fs::read(format!("templates/demo/{plan}-SUMMARY.md")).unwrap();
        let folder = ".vbw-planning/phases/04-low-stock-alerts";
        case.write(&format!("{folder}/{plan}-SUMMARY.md"), summary);
    }
    case.run("execute 4 --lessons -").stdin(lessons).success();
    let again = lessons.replace("Rates of use must", "All rates of use must");
    let refused = case.run("execute 3 --lessons -").stdin(again).code(4).stderr();
    assert!(refused.contains("\" is nearly the same as a recorded one: "), "{refused}");
}

#[test]
fn lessons_that_teach_nothing_are_refused_with_the_reason() {
    let case = Case::new(VBW);
    let before = case.tree();
    for (text, plans, reason) in [
        ("Everything went well in this phase of the work", "01", "contains only praise"),
        ("Too short", "01", "not a whole sentence"),
        ("Sort the lines before they are shown, or tests depend on", "01", "not a whole sentence"),
        ("Sort the lines before they are shown to anyone", "09", "names plan 09"),
        ("The key is AKIAIOSFODNN7EXAMPLF for the store of the tests", "01", "looks like a secret"),
    ] {
        let lessons = json!({"failed": [{"text": text, "plans": [plans]}]});
        let refused = case.run("execute 3 --lessons -").stdin(lessons.to_string()).code(4);
        assert!(refused.stderr().contains(reason), "{reason}: {}", refused.stderr());
        assert_unchanged(&before, &case, &refused);
    }
    let long = json!({"failed": [{"text": "a long lesson ".repeat(20), "plans": ["01"]}]});
    case.run("execute 3 --lessons -").stdin(long.to_string()).code(4);
    let none = json!({"failed": [{"text": "Sort the lines before they are shown to anyone"}]});
    let refused = case.run("execute 3 --lessons -").stdin(none.to_string()).code(4);
    assert!(refused.stderr().contains("neither a plan nor a file"), "{}", refused.stderr());
}

#[test]
fn no_lesson_is_an_answer() {
    for none in [
        "{\"worked\": [], \"failed\": []}",
        "What worked:\n- none recorded\n\nWhat failed:\n- none recorded\n",
    ] {
        let case = Case::new(VBW);
        let before = case.read(PATTERNS).unwrap();
        case.run("execute 3 --lessons -").stdin(none).success();
        let added =
            String::from_utf8(case.read(PATTERNS).unwrap().split_off(before.len())).unwrap();
        // What the summaries say is left out, too; statistics are no lessons.
        assert!(added.contains(" judged=1 ") && !added.contains("(plan"), "{added}");
    }
    let case = Case::new(VBW);
    case.run("execute 3 --lessons -").stdin("What worked:\n\nAll of it.\n").code(4);
}

#[test]
fn the_digest_says_what_a_judge_needs_and_changes_nothing() {
    let case = Case::new(VBW);
    let before = case.tree();
    let digest = case.run("execute 2 --digest").success();
    assert!(digest.stdout().starts_with("Phase 2: "), "{}", digest.stdout());
    assert!(digest.stdout().contains("annals execute 2 --lessons -"), "{}", digest.stdout());
    let document = case.run("execute 2 --digest --json").success().json();
    assert!(document["tokens"].as_u64().unwrap() <= 1_500, "{document}");
    assert_unchanged(&before, &case, &digest);
}

#[test]
fn the_digest_counts_deviations_that_no_summary_describes() {
    let case = Case::empty();
    case.write(".planning/phases/01-base/01-01-PLAN.md", "# Plan\n");
    let summary = "---\nstatus: complete\ndeviations: 2\n---\n# Summary\n\nDone.\n";
    case.write(".planning/phases/01-base/01-01-SUMMARY.md", summary);
    let digest = case.run("execute 1 --digest").success().stdout();
    assert!(digest.contains("\n- 2 deviations, none of which is described\n"), "{digest}");
}

#[test]
fn the_digest_names_open_checks_and_rounds_of_remediation() {
    let case = Case::empty();
    let dir = ".vbw-planning/phases/01-base";
    case.write(&format!("{dir}/01-01-PLAN.md"), "# Plan\n");
    case.write(&format!("{dir}/01-01-SUMMARY.md"), "---\nstatus: complete\n---\n# Summary\n");
    case.write(&format!("{dir}/01-UAT.md"), "---\nstatus: issues_found\n---\n# UAT\n");
    let said = || {
        let digest = case.run("execute 1 --digest").success().stdout();
        digest.lines().filter(|line| line.starts_with("- ")).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(said(), @r"
    - .vbw-planning/phases/01-base/01-UAT.md: issues_found
    - no deviation, issue or failed acceptance check in a summary
    ");
    let round = format!("{dir}/remediation/uat/round-01");
    case.write(&format!("{round}/R01-SUMMARY.md"), "---\nstatus: complete\n---\n# Summary\n");
    case.write(&format!("{round}/R01-UAT.md"), "---\nstatus: complete\n---\n# UAT\n");
    assert_snapshot!(said(), @r"
    - .vbw-planning/phases/01-base/remediation: what checks found
    - no deviation, issue or failed acceptance check in a summary
    ");
}

#[test]
fn effort_is_what_was_recorded_or_what_the_caller_says() {
    let case = Case::new(VBW);
    case.run("execute 3 --effort careful").success();
    case.run("execute --all").success();
    let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    let of = |phase: &str| {
        let entry = text.split(phase).last().unwrap();
        entry.split("- Effort: ").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(of("### Phase 3: Shopping"), "careful");
    // What only some plans say is not said of all.
    assert_eq!(of("### Phase 1: Event"), "thorough (2 of 3 plans)");
}

#[test]
fn past_phases_are_named_by_their_own_roadmap_or_their_folder() {
    let case = Case::empty();
    let summary = "---\nphase: 2\nplan: 1\nstatus: complete\n---\n# Summary\n";
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n## Phases\n\n- [x] **Phase 2: Signage**\n- [x] **Phase 3: The Harbour Map**\n",
    )
    .write(
        ".planning/milestones/v1.0-ROADMAP.md",
        "# Roadmap\n\n## Phases\n\n- [x] **Phase 1: Boats (with crews)**\n",
    )
    .write(".planning/milestones/v1.0-phases/01-boats/01-01-PLAN.md", "# Plan\n")
    .write(".planning/milestones/v1.0-phases/01-boats/01-01-SUMMARY.md", summary)
    .write(".planning/phases/02-remove-piers/02-01-PLAN.md", "# Plan\n")
    .write(".planning/phases/02-remove-piers/02-01-SUMMARY.md", summary)
    .write(".planning/phases/03-harbour-map/03-01-PLAN.md", "# Plan\n")
    .write(".planning/phases/03-harbour-map/03-01-SUMMARY.md", summary);
    case.run("execute --all").success();
    let recorded = String::from_utf8(case.read(".planning/patterns/PATTERNS.md").unwrap()).unwrap();
    let titles: Vec<&str> = recorded
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|title| title.split(" (unknown)").next().unwrap_or(title))
        .collect();
    assert_eq!(
        titles,
        ["Phase 1: Boats (with crews)", "Phase 2: Remove piers", "Phase 3: The Harbour Map"]
    );
}
