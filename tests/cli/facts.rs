//! `annals facts`

use crate::cli::assert_error;
use crate::support::Case;

#[test]
fn a_stated_fact_is_kept_for_its_user_alone() {
    let case = Case::empty();
    let added = case
        .run("facts add --user ada --key preference.editor --value helix --json")
        .success()
        .json();
    assert_eq!(added["status"], "active");
    let listed = case.run("facts list --user ada").success().stdout();
    assert!(
        listed.ends_with("  0.40  preference.editor: helix\n"),
        "{listed}"
    );
    let other = case.run("facts list").env("ANNALS_USER", "grace").success();
    assert_eq!(other.stdout(), "No facts about grace.\n");
}

#[test]
fn without_a_user_nothing_is_asked_or_written() {
    let case = Case::empty();
    for line in ["facts list", "facts add --key city --value Turin"] {
        assert_error(
            &case.run(line).code(2),
            "whose facts? no user is named",
            "--user names one, as do ANNALS_USER and `user` in the user's own config.toml",
        );
    }
    assert!(!case.home().join(".local").exists());
}

#[cfg(unix)]
#[test]
fn the_database_is_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt;

    let case = Case::empty();
    case.run("facts list --user ada").success();
    let file = case.home().join(".local/share/annals/mem.db");
    assert!(!file.exists(), "a question makes no file");
    case.run("facts add --user ada --key city --value Turin --dry-run")
        .success();
    assert!(!file.exists(), "a dry run makes no file");
    case.run("facts add --user ada --key city --value Turin")
        .success();
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let named = case.root().join("own.db");
    case.run("facts add --user ada --key city --value Turin --db own.db")
        .success();
    assert!(named.exists());
}
