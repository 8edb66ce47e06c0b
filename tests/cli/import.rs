//! `annals import`: what it prints.

use crate::support::Case;

#[test]
fn the_account_names_every_item() {
    let case = Case::empty();
    case.write("notes/style.md", "Two spaces.\n");
    case.write("notes/empty.md", "");
    let outcome = case.run("import serena notes").success();
    assert_eq!(
        outcome.stdout(),
        "1 imported, 0 already there, 1 skipped, 0 not understood\n\n\
         imported\n  notes/style.md: style.md -> entry style\n\n\
         skipped\n  notes/empty.md: empty.md: is empty\n",
        "{}",
        outcome.report()
    );
    let outcome = case.run("import serena notes --dry-run").success();
    assert!(
        outcome.stdout().starts_with("0 would be imported, 1 already there"),
        "{}",
        outcome.report()
    );
}
