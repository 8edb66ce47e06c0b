//! `annals export`: what it prints.

use crate::support::Case;

#[test]
fn the_files_are_listed() {
    let case = Case::empty();
    case.run("notepad working").args(["Look at the feeder"]).success();
    let outcome = case.run("export out").success();
    let stdout = outcome.stdout();
    assert!(
        stdout.contains("  entries/log.md\n") && stdout.contains("  notepad.md\n"),
        "{}",
        outcome.report()
    );
    assert!(
        stdout.ends_with(
            "Exported 2 files to out; nothing to export from: ledger, patterns, journal.\n\
             Facts are not included: --user ID includes that user's.\n"
        ),
        "{}",
        outcome.report()
    );
}

#[test]
fn facts_that_are_asked_for_are_not_said_to_be_missing() {
    let case = Case::empty();
    let said = case.run("export out --user ada").success().stdout();
    assert!(said.ends_with("patterns, journal, facts.\n"), "{said}");
}

#[test]
fn a_folder_above_the_project_can_be_named_with_dots() {
    let case = Case::empty();
    case.write("p/.planning/STATE.md", "# State\n");
    case.write("p/.vibekit/notepad.md", "## Manual\n\n- keep\n");
    case.run("-C p export p/../copy").success();
    let manifest = case.read("copy/MANIFEST.md").unwrap();
    assert!(!String::from_utf8(manifest).unwrap().contains("Left out"));
}

#[test]
fn a_folder_before_dots_that_does_not_exist_is_named() {
    let case = Case::empty();
    let failed = case.run("export nope/../copy").code(1);
    let said = failed.stderr();
    assert!(said.contains("nope/..: cannot open: No such file"), "{}", failed.report());
    assert_eq!(case.read("copy/MANIFEST.md"), None);
}

#[test]
fn an_export_that_lacks_a_file_says_so() {
    let case = Case::empty();
    case.write(".vibekit/memory/small.md", "---\nkey: small\n---\n\n# Small\n\nText\n");
    case.write(".vibekit/memory/large.md", "a\n".repeat(5 * 1024 * 1024));
    let failed = case.run("export copy").code(1);
    assert!(
        failed.stderr().contains("the export is incomplete: 1 file could not be read"),
        "{}",
        failed.report()
    );
    let manifest = String::from_utf8(case.read("copy/MANIFEST.md").unwrap()).unwrap();
    assert!(manifest.contains("- `entries/large.md`"), "{manifest}");
    let document = case.run("export again --json").code(1).json();
    let message = document["error"]["message"].as_str().unwrap();
    assert!(message.contains("is incomplete"), "{document}");
}

#[test]
fn a_store_whose_only_file_cannot_be_read_is_not_said_to_be_empty() {
    let case = Case::empty();
    case.write(".vibekit/memory/large.md", "a\n".repeat(5 * 1024 * 1024));
    let exported = case.run("export copy").code(1);
    let empty = "nothing to export from: ledger, notepad, patterns, journal.\n";
    assert!(exported.stdout().contains(empty), "{}", exported.report());
}
