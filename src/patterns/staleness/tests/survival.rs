//! Tests how much of a project survives since a text was written.

use super::*;
use crate::patterns::Rate;
use crate::patterns::staleness::tree::Tree;

#[test]
fn structure_changes_when_less_than_half_survives() {
    let sandbox = Sandbox::empty();
    let path = |folder: &str, at: usize| format!("{folder}/{at}.rs");
    for at in 0..6 {
        put(&sandbox, &path("src", at));
        put(&sandbox, &path(".planning", at));
    }
    put(&sandbox, "lib/x.rs");
    let written = commit(&sandbox, "2026-01-05");
    let check = |at: Option<&str>| {
        let texts = [DatedText { commit: at, ..text("nothing") }];
        let found = Staleness::check(&texts, sandbox.0.path(), &sandbox.open_git()).unwrap();
        found.entries.into_iter().next().unwrap()
    };
    for at in 0..3 {
        sandbox.git(&["rm", "-q", &path("src", at)]);
        sandbox.git(&["rm", "-q", &path(".planning", at)]);
    }
    commit(&sandbox, "2026-01-06");
    let kept = check(Some(&written));
    assert!(!kept.is_stale, "{kept:?}");
    let structure = kept.structure.unwrap();
    assert_eq!(structure.files, Rate { count: 4, of: 7 });
    assert_eq!(structure.folders, Rate { count: 2, of: 2 });
    sandbox.git(&["rm", "-q", &path("src", 3)]);
    put(&sandbox, "src/new.rs");
    commit(&sandbox, "2026-01-07");
    let changed = check(Some(&written));
    assert!(changed.is_stale);
    let reason = "structure changed since {}, 2026-01-05: 3 of 7 files (43 %) remain";
    assert_eq!(changed.reasons, [reason.replace("{}", &written[..7])]);
    assert_eq!(check(None).structure, None);
}

#[test]
fn structure_changes_when_a_framework_comes_or_goes() {
    let sandbox = Sandbox::empty();
    for path in ["a.ts", "b.ts"] {
        put(&sandbox, path);
    }
    let start = commit(&sandbox, "2026-01-04");
    let manifest = sandbox.0.child("package.json");
    manifest.write_str(r#"{"dependencies":{"react":"19","left-pad":"1"}}"#).unwrap();
    let written = commit(&sandbox, "2026-01-05");
    manifest.write_str(r#"{"dependencies":{"vue":"3","lodash":"4"}}"#).unwrap();
    sandbox.0.child("api/Cargo.toml").write_str("[dependencies]\naxum = \"0.8\"\n").unwrap();
    commit(&sandbox, "2026-01-06");
    let texts =
        [&written, &start].map(|commit| DatedText { commit: Some(commit), ..text("nothing") });
    let found = Staleness::check(&texts, sandbox.0.path(), &sandbox.open_git()).unwrap();
    let structure = found.entries[0].structure.as_ref().unwrap();
    assert_eq!(structure.dependencies_added, ["axum", "lodash", "vue"]);
    assert_eq!(structure.dependencies_removed, ["left-pad", "react"]);
    assert_eq!(structure.manifests_added, ["api/Cargo.toml"]);
    let reason = "structure changed since {}, 2026-01-05: axum added, vue added, react removed";
    assert_eq!(found.entries[0].reasons, [reason.replace("{}", &written[..7])]);
    // A project's first manifest does not count as a change of frameworks.
    assert!(!found.entries[1].is_stale);
}

#[test]
fn frameworks_of_many_manifests_neither_come_nor_go_by_themselves() {
    let sandbox = Sandbox::empty();
    let write = |path: &str, framework: &str| {
        let text = format!(r#"{{"dependencies":{{"{framework}":"1"}}}}"#);
        sandbox.0.child(path).write_str(&text).unwrap();
    };
    for app in 0..46 {
        write(&format!("apps/{app}/package.json"), "left-pad");
    }
    write("package.json", "react");
    // By path the first of all, by depth the last.
    write("a/deep/er/package.json", "vue");
    let written = commit(&sandbox, "2026-01-05");
    put(&sandbox, "README.md");
    commit(&sandbox, "2026-01-06");
    let structure = || {
        let texts = [DatedText { commit: Some(&written), ..text("nothing") }];
        let found = Staleness::check(&texts, sandbox.0.path(), &sandbox.open_git()).unwrap();
        found.entries.into_iter().next().unwrap().structure.unwrap()
    };
    let same = structure();
    assert!(!same.has_changed, "{same:?}");
    assert_eq!(same.dependencies_added, [""; 0]);
    // A manifest further up takes the place of another on both sides.
    write("web/package.json", "svelte");
    commit(&sandbox, "2026-01-07");
    let more = structure();
    assert_eq!(more.frameworks, ["svelte"]);
    assert_eq!(more.dependencies_removed, [""; 0]);
    assert_eq!(more.manifests_added, ["web/package.json"]);
    assert_eq!(more.manifests_removed, [""; 0]);
}

#[test]
fn a_sample_stands_for_a_tree_that_is_too_large() {
    let sandbox = Sandbox::empty();
    for folder in 0..120 {
        for file in 0..3 {
            sandbox
                .0
                .child(format!("src/f{folder}/{file}.txt"))
                .write_str(&format!("{folder} {file}"))
                .unwrap();
        }
    }
    let written = commit(&sandbox, "2026-01-05");
    let compare = |texts| {
        let git = sandbox.open_git();
        let tree = Tree::new(sandbox.0.path(), &git);
        let current = CurrentTree::new(tree.listing().unwrap(), &|_| None);
        let mut past = TreeHistory::new(git.timeline().unwrap(), git.objects().unwrap()).unwrap();
        let commit_index = past.timeline().index_of(&written).unwrap();
        let found = structure::compare_with(&current, &mut past, commit_index, texts);
        found.unwrap().unwrap()
    };
    for folder in 0..40 {
        sandbox.git(&["rm", "-q", &format!("src/f{}/1.txt", folder * 3)]);
    }
    commit(&sandbox, "2026-01-06");
    let whole = |structure: &Structure| (structure.files.count, structure.files.of);
    let exact = compare(1);
    assert_eq!((whole(&exact), exact.is_estimated), ((320, 360), false));
    let estimated = compare(1_000);
    assert!(estimated.is_estimated && !estimated.has_changed);
    assert_eq!(estimated.files.of, 360);
    assert!((300..=340).contains(&estimated.files.count), "{estimated:?}");
    // If much is gone, a sample could be misleading.
    for folder in 40..110 {
        sandbox.git(&["rm", "-rq", &format!("src/f{folder}")]);
    }
    commit(&sandbox, "2026-01-07");
    let read = compare(1_000);
    assert!(!read.is_estimated && read.has_changed);
    assert_eq!(read, compare(1));
}

#[test]
fn a_shallow_clone_gives_no_worse_an_answer_than_no_history() {
    let history = History::new();
    let copy = Sandbox::empty();
    let place = copy.0.path().join("copy");
    let from = format!("file://{}", history.sandbox.0.path().display());
    let to = place.to_str().unwrap();
    history.sandbox.git(&["clone", "-q", "--depth=1", &from, to]);
    let git = Git::discover(&place);
    let stale = |text: &str| {
        let texts =
            [DatedText { id: "1", line: 1, text, commit: Some(&history.written), date: None }];
        let found = Staleness::check(&texts, &place, &git).unwrap();
        found.entries[0].reasons.clone()
    };
    assert_eq!(stale("`src/removed.rs` holds the lock"), ["`src/removed.rs` is gone"]);
    assert_eq!(stale("`src/main.rs` holds the lock"), [""; 0]);
    // A removal that the text itself reports does not make it stale.
    assert_eq!(stale("removed `src/removed.rs`"), [""; 0]);
}
