//! `annals forget`

use crate::cli::assert_error;
use crate::support::Case;

#[test]
fn an_entry_is_deleted_with_a_reason_and_kept_without_one() {
    let case = Case::empty();
    case.run("remember --key gate the gate is red").success();
    assert_error(
        &case.run("forget gate").code(4),
        "deleting an entry requires a reason",
        "say why: `annals forget gate WHY`; or keep the history: `annals entry supersede --old gate --new …`",
    );
    case.run("forget gat --reason painted").code(3);
    let done = case.run("forget gate --reason painted").success();
    assert_eq!(done.stdout(), "Deleted gate. Reason: painted.\n");
    assert_eq!(case.read(".vibekit/memory/gate.md"), None);
    case.run("forget gate --reason painted").code(3);
}

#[test]
fn what_the_deleted_entry_had_superseded_is_named() {
    let case = Case::empty();
    case.run("remember --key old the gate is red").success();
    case.run("remember --key new the fence was painted green in March").success();
    case.run("entry supersede --old old --new new").success();
    let done = case.run("forget new rolled back").success();
    let warning = "warning: .vibekit/memory/old.md: stays superseded by `new`, which is deleted; `status: active` in this file makes it valid again\n";
    assert!(done.stderr().starts_with(warning), "{}", done.report());
}
