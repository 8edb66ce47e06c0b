//! `annals completions`

use crate::cli::{VBW, assert_error};
use crate::support::Case;

#[test]
fn each_shell_has_a_script_that_asks_annals() {
    let case = Case::empty();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = case.run("completions").args([shell]).success();
        assert!(script.stdout().contains("ANNALS_COMPLETE"), "{shell}: {}", script.report());
        assert_eq!(script.stderr(), "");
    }
    assert!(case.whole_tree().is_empty());
}

#[test]
fn commands_phases_and_keys_are_offered() {
    if !crate::support::require("bash") {
        return;
    }
    let case = Case::new(VBW);
    case.run("remember --key red-gate the gate is red").success();
    case.write(".vibekit/memory/red;touch x.md", "# Planted\n");
    for (words, offered) in [
        ("annals st", "status"),
        ("annals plan ", "1 2 2.1 3 4"),
        ("annals entry read re", "red-gate"),
        ("annals forget re", "red-gate"),
    ] {
        let last = words.matches(' ').count();
        let script = format!(
            "PATH=$(dirname \"$ANNALS\"):$PATH; export PATH; annals completions bash >script && exec bash -c '. ./script; IFS=\" \"; line=\"{words}|\"; line=${{line%|}}; COMP_WORDS=({words}); COMP_CWORD={last}; COMP_TYPE=9; _clap_complete_annals annals; echo ${{COMPREPLY[*]}}'"
        );
        let offers = case.shell(&script).success().stdout();
        let offers: Vec<&str> = offers.split_whitespace().collect();
        for one in offered.split(' ') {
            assert!(offers.contains(&one), "{words}: {offers:?}");
        }
        assert!(!offers.contains(&"red;touch"), "{words}: {offers:?}");
    }
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
