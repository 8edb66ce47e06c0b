//! `annals share`; what needs a server is in `tests/share`.

use crate::support::Case;

#[test]
fn a_database_that_is_not_shared_says_how_to_begin() {
    let case = Case::empty();
    let shown = case.run("share status").success().stdout();
    assert_eq!(shown, "not shared (no server is set; set share.url); run annals share init\n");
    let status = case.run("share status --json").success().json();
    assert_eq!(status["server"], serde_json::Value::Null);
    assert!(!case.home().join(".local").exists(), "a question makes no file");
}

#[test]
fn a_password_in_the_address_is_never_shown() {
    let case = Case::empty();
    let url = "postgres://ada:hunter2@db.example.com/annals";
    for line in ["config", "share status", "doctor"] {
        let shown = case.run(line).env("ANNALS_SHARE_URL", url).success();
        assert!(!shown.stdout().contains("hunter2"), "{line}");
    }
}
