//! `annals export`: what it prints.

use crate::support::Case;

#[test]
fn the_files_are_listed() {
    let case = Case::empty();
    case.run("notepad working")
        .args(["Look at the feeder"])
        .success();
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
