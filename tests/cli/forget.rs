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
