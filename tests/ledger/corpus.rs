//! Ledgers that people and other tools wrote are read and extended; all other bytes stay unchanged.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::ledger::{CONSTRAINTS, DECISIONS, STATE, decision};
use crate::support::{Case, corpus, require};

fn folders() -> Vec<PathBuf> {
    let Some(corpus) = corpus() else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> =
        fs::read_dir(corpus.join("ledger")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// Returns whether a line states the covered commit, which each update changes.
fn is_anchor(line: &str) -> bool {
    ["Last memory update", "Commits covered through", ":last-commit:"]
        .iter()
        .any(|part| line.contains(part))
}

/// Returns the new lines, if all old ones still exist in their order.
fn added<'a>(old: &str, new: &'a str) -> Result<Vec<&'a str>, String> {
    let mut rest = old.split_inclusive('\n').filter(|line| !is_anchor(line)).peekable();
    let mut added = Vec::new();
    for line in new.split_inclusive('\n').filter(|line| !is_anchor(line)) {
        // A last line without a line end gets one if text is appended.
        let is_same =
            |old: &&str| *old == line || (!old.ends_with('\n') && format!("{old}\n") == line);
        if rest.next_if(is_same).is_none() {
            added.push(line);
        }
    }
    match rest.next() {
        None => Ok(added),
        Some(lost) => Err(lost.to_owned()),
    }
}

#[test]
fn every_real_ledger_is_briefed_checked_and_added_to() {
    let folders = folders();
    if folders.is_empty() || !require("git") {
        return;
    }
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let case = Case::from(&folder);
        case.git_init();
        let head = case.commit("All there is", "2026-02-28T00:00:00Z");
        let before = case.tree();
        case.run("ledger brief").success();
        let checked = case.run("ledger check").output();
        assert!(matches!(checked.exit_code(), Some(0 | 1)), "{name}: {}", checked.report());
        assert_eq!(case.tree(), before, "{name}: reading wrote");

        let document = json!({
            "constraints": [{"op": "add", "section": "Hazards", "bullet": "Moonlit quartz interferes with zebra telemetry"}],
            "decisions": [decision("Adopt zebra telemetry", &head)],
            "covered_through": head,
        });
        case.run("ledger update").stdin(document.to_string()).success();
        let after = case.tree();
        for (path, most) in [(STATE, 30), (CONSTRAINTS, 20), (DECISIONS, 18)] {
            let old = before
                .get(path)
                .map_or(String::new(), |bytes| String::from_utf8(bytes.clone()).unwrap());
            let new = String::from_utf8(after[path].clone()).unwrap();
            let added =
                added(&old, &new).unwrap_or_else(|lost| panic!("{name}: {path} lost {lost:?}"));
            assert!(added.len() <= most, "{name}: {path}: {added:?}");
        }
        for (path, bytes) in before
            .iter()
            .filter(|(path, _)| ![STATE, CONSTRAINTS, DECISIONS].contains(&path.as_str()))
        {
            assert_eq!(after.get(path), Some(bytes), "{name}: {path}");
        }
        let text = |path: &str| String::from_utf8(after[path].clone()).unwrap();
        assert!(
            !text(STATE).lines().any(|line| is_anchor(line)
                && line.contains("last-commit")
                && !line.contains(&head)),
            "{name}"
        );
        assert!(text(STATE).contains(&format!("Commits covered through: {head}")), "{name}");
        let brief = case.run("ledger brief").success().stdout();
        assert!(brief.contains("zebra telemetry"), "{name}: {brief}");
        assert!(brief.contains("Adopt zebra telemetry"), "{name}: {brief}");
        let again = case.run("ledger update --json").stdin(document.to_string()).success().json();
        assert_eq!(again["outcome"], json!("already_applied"), "{name}");
    }
}

#[test]
fn a_new_rollup_keeps_every_entry_of_a_real_ledger() {
    let folders = folders();
    if folders.is_empty() {
        return;
    }
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let case = Case::from(&folder);
        let old = String::from_utf8(case.read(DECISIONS).unwrap()).unwrap();
        let gist: Vec<String> = (0..7).map(|n| format!("Gist {n}")).collect();
        case.run("ledger update").stdin(json!({"rollup": gist}).to_string()).success();
        let new = String::from_utf8(case.read(DECISIONS).unwrap()).unwrap();
        // The text after the rollup, or all of it without a rollup, is unchanged.
        let rollup = old.split_once("\n## Recent");
        if let Some((_, tail)) = rollup.and_then(|(_, rest)| rest.split_once("\n## 2")) {
            assert!(new.ends_with(tail), "{name}");
        } else {
            let added = added(&old, &new).unwrap_or_else(|lost| panic!("{name}: lost {lost:?}"));
            assert_eq!(added.len(), 9, "{name}: {added:?}");
        }
        assert!(new.contains("- Gist 6"), "{name}");
    }
}
