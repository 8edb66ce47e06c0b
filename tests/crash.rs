//! A command killed at any file operation is completed by the next one, and nothing is lost.

#[cfg(debug_assertions)]
use std::collections::BTreeSet;

#[cfg(debug_assertions)]
use crate::support::{Case, Tree, difference};

/// Kills `command` at its n-th file operation for all n, each in a copy of the project, then runs one of `nexts`, each in
/// its turn.
///
/// For every n, the final tree must be that of a run that was not killed; if the next is another command, it may
/// also be that of a run that never began.
#[cfg(debug_assertions)]
fn killed_at_every_operation(prepared: &Case, command: &str, nexts: &[&str]) {
    let ends: Vec<(&str, Tree, Tree)> = nexts
        .iter()
        .map(|next| {
            let never_begun = prepared.copy();
            never_begun.run(next).success();
            (*next, final_tree(&prepared.copy(), command, next, None).0, never_begun.tree())
        })
        .collect();
    let mut kills = 0;
    for nth in 1.. {
        let (next, whole, never_begun) = &ends[nth % ends.len()];
        let (tree, was_killed) = final_tree(&prepared.copy(), command, next, Some(nth));
        let lost = difference(whole, &tree);
        let is_right = lost.is_empty() || tree == *never_begun;
        assert!(is_right, "{command}, killed at operation {nth}:\n{}", lost.join("\n"));
        if !was_killed {
            break;
        }
        kills += 1;
    }
    assert!(kills > 3, "{command} was killed {kills} times only: the fail point is not armed");
}

#[cfg(debug_assertions)]
fn final_tree(case: &Case, command: &str, next: &str, nth: Option<usize>) -> (Tree, bool) {
    let mut run = case.run(command);
    if let Some(nth) = nth {
        run = run.env("ANNALS_FAIL_AFTER", nth.to_string());
    }
    let outcome = run.output();
    let was_killed = outcome.exit_code().is_none();
    assert!(was_killed || outcome.exit_code() == Some(0), "{}", outcome.report());
    case.run(next).success();
    (case.tree(), was_killed)
}

/// A project of two phases, the first of them finished.
#[cfg(debug_assertions)]
fn project() -> Case {
    let case = Case::empty();
    for (file, text) in [
        ("PROJECT.md", "# Sundial\n\nShows the time.\n"),
        ("STATE.md", "# State\n\nPhase: 2 of 2 (Face)\nStatus: Ready to plan\n"),
        ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Dial**\n- [ ] **Phase 2: Face**\n"),
        ("phases/01-dial/01-01-PLAN.md", "---\nphase: 1\nplan: 1\n---\n# Cut the dial\n"),
        (
            "phases/01-dial/01-01-SUMMARY.md",
            "---\nphase: 1\nplan: 1\nstatus: complete\n---\n# Cut\n\n## Deviations\n\nNone.\n",
        ),
    ] {
        case.write(&format!(".vbw-planning/{file}"), text);
    }
    case
}

#[cfg(debug_assertions)]
#[test]
fn ship_is_completed_by_the_next_command() {
    killed_at_every_operation(&project(), "ship --force", &["ship --force", "sync"]);
}

#[cfg(debug_assertions)]
#[test]
fn recording_is_completed_by_the_next_command() {
    killed_at_every_operation(&project(), "execute --all", &["execute --all"]);
}

#[cfg(debug_assertions)]
#[test]
fn init_is_completed_by_the_next_command() {
    let project = Case::empty();
    project.write("Cargo.toml", "[package]\nname = \"sundial\"\n");
    killed_at_every_operation(&project, "init --name sundial", &["init --name sundial"]);
}

#[cfg(debug_assertions)]
#[test]
fn a_ledger_update_is_completed_by_the_next_command() {
    let project = Case::empty();
    project.write(
        "update.json",
        r#"{"state":{"objective":"Ship","active_work":["Write"]},
        "constraints":[{"op":"add","section":"Rules","bullet":"Never panic"}],
        "decisions":[{"date":"2026-02-27","title":"T","why":"w","impact":"i","evidence":"https://example.org/pull/1"}],
        "rollup":["T"]}"#,
    );
    project.run("ledger init").success();
    let update = "ledger update --file update.json";
    // A command that reads the ledger before it writes it finds the old files or the new.
    killed_at_every_operation(&project, update, &[update, "ledger init"]);
}

#[cfg(debug_assertions)]
fn entries() -> Case {
    let case = Case::empty();
    case.write("body.md", "# New\n\nOne line.\n");
    for key in ["old", "new"] {
        let line = format!("entry write --key {key} --type gotcha --confidence low --body-stdin");
        case.run(&line).stdin(format!("The {key} one.\n")).success();
    }
    case
}

#[cfg(debug_assertions)]
#[test]
fn a_note_is_whole_after_the_same_request_and_stands_once() {
    for command in ["notepad priority fact --request-id 1", "notepad working note --request-id 1"] {
        killed_at_every_operation(&Case::empty(), command, &[command]);
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_killed_entry_write_is_completed_or_never_began() {
    let write = "entry write --key old --type gotcha --confidence high --body @body.md";
    killed_at_every_operation(&entries(), write, &["entry audit"]);
    let fresh =
        "entry write --key fresh --type gotcha --confidence high --body @body.md --request-id one";
    killed_at_every_operation(&entries(), fresh, &[fresh]);
}

#[cfg(debug_assertions)]
#[test]
fn a_killed_supersede_or_delete_is_completed_or_never_began() {
    killed_at_every_operation(&entries(), "entry supersede --old old --new new", &["entry audit"]);
    killed_at_every_operation(
        &entries(),
        "entry delete --key old --reason because",
        &["entry audit"],
    );
}

#[cfg(debug_assertions)]
#[test]
fn a_note_is_completed_or_not_begun_when_another_one_follows() {
    let with_notepad = Case::empty();
    with_notepad.write(".vibekit/notepad.md", "## Mine\nkeep\n\n## Manual\nmine\n");
    killed_at_every_operation(&with_notepad, "notepad manual note", &["notepad working other"]);
}

/// The same, with a note of an earlier session.
#[cfg(debug_assertions)]
fn paused() -> Case {
    let case = project();
    case.run("pause first").success();
    case
}

#[cfg(debug_assertions)]
#[test]
fn a_killed_pause_is_completed_or_never_began() {
    killed_at_every_operation(&project(), "pause first", &["pause first"]);
    // Another command that writes plan state finds the old note or the new.
    killed_at_every_operation(&paused(), "pause second", &["pause second", "execute --all"]);
}

#[cfg(debug_assertions)]
#[test]
fn whenever_a_pause_is_killed_resume_reads_one_whole_note() {
    let (paused, mut kills) = (paused(), 0);
    for nth in 1.. {
        let case = paused.copy();
        let run = case.run("pause second");
        let killed = run.env("ANNALS_FAIL_AFTER", nth.to_string()).output();
        let read = case.run("resume --json").success().json();
        assert_eq!(read["is_own"], true, "killed at operation {nth}: {read}");
        let note = read["notes"].as_str().unwrap();
        if killed.exit_code().is_some() {
            assert_eq!(note, "second");
            break;
        }
        kills += 1;
        let is_whole = ["first", "second"].contains(&note);
        assert!(is_whole, "killed at operation {nth}: {note}");
    }
    assert!(kills > 3, "the fail point is not armed");
}

/// The same where a generation of VBW is installed that has a folder for each milestone.
#[cfg(debug_assertions)]
fn with_older_vbw() -> Case {
    let case = project();
    case.write(".claude/plugins/cache/vbw/vbw/1.0.0/commands/plan.md", "# Plan\n");
    case
}

#[cfg(debug_assertions)]
#[test]
fn a_killed_start_of_a_milestone_is_completed_or_never_began() {
    let start = "milestone new offline-mode";
    killed_at_every_operation(&with_older_vbw(), start, &[start, "sync"]);
}

#[cfg(debug_assertions)]
#[test]
fn a_killed_switch_of_milestones_is_completed_or_never_began() {
    let project = with_older_vbw();
    project.run("milestone new offline-mode").success();
    let switch = "milestone switch default";
    killed_at_every_operation(&project, switch, &[switch, "sync"]);
}

/// A project without a planning folder that remembers a sentence, in a block of CLAUDE.md, too.
#[cfg(debug_assertions)]
fn remembering() -> Case {
    let case = Case::empty();
    case.git_init().run("remember first thing to remember about pools").success();
    case.run("sync --target claude").success();
    case
}

#[cfg(debug_assertions)]
#[test]
fn whenever_a_write_is_killed_a_bare_undo_undoes_it_and_a_sync_shows_it() {
    let (remembering, mut kills) = (remembering(), 0);
    for nth in 1.. {
        let case = remembering.copy();
        let second = || case.run("remember second topic of deployments");
        let killed = second().env("ANNALS_FAIL_AFTER", nth.to_string()).output();
        if killed.exit_code().is_some() {
            break;
        }
        let synced = case.copy();
        let told = synced.run("sync --json").success();
        assert_eq!(
            told.stderr().contains("had been interrupted"),
            told.json()["warnings"].to_string().contains("had been interrupted"),
            "killed at {nth}: {}",
            told.report()
        );
        synced.run("sync --check").success();
        let planned = case.run("undo --dry-run --json").success().json();
        let undone = case.run("undo --json").success();
        let was_begun = undone.stderr().contains("had been interrupted");
        let undone = undone.json()["undone"]["operation"].clone();
        assert_eq!(planned["undone"]["operation"], undone, "killed at {nth}");
        // It may have been killed after it was done.
        assert!(
            undone == "remember" || !was_begun && undone == "sync",
            "killed at {nth}: {undone}"
        );
        kills += usize::from(was_begun);
    }
    assert!(kills > 3, "the fail point is not armed");
}

#[cfg(debug_assertions)]
#[test]
fn an_undo_of_a_killed_write_says_what_was_edited_since() {
    let part = "Undid a part of operation 1 (execute).\n  .vbw-planning/patterns/PATTERNS.md\n  \
                CLAUDE.md: left as it is, since it has changed\n";
    let refused = "error: CLAUDE.md: has changed since then; nothing was undone\n\
                   hint: take back what was changed since, then undo it; the record in .annals/history/ has the \
                   content before and after, as JSON\n";
    let none = "error: nothing to undo\n";
    for (command, expected) in
        [("sync", vec![refused, none]), ("execute", vec![part, refused, none])]
    {
        let (project, mut said) = (project(), BTreeSet::new());
        for nth in 1.. {
            let case = project.copy();
            let killed = case.run(command).env("ANNALS_FAIL_AFTER", nth.to_string()).output();
            if killed.exit_code().is_some() {
                break;
            }
            case.write("CLAUDE.md", "mine\n");
            let planned = case.run("undo --dry-run").output().exit_code();
            let undone = case.run("undo").output();
            assert_eq!(planned, undone.exit_code(), "{command}, killed at {nth}");
            let is_done = undone.exit_code() == Some(0);
            said.insert(if is_done { undone.stdout() } else { undone.stderr() });
            assert_eq!(case.read("CLAUDE.md").unwrap(), b"mine\n");
        }
        assert_eq!(Vec::from_iter(said), expected);
    }
}
