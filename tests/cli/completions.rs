//! `annals completions`

use crate::cli::assert_error;
use crate::support::Case;

#[test]
fn each_shell_has_a_script_that_knows_the_commands() {
    let case = Case::empty();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = case.run("completions").args([shell]).success();
        for word in ["annals", "status", "inspect", "dry-run"] {
            assert!(script.stdout().contains(word), "{shell}: {word}");
        }
        assert_eq!(script.stderr(), "");
    }
    assert!(case.whole_tree().is_empty());
}

#[test]
fn the_script_of_bash_is_one_that_bash_accepts() {
    if !crate::support::require("bash") {
        return;
    }
    let case = Case::empty();
    let offered = case
        .shell("\"$ANNALS\" completions bash >script && exec bash -c '. ./script; COMP_WORDS=(annals st); COMP_CWORD=1; _annals annals st annals; echo \"${COMPREPLY[*]}\"'")
        .success();
    assert_eq!(offered.stdout(), "status\n");
}

#[test]
fn an_unknown_shell_is_answered_with_the_known_ones() {
    let outcome = Case::empty().run("completions tcsh").code(2);
    assert_error(
        &outcome,
        "invalid value 'tcsh' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]",
        "a similar value exists: 'zsh'",
    );
}

#[test]
fn the_document_holds_the_script() {
    let case = Case::empty();
    let script = case.run("completions fish").success().stdout();
    let document = case.run("completions fish --json").success().json();
    assert_eq!(document, serde_json::json!({"text": script}));
}
