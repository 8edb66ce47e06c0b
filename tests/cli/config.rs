//! `annals config`

use insta::assert_snapshot;

use crate::cli::{GSD, assert_error, assert_hinted};
use crate::support::Case;

#[test]
fn every_setting_is_listed_with_its_source() {
    let case = Case::new(GSD);
    let listed = case.run("config").without("ANNALS_ENCODER").success();
    assert_snapshot!("config", listed.stdout());
    assert_eq!(listed.stderr(), "");
    let keys = listed.stdout().lines().count();
    let json = case.run("config --json").success().json();
    assert_eq!(json["settings"].as_array().unwrap().len(), keys);
}

#[test]
fn stronger_sources_win_and_are_named() {
    let case = Case::new(GSD);
    case.write(
        "../home/.config/annals/config.toml",
        "max_lines = 150\nhistory = false\nlock_wait = 1\n",
    );
    case.write("annals.toml", "\nmax_lines = 120\nlock_wait = 2\n");
    let seen = case.run("config --no-history").env("ANNALS_LOCK_WAIT", "3").success().stdout();
    for line in [
        "max_lines = 120  # annals.toml:2; ",
        "history = false  # --no-history; ",
        "lock_wait = 3  # ANNALS_LOCK_WAIT; ",
    ] {
        assert!(seen.lines().any(|one| one.starts_with(line)), "{line} not in\n{seen}");
    }
    let user = case.run("config").success().stdout();
    assert!(user.contains("history = false  # [HOME]/.config/annals/config.toml:2; "), "{user}");
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let case = Case::new(GSD);
    case.write("annals.toml", "history = true\nmax_line = 100\n");
    let file = case.run("config").code(2);
    assert_error(
        &file,
        "annals.toml:2: unknown setting \"max_line\"",
        "did you mean max_lines? `annals config` lists all",
    );
    case.write("annals.toml", "");
    case.run("status").env("ANNALS_TARGET", "claude").success();
}

#[test]
fn a_cloned_repository_cannot_point_outside() {
    let case = Case::new(GSD);
    case.write("annals.toml", "planning_dir = \"../elsewhere\"\n");
    case.write("../elsewhere/STATE.md", "# State\n");
    let outcome = case.run("status").output();
    assert!(matches!(outcome.exit_code(), Some(2 | 4)), "{}", outcome.report());
    assert_hinted(&outcome, "annals.toml:1: ");
}
