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
            "Exported 2 files to out; nothing to export from: ledger, patterns, journal.\n"
        ),
        "{}",
        outcome.report()
    );
}
