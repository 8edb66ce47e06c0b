//! Worktrees, shallow clones, detached heads, rewritten history, merges, no commits, no git: an answer each.

use std::fs;

use serde_json::json;

use crate::ledger::{
    STATE, commit, decision, hashes, initialised, moment, pending, state, text, update,
    update_and_commit,
};
use crate::support::{Case, require};

fn coverage(case: &Case, flags: &str) -> serde_json::Value {
    let brief = case.run(&format!("ledger brief --json {flags}")).success().json();
    brief["coverage"].clone()
}

#[test]
fn without_git_the_ledger_works_and_reports_it() {
    let case = Case::empty();
    let nowhere = case.home().join("no-programs");
    fs::create_dir(&nowhere).unwrap();
    for has_git in [false, true] {
        if has_git && require("git") {
            case.git_init();
        }
        case.run("ledger init").env("PATH", &nowhere).success();
        let document = json!({
            "state": state("One"),
            "constraints": [{"op": "add", "section": "Rules", "bullet": "Never panic"}],
            "decisions": [{"date": "2026-02-27", "title": "T", "why": "w", "impact": "i", "evidence": "https://example.org/a/b/pull/3"}],
        });
        update(&case, &document, "");
        let covered = coverage(&case, "");
        assert_eq!(covered["anchor"], json!(null), "{covered}");
        assert_eq!(pending(&case, "")["commits"], json!([]));
        assert!(text(&case, STATE).ends_with("Commits covered through: none yet\n"));
        let refused = case
            .run("ledger update")
            .stdin(json!({"covered_through": "0123456"}).to_string())
            .code(4);
        assert!(refused.stderr().contains("omit this field"), "{}", refused.report());
    }
}

#[test]
fn a_repository_whose_git_is_gone_still_briefs() {
    if !require("git") {
        return;
    }
    let (case, _) = initialised();
    commit(&case, 1);
    let nowhere = case.home().join("no-programs");
    fs::create_dir(&nowhere).unwrap();
    let brief = case.run("ledger brief --json").env("PATH", &nowhere).success().json();
    assert_eq!(brief["coverage"]["standing"], json!("no_repository"));
    case.run("ledger pending").env("PATH", &nowhere).success();
}

#[test]
fn an_empty_repository_covers_its_first_commits_from_the_beginning() {
    if !require("git") {
        return;
    }
    let case = Case::empty();
    case.git_init();
    case.run("ledger init").success();
    assert_eq!(coverage(&case, "")["standing"], json!("no_commits"));
    let made = [commit(&case, 1), commit(&case, 2)];
    assert_eq!(coverage(&case, "")["standing"], json!("no_anchor"));
    let one = pending(&case, "--max-commits 1 --all");
    assert_eq!(hashes(&one), made[..1]);
    update(&case, &json!({"covered_through": made[0]}), "");
    assert_eq!(hashes(&pending(&case, "")), made[1..]);
}

#[test]
fn a_detached_head_and_a_worktree_use_their_own_commit() {
    if !require("git") {
        return;
    }
    let (case, _) = initialised();
    let made = [commit(&case, 1), commit(&case, 2)];
    case.program("git worktree add -q --detach work").args([&made[0]]).success();
    let inside = case.run("-C work ledger pending --json").success().json();
    assert_eq!(hashes(&inside), made[..1]);
    case.run("-C work ledger update")
        .stdin(json!({"state": state("In the worktree"), "covered_through": made[0]}).to_string())
        .success();
    assert!(text(&case, "work/docs/memory/STATE.md").contains("In the worktree"));
    assert!(!text(&case, STATE).contains("In the worktree"));
    assert_eq!(coverage(&case, "-C work")["standing"], json!("covered"));
    case.program("git checkout -q --detach").args([&made[0]]).success();
    assert_eq!(coverage(&case, "")["pending"], json!(1));
}

#[test]
fn a_rewritten_history_is_reported_and_can_be_continued() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    let second = commit(&case, 1);
    update(&case, &json!({"state": state("One"), "covered_through": second}), "");
    case.program("git reset -q --hard").args([&first]).success();
    // The ledger was committed with the second commit, so the test restores it.
    case.run("ledger init").success();
    let stranded =
        text(&case, STATE).replace(&format!("{first} (nothing is covered yet)"), &second);
    case.write(STATE, stranded);
    let other = commit(&case, 2);
    let covered = coverage(&case, "");
    assert_eq!((&covered["standing"], &covered["pending"]), (&json!("diverged"), &json!(1)));
    assert_eq!(hashes(&pending(&case, "")), std::slice::from_ref(&other));
    let told =
        case.run("ledger update").stdin(json!({"covered_through": other}).to_string()).success();
    assert!(told.stderr().contains("not in this history"), "{}", told.report());
    assert_eq!(coverage(&case, "")["standing"], json!("covered"));
}

#[test]
fn evidence_that_a_rebase_left_on_no_branch_is_named() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    let second = commit(&case, 1);
    let (short, upper) = (&second[..8], second.to_uppercase());
    let decisions = [
        decision("One", short),
        decision("Two", &format!("{first} {short}")),
        decision("Three", &upper),
    ];
    update(&case, &json!({"decisions": decisions}), "");
    case.run("ledger check").success();
    case.program("git commit -q --amend -m Reworded").success();
    let found = case.run("ledger check").code(1).stdout();
    for hash in [short, &upper] {
        let fault = format!("{hash} is on no branch, so that other clones lack it");
        assert!(found.contains(&fault), "{found}");
    }
    assert_eq!(found.matches("(evidence)").count(), 2, "{found}");
    let late = json!({"decisions": [decision("Four", short)]}).to_string();
    let refused = case.run("ledger update").stdin(late).code(4).stderr();
    assert!(refused.contains("/decisions/0/evidence: "), "{refused}");
    case.program("git tag kept").args([&second]).success();
    case.run("ledger check").success();
}

#[test]
fn a_missing_anchor_leaves_all_commits_to_cover() {
    if !require("git") {
        return;
    }
    let case = Case::empty();
    case.git_init();
    let footer = "Last memory update: 2026-02-02\nCommits covered through: 0123456789abcdef0123456789abcdef01234567\n";
    case.write(STATE, format!("# State\n\n## Active Work\n- One\n\n---\n{footer}"));
    let made: Vec<String> = (0..60).map(|n| commit(&case, n)).collect();
    let brief = case.run("ledger brief").success().stdout();
    assert!(brief.starts_with("ACTION REQUIRED: the history was rewritten"), "{brief}");
    let listed = pending(&case, "--max-commits 100");
    assert_eq!(hashes(&listed), made);
    case.run("ledger check").code(1);
    update(&case, &json!({"covered_through": listed["covered_through"]}), "");
    assert_eq!(coverage(&case, "")["standing"], json!("covered"));
}

#[test]
fn what_the_last_batch_left_out_is_listed_if_its_anchor_is_missing() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    update_and_commit(&case, &json!({"state": state("Start"), "covered_through": first}));
    let mut made: Vec<String> = (1..7).map(|n| commit(&case, n)).collect();
    // The update covers two of six commits, and is dated after the others.
    let batch = pending(&case, "--max-commits 2");
    assert_eq!(batch["covered_through"], json!(made[1]));
    update_and_commit(
        &case,
        &json!({"state": state("Two"), "covered_through": batch["covered_through"]}),
    );
    let from = format!("file://{}", case.root().display());
    case.program("git clone -q --depth=4").args([&from, "copy"]).success();
    let listed = case.run("-C copy ledger pending --json").success().json();
    assert_eq!(hashes(&listed), made[3..]);
    let brief = case.run("-C copy ledger brief --json").success().json();
    assert_eq!(brief["coverage"]["pending"], json!(3));
    made.reverse();
    let shown = brief["recent_commits"].as_array().unwrap();
    let shown: Vec<_> = shown.iter().map(|commit| &commit["hash"]).collect();
    assert_eq!(shown, [&made[0], &made[1], &made[2]]);
}

#[test]
fn a_missing_anchor_is_replaced_by_the_last_one_that_exists() {
    if !require("git") {
        return;
    }
    let (case, _) = initialised();
    let lost = "0123456789abcdef0123456789abcdef01234567";
    let kept = commit(&case, 1);
    update_and_commit(&case, &json!({"state": state("One"), "covered_through": kept}));
    let mut made = vec![commit(&case, 2)];
    case.write(STATE, text(&case, STATE).replace(&kept, lost));
    made.push(commit(&case, 3));
    let listed = pending(&case, "");
    assert_eq!(hashes(&listed), made);
    assert_eq!(listed["coverage"]["pending"], json!(2));
    assert_eq!(coverage(&case, "")["pending"], json!(2));
    let told = case.run("ledger brief").success().stdout();
    assert!(
        told.ends_with("which is not in this repository; 2 commits may not be covered.\n"),
        "{told}"
    );
}

#[test]
fn a_state_with_only_a_comment_anchor_gets_one_footer() {
    if !require("git") {
        return;
    }
    let case = Case::empty();
    case.git_init();
    let first = commit(&case, 0);
    case.write(
        STATE,
        format!(
            "# State\n\n## Active Work\n- One\n\n---\nLast memory update: 2026-02-02\n<!-- t:last-commit:{first} -->\n"
        ),
    );
    let second = commit(&case, 1);
    update(&case, &json!({"covered_through": second}), "");
    let expected = format!(
        "---\nLast memory update: 2026-03-01\nCommits covered through: {second}\n<!-- t:last-commit:{second} -->\n"
    );
    let state = text(&case, STATE);
    assert!(state.ends_with(&expected), "{state}");
    assert_eq!(state.matches("---\n").count(), 1, "{state}");
}

#[test]
fn a_shallow_clone_explains_how_to_get_the_rest() {
    if !require("git") {
        return;
    }
    let (case, _) = initialised();
    for n in 1..5 {
        commit(&case, n);
    }
    let from = format!("file://{}", case.root().display());
    case.program("git clone -q --depth=2").args([&from, "copy"]).success();
    let brief = case.run("-C copy ledger brief --json").success().json();
    assert_eq!(brief["coverage"]["standing"], json!("missing"));
    assert!(
        brief["coverage"]["advice"].as_str().unwrap().contains("git fetch --unshallow"),
        "{brief}"
    );
    assert_eq!(case.run("-C copy ledger pending --json").success().json()["remaining"], json!(0));
}

#[test]
fn a_merge_comes_with_its_branch_and_batches_leave_nothing_out() {
    if !require("git") {
        return;
    }
    let (case, _) = initialised();
    let mut all = vec![commit(&case, 1)];
    case.program("git checkout -q -b side HEAD~1").success();
    for n in 2..6 {
        case.write(&format!("src/side{n}.rs"), "// side\n");
        all.push(case.commit(&format!("Side {n}"), &moment(n)));
    }
    case.program("git checkout -q main").success();
    all.push(commit(&case, 6));
    case.program("git merge -q --no-ff -m Merge side").success();
    all.push(case.program("git rev-parse HEAD").success().stdout().trim().to_owned());
    all.push(commit(&case, 8));
    all.sort();
    let mut seen = Vec::new();
    for _ in 0..9 {
        let batch = pending(&case, "--max-commits 2");
        seen.extend(hashes(&batch));
        update(&case, &json!({"covered_through": batch["covered_through"]}), "");
        if batch["remaining"] == json!(0) {
            break;
        }
    }
    seen.sort();
    assert_eq!(seen, all);
    assert_eq!(coverage(&case, "")["standing"], json!("covered"));
}

#[test]
fn a_merge_larger_than_a_batch_follows_a_commit_of_the_ledger_alone() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    update_and_commit(&case, &json!({"state": state("One"), "covered_through": first}));
    case.program("git checkout -q -b side").success();
    for n in 2..6 {
        commit(&case, n);
    }
    case.program("git checkout -q main").success();
    case.program("git merge -q --no-ff -m Merge side").success();
    let batch = pending(&case, "--max-commits 2");
    assert_eq!((hashes(&batch).len(), &batch["remaining"]), (5, &json!(0)));
}

#[test]
fn the_new_commit_of_a_submodule_is_a_change() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    update(&case, &json!({"state": state("One"), "covered_through": first}), "");
    let link = format!("git update-index --add --cacheinfo 160000,{first},vendor/sub");
    case.program(&link).success();
    case.program("git add docs").success();
    case.program("git commit -q -m Bump").success();
    let batch = pending(&case, "");
    assert_eq!(batch["commits"][0]["files"][3]["path"], "vendor/sub");
}

#[test]
fn a_project_below_the_top_of_its_repository_has_its_own_ledger() {
    if !require("git") {
        return;
    }
    let case = Case::empty();
    case.git_init();
    case.write("app/annals.toml", "ledger_dir = \"notes/memory\"\n");
    let first = commit(&case, 0);
    case.run("-C app ledger init").success();
    let document = json!({"state": state("Below"), "covered_through": first});
    case.run("-C app ledger update").stdin(document.to_string()).success();
    assert_eq!(coverage(&case, "-C app")["standing"], json!("covered"));
}
