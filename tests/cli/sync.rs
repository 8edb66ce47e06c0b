//! `annals sync`

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::cli::{GSD, VBW, YOLO, assert_error};
use crate::support::{Case, require};

#[test]
fn the_file_is_made_and_left_alone_after() {
    for (name, example) in [("yolo", YOLO), ("gsd", GSD)] {
        let case = Case::new(example);
        let first = case.run("sync").success();
        assert!(first.stdout().starts_with("CLAUDE.md created ("), "{}", first.report());
        assert_eq!(first.stderr(), "");
        assert_snapshot!(format!("sync_{name}"), text(&case, "CLAUDE.md"));
        let written = fs::metadata(case.root().join("CLAUDE.md")).unwrap();
        let second = case.run("sync").success();
        assert!(second.stdout().starts_with("CLAUDE.md unchanged ("), "{}", second.report());
        let after = fs::metadata(case.root().join("CLAUDE.md")).unwrap();
        assert_eq!(after.modified().unwrap(), written.modified().unwrap());
    }
}

#[test]
fn the_block_is_put_above_the_text_that_was_there() {
    let case = Case::new(VBW);
    let own = text(&case, "CLAUDE.md");
    let sync = case.run("sync").success();
    assert_eq!(sync.stdout(), "CLAUDE.md updated (69 lines).\n");
    let written = text(&case, "CLAUDE.md");
    assert!(written.ends_with(&own));
    assert_snapshot!("sync_vbw", written);
}

#[test]
fn what_an_archive_says_was_shipped_need_not_stay_beside_the_block() {
    let case = Case::new(VBW);
    let own = text(&case, "CLAUDE.md");
    let section = "## Active Context\n\n**Work:** No active milestone\n\
                   **Last shipped:** First Shelf (2026-01-21), version 0.1, 3 phases\n";
    case.write("CLAUDE.md", format!("{own}\n{section}"));
    let sync = case.run("sync").success();
    let warning = "warning: CLAUDE.md:28: \"## Active Context\": written by VBW, replaced by the \
                   block; `annals undo` restores it\n";
    assert_eq!(sync.stderr(), warning, "{}", sync.report());
    let written = text(&case, "CLAUDE.md");
    assert!(!written.contains("Last shipped"), "{written}");
    assert!(written.ends_with(&own), "{written}");
}

#[test]
fn the_document_says_what_was_done() {
    let sync = Case::new(VBW).run("sync --json").success();
    let file = json!({
        "file": "CLAUDE.md", "outcome": "updated", "lines": 69, "shrunk": [], "excess": 0
    });
    sync.stdout_json(&json!({
        "corrections": [], "left": [],
        "context": {"files": [file], "refused": [], "warnings": []},
        "changed": ["CLAUDE.md"], "diff": null, "warnings": []
    }));
    assert_eq!(sync.stderr(), "");
}

#[test]
fn a_check_shows_the_diff_and_writes_nothing() {
    let case = Case::new(YOLO);
    let before = case.whole_tree();
    let check = case.run("sync --check").code(1);
    assert_snapshot!("sync_check", check.stdout());
    assert_eq!(check.stderr(), "error: out of date: CLAUDE.md\nhint: annals sync\n");
    let document = case.run("sync --check --json").code(1).json();
    assert_eq!(document["changed"], json!(["CLAUDE.md"]));
    assert!(check.stdout().ends_with(document["diff"].as_str().unwrap()));
    assert_eq!(
        document["error"],
        json!({
            "kind": "failed", "message": "out of date: CLAUDE.md", "place": null, "hint": "annals sync"
        })
    );
    assert_eq!(before, case.whole_tree());
    case.run("sync").success();
    let check = case.run("sync --check").success();
    assert_eq!(check.stdout(), "CLAUDE.md unchanged (23 lines).\n");
}

#[test]
fn a_preview_is_the_file_byte_for_byte() {
    let case = Case::new(VBW);
    // A user's own text may hold what no terminal should get, and what is not UTF-8.
    case.write("CLAUDE.md", b"# Mine\r\n\x1b[31mred\x1b[0m \xff\r\n");
    let before = case.whole_tree();
    case.shell("\"$ANNALS\" sync --stdout >../preview").success();
    assert_eq!(before, case.whole_tree());
    let document = case.run("sync --stdout --json").success().json();
    assert_eq!(document["file"], "CLAUDE.md");
    assert!(document["text"].as_str().unwrap().ends_with("red\u{1b}[0m \u{fffd}\r\n"));
    case.run("sync").success();
    assert_eq!(case.read("../preview"), case.read("CLAUDE.md"));
}

#[test]
fn a_preview_tells_what_was_read_in_part() {
    let case = Case::new(VBW);
    case.write(".vbw-planning/ACTIVE", "nowhere");
    let preview = case.run("sync --stdout").success();
    assert!(
        preview.stderr().starts_with("warning: .vbw-planning/ACTIVE:1: "),
        "{}",
        preview.report()
    );
}

#[test]
fn other_files_get_the_block_where_asked_for_and_keep_it() {
    let case = Case::new(YOLO);
    let first = case.run("sync --target agents,gemini").success();
    assert_eq!(first.stdout(), "AGENTS.md created (23 lines).\nGEMINI.md created (23 lines).\n");
    assert_eq!(case.read("CLAUDE.md"), None);
    case.write(".yolo-planning/STATE.md", "# State\n");
    let second = case.run("sync").success();
    let names: Vec<_> =
        second.stdout().lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(names, ["AGENTS.md", "GEMINI.md"]);
    assert_eq!(case.read("CLAUDE.md"), None, "it would hide AGENTS.md");
    assert_eq!(case.read("GEMINI.md"), case.read("AGENTS.md"));
}

#[test]
fn where_codex_is_the_only_client_agents_md_is_the_default_and_a_named_file_is_obeyed() {
    for (setting, line, file) in [
        ("", "sync", "AGENTS.md"),
        ("", "sync --target claude", "CLAUDE.md"),
        ("", "sync --target codex", "AGENTS.md"),
        ("targets = [\"claude\"]\n", "sync", "CLAUDE.md"),
    ] {
        let case = Case::new(YOLO);
        case.write("annals.toml", setting);
        case.run("setup codex").success();
        let preview = case.run(&format!("{line} --stdout --json")).success().json();
        assert_eq!(preview["file"], file, "{setting}{line}");
        let done = case.run(line).success();
        assert_eq!(done.stdout(), format!("{file} created (23 lines).\n"), "{setting}{line}");
    }
}

#[test]
fn without_a_planning_folder_the_file_of_the_only_client_is_hinted_at() {
    let case = Case::empty();
    case.write("AGENTS.md", "# Mine\n").run("setup codex").success();
    case.run("remember we pin node 20").success();
    assert_error(
        &case.run("sync").code(3),
        "[ROOT]: no planning folder here",
        "`annals sync --target agents` writes what is remembered here into a file that sessions read; `annals init` starts a plan",
    );
    assert!(case.run("sync --target agents").success().stdout().starts_with("AGENTS.md updated ("));
}

#[test]
fn hand_edits_move_below_the_block() {
    let case = Case::new(YOLO);
    case.run("sync").success();
    let generated = text(&case, "CLAUDE.md");
    let edited = generated.replace("## Active", "Ask Ada.\n\n## Active");
    case.write("CLAUDE.md", &edited);
    let checked = case.run("sync --check").code(1);
    assert!(checked.stdout().contains("\n+Ask Ada.\n"), "{}", checked.report());
    let shown = case.run("sync --stdout").success().stdout();
    assert_eq!(text(&case, "CLAUDE.md"), edited);
    let done = case.run("sync").success();
    assert_eq!(
        done.stderr(),
        "warning: CLAUDE.md:1: 1 line added to the block by hand, kept below it\n"
    );
    let moved = generated.clone() + "\nAsk Ada.\n";
    assert_eq!((text(&case, "CLAUDE.md"), shown), (moved.clone(), moved));
    case.run("undo").success();
    assert_eq!(text(&case, "CLAUDE.md"), edited);
}

#[test]
fn what_was_changed_in_a_block_moves_below_it_where_the_undo_history_has_the_block() {
    let case = Case::new(YOLO);
    case.run("sync").success();
    let generated = text(&case, "CLAUDE.md");
    change_block(&case, &generated);
}

#[test]
fn what_was_changed_in_a_committed_block_moves_below_it() {
    if !require("git") {
        return;
    }
    let case = Case::new(YOLO);
    case.run("sync").success();
    let generated = text(&case, "CLAUDE.md");
    case.git_init();
    case.commit("Add the context file", "2026-02-17T10:11:12Z");
    fs::remove_dir_all(case.root().join(".annals")).unwrap();
    change_block(&case, &generated);
}

/// Changes a line of the block and adds another, and looks for both below it after a `sync`.
fn change_block(case: &Case, generated: &str) {
    let edited =
        generated.replace("never zeros", "or zeros").replace("## Active", "Ask Ada.\n\n## Active");
    case.write("CLAUDE.md", &edited);
    case.run("sync").success();
    let written = text(case, "CLAUDE.md");
    assert!(written.starts_with(generated), "{written}");
    let below = &written[generated.len()..];
    assert!(below.contains("\nAsk Ada.\n") && below.contains("or zeros"), "{below}");
}

#[test]
fn a_conflict_in_the_block_is_left_to_its_merge() {
    let case = Case::new(YOLO);
    case.run("sync").success();
    let torn = text(&case, "CLAUDE.md").replacen(
        "## Active",
        "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n## Active",
        1,
    );
    case.write("CLAUDE.md", &torn);
    let left = case.run("sync").success();
    assert_eq!(left.stdout(), "CLAUDE.md in conflict (28 lines).\n");
    assert!(left.stderr().contains("the block contains a merge conflict"));
    assert_eq!(text(&case, "CLAUDE.md"), torn);
    let checked = case.run("sync --check").code(1).stderr();
    assert!(checked.contains("error: CLAUDE.md: has an unresolved merge conflict"), "{checked}");
    let audit = case.run("audit --check").code(1).stdout();
    assert!(audit.contains("files     conflicts      fault        1"), "{audit}");
}

#[test]
fn a_conflict_is_named_without_a_planning_folder_too() {
    let case = Case::empty();
    case.run("remember the gateway listens on 7443").success();
    case.run("sync --target claude").success();
    let block = text(&case, "CLAUDE.md");
    let (begin, rest) = block.split_once('\n').unwrap();
    let ours = begin.replace("sha256=", "sha256=0");
    case.write(
        "CLAUDE.md",
        format!("<<<<<<< ours\n{ours}\n=======\n{begin}\n>>>>>>> theirs\n{rest}"),
    );
    let left = case.run("sync").success();
    assert!(left.stderr().contains("CLAUDE.md:1: the block contains a merge conflict"));
}

#[test]
fn a_missing_planning_folder_is_not_found_and_nothing_is_written() {
    let case = Case::empty();
    let looked_for = "looked for .vbw-planning, .yolo-planning, .planning, .ariadna_planning; `annals init` creates one, --planning-dir names another";
    let remember = "nothing is remembered here yet: `annals remember TEXT` stores a sentence; `annals init` starts a plan";
    for (line, hint) in [
        ("sync", looked_for),
        ("sync --check", looked_for),
        ("sync --stdout", looked_for),
        ("sync --target agents", remember),
    ] {
        let outcome = case.run(line).code(3);
        assert_error(&outcome, "[ROOT]: no planning folder here", hint);
        assert!(case.whole_tree().is_empty(), "{}", outcome.report());
    }
}

#[test]
fn a_block_with_lines_that_may_be_the_users_is_not_taken_out() {
    let case = Case::empty();
    case.run("remember the gateway listens on 7443").success();
    case.run("sync --target claude").success();
    let edited =
        text(&case, "CLAUDE.md").replace("###", "Ask Ada.\n\n###").replace("listens", "waits");
    case.write("CLAUDE.md", &edited);
    // As in a clone, nothing tells how it was generated.
    for folder in [".vibekit", ".annals"] {
        fs::remove_dir_all(case.root().join(folder)).unwrap();
    }
    let refused = case.run("sync --target claude").code(4);
    assert!(refused.stderr().contains("the edits cannot be separated"), "{}", refused.report());
    assert_eq!(text(&case, "CLAUDE.md"), edited);
}

#[test]
fn what_is_remembered_without_a_planning_folder_goes_where_it_is_asked_for() {
    let case = Case::empty();
    case.write("CLAUDE.md", "# Mine\n\n## Active Context\n\n**Phase:** 1 - A (done)\n");
    let own = case.tree();
    case.run("remember --confidence high the gateway listens on 7443").success();
    case.run("notepad priority never touch the schema").success();
    case.run("facts add --key health.diet --value vegan --user ada").success();
    let refused = case.run("sync").code(3);
    assert_error(
        &refused,
        "[ROOT]: no planning folder here",
        "`annals sync --target claude` writes what is remembered here into a file that sessions read; `annals init` starts a plan",
    );
    let sync =
        |rest: &str| case.run(&format!("sync --target claude {rest}")).env("ANNALS_USER", "ada");
    let check = sync("--check").code(1);
    assert!(check.stderr().ends_with("hint: annals sync --target claude\n"), "{}", check.report());
    let shown = sync("--stdout").success().stdout();
    sync("--dry-run").success();
    assert_eq!(case.read("CLAUDE.md"), own.get("CLAUDE.md").cloned());
    let done = sync("").success();
    assert_eq!(
        (done.stdout().as_str(), done.stderr().as_str()),
        ("CLAUDE.md updated (19 lines).\n", "")
    );
    assert_snapshot!("sync_memory", text(&case, "CLAUDE.md"));
    assert_eq!(text(&case, "CLAUDE.md"), shown);
    assert_eq!(sync("").success().stdout(), "CLAUDE.md unchanged (19 lines).\n");
    case.run("notepad priority freeze until Friday").success();
    assert!(text(&case, "CLAUDE.md").contains("freeze until Friday"));
    case.run("undo").success();
    // A session that reads the file gets nothing twice; its end brings the block up to date.
    let start = case.run("hook session-start").stdin("{}").success().stdout();
    assert_eq!(start, "");
    // So does each write to the entries.
    case.run("forget gateway-listens-7443 --reason moved").success();
    assert!(!text(&case, "CLAUDE.md").contains("7443"));
    case.run("undo").success();
    assert!(text(&case, "CLAUDE.md").contains("7443"));
    let edit = |from, to| {
        let file = ".vibekit/notepad.md";
        case.write(file, text(&case, file).replace(from, to));
    };
    edit("never touch the schema", "ask before a release");
    let audit = case.run("audit").success().stdout();
    assert!(
        audit.contains("annals sync --target claude\n    CLAUDE.md: is out of date"),
        "{audit}"
    );
    case.run("hook session-end").stdin("{}").success();
    assert!(text(&case, "CLAUDE.md").contains("ask before a release"));
    // A file that has the block needs no target.
    edit("before a release", "before a release\n- the port is fixed");
    let check = case.run("sync --check").code(1);
    assert!(check.stderr().ends_with("hint: annals sync\n"), "{}", check.report());
    assert_eq!(case.run("sync").success().stdout(), "CLAUDE.md updated (20 lines).\n");
    assert!(text(&case, "CLAUDE.md").contains("the port is fixed"));
    assert_eq!(case.read("AGENTS.md"), None);
}

#[test]
fn no_block_is_removed_while_the_ledger_cannot_be_read() {
    let case = Case::empty();
    case.run("remember the gateway listens on 7443").success();
    case.run("sync --target claude").success();
    let synced = case.read("CLAUDE.md");
    fs::remove_dir_all(case.root().join(".vibekit")).unwrap();
    case.write("docs/memory/STATE.md", "x".repeat(9 << 20));
    let refused = case.run("sync --target claude").code(4);
    assert!(refused.stderr().contains("so no block was removed"), "{}", refused.report());
    assert_eq!(case.read("CLAUDE.md"), synced);
}

#[test]
fn a_block_about_a_plan_stays_where_its_folder_is_missing() {
    let case = Case::new(VBW);
    case.run("sync").success();
    let page = case.read("CLAUDE.md");
    fs::rename(case.root().join(".vbw-planning"), case.home().join("away")).unwrap();
    case.run("sync --target claude").code(3);
    case.run("remember the port is 7443").success();
    case.run("forget port-7443 --reason wrong").success();
    case.run("sync --target claude").code(3);
    assert_eq!(case.read("CLAUDE.md"), page);
}

#[test]
fn a_block_with_nothing_left_to_say_is_taken_out() {
    let case = Case::empty();
    case.write("AGENTS.md", "  mine\n");
    case.run("remember the gateway listens on 7443").success();
    case.run("sync --target agents,gemini").success();
    let synced = case.tree();
    case.write("CLAUDE.md", "@AGENTS.md\n");
    fs::remove_dir_all(case.root().join(".vibekit")).unwrap();
    let audit = case.run("audit").success().stdout();
    let expected = "\
context   block          attention    2  annals sync --target agents
    AGENTS.md: its block is no longer updated: there is no planning folder, and nothing is remembered
    GEMINI.md: its block is no longer updated: there is no planning folder, and nothing is remembered
";
    assert!(audit.starts_with(expected), "{audit}");
    for line in ["sync --target agents", "sync"] {
        let check = case.run(&format!("{line} --check")).code(1);
        assert!(check.stderr().contains("out of date: AGENTS.md, GEMINI.md"), "{}", check.report());
        let done = case.run(line).success();
        assert_eq!(done.stdout(), "AGENTS.md block removed (1 line).\nGEMINI.md deleted.\n");
        assert_eq!(text(&case, "AGENTS.md"), "  mine\n");
        assert_eq!(case.read("GEMINI.md"), None);
        case.run(line).code(3);
        assert!(!case.run("audit").success().stdout().contains("attention"));
        case.run("undo").success();
        for file in ["AGENTS.md", "GEMINI.md"] {
            assert_eq!(case.read(file), synced.get(file).cloned());
        }
    }
}

#[test]
fn a_block_stays_while_what_is_remembered_cannot_be_read() {
    let case = Case::empty();
    case.run("remember the gateway listens on 7443").success();
    case.run("notepad priority call the gateway").success();
    case.run("sync --target claude").success();
    let synced = text(&case, "CLAUDE.md");
    assert!(synced.contains("call the gateway"), "{synced}");
    let notepad = case.root().join(".vibekit/notepad.md");
    fs::remove_file(&notepad).unwrap();
    fs::create_dir(&notepad).unwrap();
    let failed = case.run("sync --target claude").code(1);
    assert!(failed.stderr().contains(".vibekit/notepad.md: is a directory"), "{}", failed.report());
    case.run("hook session-end").stdin("{}").success();
    assert_eq!(text(&case, "CLAUDE.md"), synced);
}

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap()).unwrap()
}

/// A GSD project in milestone v1.1, whose phase 2 is done.
fn second_milestone() -> Case {
    let case = Case::empty();
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap: A\n\n- [x] **Phase 1: One** - a\n- [ ] **Phase 2: Two** - b\n- [ ] **Phase 3: Three** - c\n\n\
         | Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n\
         | 1. One | 2/2 | Complete | 2026-01-02 |\n| 2. Two | 1/1 | Not started | - |\n",
    );
    for plan in ["01-one/01-01", "01-one/01-02", "02-two/02-01", "03-three/03-01"] {
        case.write(&format!(".planning/phases/{plan}-PLAN.md"), "# Plan\n");
    }
    let done = "---\nstatus: complete\nduration: 10min\n---\n\n# Summary\n";
    for summary in ["01-one/01-01", "02-two/02-01"] {
        case.write(&format!(".planning/phases/{summary}-SUMMARY.md"), done);
    }
    case
}

#[test]
fn a_repair_that_leaves_a_line_has_its_corrections_and_the_error_in_one_document() {
    let case = Case::new(VBW);
    let untick = |text: String| text.replacen("- [x] [Phase 2:", "- [ ] [Phase 2:", 1);
    let roadmap = text(&case, ".vbw-planning/ROADMAP.md");
    case.write(".vbw-planning/ROADMAP.md", untick(roadmap));
    let state = text(&case, ".vbw-planning/STATE.md")
        .replace("Phase: 4 of 5 (Low-Stock Alerts)", "Phase: 3 of 5 (Shopping Lists)")
        .replace("Status: in progress", "Status: waiting for Mira to answer");
    case.write(".vbw-planning/STATE.md", state);
    let mut document = case.run("sync --fix-state --json").code(1).json();
    document["context"].take();
    assert_snapshot!(serde_json::to_string_pretty(&document).unwrap(), @r#"
    {
      "corrections": [
        {
          "kind": "checkbox",
          "stated": "[ ]",
          "written": "[x]",
          "file": ".vbw-planning/ROADMAP.md",
          "line": 22,
          "because": ".vbw-planning/phases/02-units-and-quantities: 4 plans, 4 summaries, 4 declared"
        }
      ],
      "left": [
        {
          "kind": "phase",
          "stated": "3",
          "actual": "4",
          "file": ".vbw-planning/STATE.md",
          "line": 8
        }
      ],
      "context": null,
      "changed": [
        ".vbw-planning/ROADMAP.md",
        "CLAUDE.md"
      ],
      "diff": null,
      "warnings": [],
      "error": {
        "kind": "failed",
        "message": "1 corrected, 1 left as they are: .vbw-planning/STATE.md:8: the current phase is 3, but the files show 4",
        "place": {
          "file": ".vbw-planning/STATE.md",
          "line": 8
        },
        "hint": "these lines contain more than a status, or their file is not UTF-8; edit them by hand"
      }
    }
    "#);
}

#[test]
fn metrics_of_other_milestones_and_free_text_are_left_alone() {
    let case = second_milestone();
    let state = "---\nmilestone: v1.1\n---\n\n# State\n\nPhase: 3 of 3 (Three)\n\n## Performance Metrics\n\n";
    let own = "**Velocity (v1.1):**\n- Total plans completed: 1\n";
    case.write(".planning/STATE.md", format!("{state}{own}"));
    let drift = case.run("status --json").success().json()["drift"].clone();
    let drift = drift.as_array().unwrap();
    let metrics: Vec<_> = drift.iter().filter(|one| one["kind"] == "metric").collect();
    let [metric] = metrics.as_slice() else { panic!("{drift:?}") };
    assert_eq!((&metric["stated"], &metric["actual"]), (&json!("1"), &json!("2")));
    case.run("sync --fix-state").success();
    let written = String::from_utf8(case.read(".planning/STATE.md").unwrap()).unwrap();
    assert_eq!(written, format!("{state}{}", own.replace('1', "2").replace("v2.2", "v1.1")));
    // Beside those of another milestone it is unclear whose count it is, as it is in a second count, and a remark counts
    // other work.
    let other = format!("**Velocity (v1.0):**\n- Total plans completed: 1\n\n{own}");
    for metrics in [
        other.as_str(),
        "- Total plans completed: 1\n- Total plans completed: 1\n",
        "- Total plans completed: 1 (in v1.0)\n- Average duration: 4 min\n",
    ] {
        let text = format!("{state}{metrics}");
        case.write(".planning/STATE.md", &text);
        case.run("sync --fix-state").success();
        let written = String::from_utf8(case.read(".planning/STATE.md").unwrap()).unwrap();
        assert_eq!(written, text);
    }
}

#[test]
fn an_unfinished_phase_is_not_ticked_off() {
    let case = second_milestone();
    case.write(".planning/STATE.md", "# State\n\nPhase: 3 of 3 (Three)\n");
    case.write(
        ".planning/phases/02-two/02-01-SUMMARY.md",
        "---\nstatus: partial\n---\n\n# Summary\n",
    );
    case.run("sync --fix-state").code(4);
    let roadmap = String::from_utf8(case.read(".planning/ROADMAP.md").unwrap()).unwrap();
    assert!(roadmap.contains("- [ ] **Phase 2: Two**"), "{roadmap}");
}

#[test]
fn a_complete_row_is_not_set_back_because_of_an_old_check() {
    let case = second_milestone();
    case.write(".planning/STATE.md", "# State\n\nPhase: 1 of 3 (One)\n");
    fs::remove_file(case.root().join(".planning/phases/02-two/02-01-SUMMARY.md")).unwrap();
    // The second plan of phase 1 has no summary.
    let check = ".planning/phases/01-one/01-VERIFICATION.md";
    case.write(check, "---\nstatus: gaps_found\n---\n");
    let stated = |case: &Case| {
        let status = case.run("status --json").success().json();
        let drift = status["drift"].as_array().unwrap().clone();
        let mut rows = drift.iter().filter(|one| one["kind"] == "progress_row");
        rows.any(|one| one["stated"] == "Complete")
    };
    assert!(!stated(&case));
    let roadmap = String::from_utf8(case.read(".planning/ROADMAP.md").unwrap()).unwrap();
    case.write(".planning/ROADMAP.md", roadmap.replace("2026-01-02", "-"));
    assert!(!stated(&case));
}

#[test]
fn secrets_are_redacted_with_a_warning_that_says_where_they_are() {
    let case = Case::empty();
    let key = |n: u8| ["ghp", &format!("_q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eU{n}")].concat();
    let state = format!(
        "# State\n\n## Decisions\n\n- Deploy with {} only. It is new.\n\n## Blockers\n\n- The key {} has expired\n",
        key(1),
        key(2)
    );
    case.write(".vbw-planning/STATE.md", state);
    case.write(".vbw-planning/ROADMAP.md", "# Roadmap\n\n- [ ] Phase 1: Dial\n");
    case.write(
        ".vbw-planning/PROJECT.md",
        format!("# Sundial\n\n**Core value:** {} tells the time\n", key(3)),
    );
    let synced = case.run("sync").success();
    assert_snapshot!(synced.stderr(), @r"
    warning: .vbw-planning/STATE.md:5: a decision contains what looks like a secret (github-token); the context file shows [redacted]
    warning: .vbw-planning/PROJECT.md:3: the core value contains what looks like a secret (github-token); the context file shows [redacted]
    warning: .vbw-planning/STATE.md:9: a blocker contains what looks like a secret (github-token); the context file shows [redacted]
    ");
    let text = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert_eq!(text.matches("[redacted]").count(), 3, "{text}");
}

#[test]
fn a_summary_of_an_archive_that_cannot_be_read_is_named() {
    let case = Case::new(VBW);
    let file = ".vbw-planning/milestones/pilot/phases/01-store/01-01-SUMMARY.md";
    case.write(file, "---\nstatus: [\n---\n");
    assert_eq!(case.run("sync").success().stderr(), "");
    fs::File::create(case.root().join(file)).unwrap().set_len(9 << 20).unwrap();
    let warning = format!("warning: {file}: is larger than 8 MiB, so it is not read\n");
    assert_eq!(case.run("sync").success().stderr(), warning);
}
