//! One folder a case: `input.md` (none for a new file) and what becomes of it.
//!
//! `expected.md` is the file afterwards, `warnings.txt` the warnings where there are any. A case that
//! is refused has `refused.txt` in their place: the message and the hint. A new
//! case needs no code.

use std::collections::BTreeSet;
use std::path::Path;

use crate::claude_md::{Tree, fs};

#[test]
fn every_case_comes_out_as_expected() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/claude_md");
    let mut names = BTreeSet::new();
    for case in fs::read_dir(folder).unwrap() {
        let case = case.unwrap();
        if case.file_type().unwrap().is_dir() {
            names.insert(case.file_name().into_string().unwrap());
            check(&case.path());
        }
    }
    assert!(names.len() >= 15, "cases are missing: {names:?}");
}

/// What a run made of the file: the files that a case folder holds beside its input.
fn outcome(tree: &Tree) -> Vec<(&'static str, Vec<u8>)> {
    let done = tree.run().unwrap();
    if let [refusal] = &done.refused[..] {
        let said = format!(
            "{}: {}\n{}\n",
            refusal.place.as_ref().unwrap(),
            refusal.message,
            refusal.hint.as_deref().unwrap_or_default()
        );
        return vec![("refused.txt", said.into_bytes())];
    }
    let mut files = vec![("expected.md", tree.bytes("CLAUDE.md"))];
    if !done.warnings.is_empty() {
        let lines: Vec<String> = done.warnings.iter().map(ToString::to_string).collect();
        files.push(("warnings.txt", (lines.join("\n") + "\n").into_bytes()));
    }
    files
}

fn check(case: &Path) {
    let tree = Tree::new();
    let input = fs::read(case.join("input.md")).ok();
    if let Some(input) = &input {
        tree.put("CLAUDE.md", input);
    }
    let outcome = outcome(&tree);
    if outcome[0].0 == "refused.txt" {
        assert_eq!(Some(tree.bytes("CLAUDE.md")), input, "{}", case.display());
    } else {
        tree.twice();
    }
    for name in ["expected.md", "warnings.txt", "refused.txt"] {
        let path = case.join(name);
        let found = outcome.iter().find(|(of, _)| *of == name);
        let found = found.map(|(_, bytes)| bytes.as_slice());
        match found {
            Some(bytes) if is_update() => fs::write(&path, bytes).unwrap(),
            _ => {
                let wanted = fs::read(&path).ok();
                let wanted = wanted.as_deref();
                let shown = |bytes: Option<&[u8]>| bytes.map(|b| b.escape_ascii().to_string());
                assert_eq!(shown(found), shown(wanted), "{}", path.display());
            }
        }
    }
}

/// `UPDATE=1` writes what came out, to be read before it is kept.
fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}
