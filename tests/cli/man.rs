//! `annals man`

use serde_json::json;

use crate::cli::assert_error;
use crate::support::Case;

#[test]
fn there_is_a_page_for_annals_and_for_each_command() {
    let case = Case::empty();
    let page = case.run("man").success().stdout();
    assert!(page.contains("\n.TH annals 1 "), "{page}");
    assert!(page.contains("annals\\-inspect(1)"), "{page}");
    let sync = case.run("man sync").success();
    assert!(
        sync.stdout().contains("annals sync \\-\\-check"),
        "{}",
        sync.report()
    );
    assert_eq!(sync.stderr(), "");
    let document = case.run("man --json").success().json();
    assert_eq!(document, json!({"text": page}));
}

#[test]
fn an_unknown_command_has_no_page() {
    let outcome = Case::empty().run("man nowhere").code(2);
    assert_error(&outcome, "no such command: nowhere", "annals --help");
}
