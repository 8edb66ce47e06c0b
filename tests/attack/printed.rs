//! Commands that are printed for an agent to run: a name from the repository is one word in them, whatever it holds.

use serde_json::{Value, json};

use crate::support::Case;

const HOSTILE: &str = "a';touch PWNED;#";
const QUOTED: &str = r"'a'\'';touch PWNED;#'";

#[test]
fn the_folder_of_a_part_is_one_word() {
    let case = Case::empty();
    case.git_init().write(&format!("{HOSTILE}/.planning/STATE.md"), "# State\n");
    let start = json!({"session_id": "s", "source": "startup"}).to_string();
    let hook = case.run("hook session-start --harness claude").stdin(start).success().stdout();
    let hook: Value = serde_json::from_str(&hook).unwrap();
    let hook = hook["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    for text in [hook, &case.run("context").success().stdout()] {
        assert!(text.contains(&format!("`annals -C {QUOTED} status`")), "{text}");
    }
}

#[test]
fn the_folder_of_the_ledger_is_one_word() {
    let case = Case::empty();
    case.git_init().write("annals.toml", format!("ledger_dir = \"docs/{HOSTILE}\"\n"));
    let head = case.commit("one", "2026-02-01T00:00:00Z");
    case.run("ledger init").success();
    let state = json!({"objective": "S", "active_work": ["x"]});
    let update = json!({"covered_through": head, "state": state});
    let done = case.run("ledger update").stdin(update.to_string()).success().stdout();
    let folder = QUOTED.replacen("'a", "'docs/a", 1);
    let next = format!("git add {folder} && git commit -m \"Update the ledger\" {folder}\n");
    assert!(done.ends_with(&next), "{done}");
}

#[test]
fn the_name_of_a_milestone_is_one_word() {
    let case = Case::empty();
    let folder = format!(".vbw-planning/{HOSTILE}");
    case.write(&format!("{folder}/STATE.md"), "# State\n")
        .write(&format!("{folder}/ROADMAP.md"), "# Roadmap\n\n## Phases\n- [ ] Phase 1: X\n")
        .write(&format!("{folder}/phases/01-x/01-01-PLAN.md"), "---\nphase: 1\nplan: 1\n---\n")
        .write(".vbw-planning/ACTIVE", HOSTILE);
    let other = case.run("ship --force --milestone b").code(3).stderr();
    assert!(other.ends_with(&format!("hint: annals ship --milestone {QUOTED}\n")), "{other}");
    let done = case.run("ship --force").success().stdout();
    let [tag, text] =
        ["milestone/", "Ship "].map(|what| QUOTED.replacen('a', &format!("{what}a"), 1));
    assert!(done.contains(&format!("git tag -a {tag} -m {text}\n")), "{done}");
}

#[test]
fn the_key_of_an_entry_is_one_word() {
    let case = Case::empty();
    case.git_init().write(
        &format!(".vibekit/memory/{HOSTILE}.md"),
        "# Run the tests\n\nRun the tests with cargo test\n",
    );
    let similar = case.run("remember run the tests with cargo test").code(4).stderr();
    let hint = format!(
        "`annals remember --key {QUOTED} TEXT` replaces what `annals entry read {QUOTED}` prints;"
    );
    assert!(similar.contains(&hint), "{similar}");
}
