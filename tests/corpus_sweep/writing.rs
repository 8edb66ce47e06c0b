//! `execute --all` and `sync`: only their own files, nothing the second time, the user's text kept.

use crate::corpus_sweep::folders::Planned;
use crate::corpus_sweep::kept;
use crate::support::{Case, Tree, difference};

/// The context files; a CLAUDE.md that only imports AGENTS.md hands the block on to it.
const CONTEXT: &[&str] = &["CLAUDE.md", "AGENTS.md", "GEMINI.md"];

/// Returns what is wrong with the writing commands in a folder.
pub(super) fn faults(case: &Case, planned: &Planned) -> Vec<String> {
    let before = case.tree();
    let mut faults = run(case, planned);
    let once = case.tree();
    faults.extend(harm(&before, &once, &planned.planning));
    if !faults.is_empty() {
        // The second run would tell the same faults again.
        return faults;
    }
    faults.extend(run(case, planned));
    let again = difference(&once, &case.tree());
    faults.extend(again.iter().map(|line| format!("the second run: {line}")));
    faults
}

fn run(case: &Case, planned: &Planned) -> Vec<String> {
    let mut faults = Vec::new();
    for line in ["execute --all", "sync"] {
        let outcome = case.run(&planned.command(line)).output();
        if let Some(crash) = outcome.crash() {
            faults.push(crash);
        } else if outcome.exit_code() != Some(0) {
            faults.push(format!("{line} failed\n{}", outcome.report()));
        }
    }
    faults
}

/// Returns what the commands did that they must not do, or did not do that they must.
fn harm(before: &Tree, after: &Tree, planning: &str) -> Vec<String> {
    let patterns = format!("{planning}/patterns/");
    let may_change = |path: &str| CONTEXT.contains(&path) || path.starts_with(&patterns);
    let mut faults: Vec<String> = difference(before, after)
        .into_iter()
        .filter(|line| !line.split_once(' ').is_some_and(|(_, path)| may_change(path)))
        .map(|line| format!("wrote what is not its own: {line}"))
        .collect();
    let begin = b"<!-- annals:begin";
    let has_block = |name: &&&str| after.get(**name).is_some_and(|text| kept::holds(text, begin));
    if CONTEXT.iter().find(has_block).is_none() {
        faults.push("no context file with a block after sync".to_owned());
    }
    for name in CONTEXT {
        if let Some(old) = before.get(*name) {
            let new = after.get(*name).map_or(&[][..], Vec::as_slice);
            let lost = kept::lost(old, new);
            faults.extend(lost.iter().map(|line| format!("{name} lost: {line}")));
        }
    }
    let log = format!("{patterns}PATTERNS.md");
    let old = before.get(&log).map_or(&[][..], Vec::as_slice);
    if !after.get(&log).map_or(&[][..], Vec::as_slice).starts_with(old) {
        faults.push(format!("{log} was not appended to but changed"));
    }
    faults
}

#[test]
fn harm_is_seen() {
    let tree = |files: &[(&str, &str)]| -> Tree {
        let pairs = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        pairs.collect()
    };
    let before = tree(&[
        ("CLAUDE.md", "mine\n"),
        (".p/STATE.md", "a"),
        (".p/patterns/PATTERNS.md", "one\n"),
    ]);
    let block = "<!-- annals:begin v1 sha256=0 -->\n# x\n<!-- annals:end -->\n";
    let good = format!("{block}mine\n");
    let after = tree(&[
        ("CLAUDE.md", &good),
        (".p/STATE.md", "a"),
        (".p/patterns/PATTERNS.md", "one\ntwo\n"),
    ]);
    assert_eq!(harm(&before, &after, ".p"), Vec::<String>::new());
    for (path, text, fault) in [
        ("CLAUDE.md", "mine\n", "no context file"),
        ("CLAUDE.md", block, "CLAUDE.md lost"),
        (".p/STATE.md", "b", "not its own: changed .p/STATE.md"),
        ("new.md", "", "not its own: added new.md"),
        (".p/patterns/PATTERNS.md", "two\n", "was not appended"),
    ] {
        let mut harmed = after.clone();
        harmed.insert(path.to_owned(), text.as_bytes().to_vec());
        let faults = harm(&before, &harmed, ".p");
        assert!(faults.len() == 1 && faults[0].contains(fault), "{path}: {faults:?}");
    }
}
