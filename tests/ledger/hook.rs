//! `ledger init --hook` extends existing settings, or refuses; it never replaces anything.

use serde_json::{Value, json};

use crate::support::Case;

const SETTINGS: &str = ".claude/settings.json";

/// Returns the commands of the hooks at a session's start.
fn starts(case: &Case) -> Vec<String> {
    let settings: Value = serde_json::from_slice(&case.read(SETTINGS).unwrap()).unwrap();
    let groups = settings["hooks"]["SessionStart"].as_array().unwrap().iter();
    let hooks = groups.flat_map(|group| group["hooks"].as_array().unwrap());
    hooks.map(|hook| hook["command"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn absent_and_empty_settings_get_the_one_hook() {
    for settings in [None, Some(""), Some("{}"), Some("{\n}\n")] {
        let case = Case::empty();
        if let Some(settings) = settings {
            case.write(SETTINGS, settings);
        }
        let report = case.run("ledger init --hook --json").success().json();
        assert_eq!(report["hook"], json!(SETTINGS), "{settings:?}");
        let ours = starts(&case);
        assert_eq!(ours.len(), 1, "{settings:?}: {ours:?}");
        let before = case.tree();
        let again = case.run("ledger init --hook --json").success().json();
        assert_eq!(again["hook"], json!(null));
        assert_eq!(case.tree(), before);
        // The same hook as in the complete setup.
        case.run("setup claude").success();
        assert_eq!(starts(&case), ours);
    }
}

#[test]
fn one_undo_reverts_the_ledger_and_the_hook() {
    let case = Case::empty();
    case.write(SETTINGS, "{}");
    let before = case.tree();
    case.run("ledger init --hook").success();
    case.run("undo").success();
    assert_eq!(case.tree(), before);
}

#[test]
fn other_hooks_keep_every_byte_and_their_order() {
    let case = Case::empty();
    let settings = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\"matcher\": \"startup\", \"hooks\": [{\"type\": \"command\", \"command\": \"first.sh\", \"timeout\": 3.0}]},\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"second.sh\"}]}\n\t\t],\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"stop.sh\"}]}]\n\t},\n\t\"permissions\": {\"deny\": [\"Read(./.env)\"]}\n}\n";
    case.write(SETTINGS, settings);
    case.run("ledger init --hook").success();
    let after = String::from_utf8(case.read(SETTINGS).unwrap()).unwrap();
    for line in settings
        .lines()
        .filter(|line| line.contains(".sh\"") || line.contains("model") || line.contains("deny"))
    {
        let kept = line.trim_end_matches(',');
        assert!(after.contains(kept), "{kept}\n{after}");
    }
    let found = starts(&case);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&"first.sh".to_owned()) && found.contains(&"second.sh".to_owned()));
}

#[test]
fn malformed_settings_are_refused_and_kept_and_no_ledger_is_created() {
    for settings in
        ["{\"hooks\": ", "{\"hooks\": []}", "{\"hooks\": {\"SessionStart\": 7}}", "[]", "{} {}"]
    {
        let case = Case::empty();
        case.write(SETTINGS, settings);
        let before = case.tree();
        let refused = case.run("ledger init --hook").code(4);
        assert!(refused.stderr().contains(SETTINGS), "{}", refused.report());
        assert_eq!(case.tree(), before, "{settings}");
    }
}

#[test]
fn comments_are_kept_or_refused() {
    let case = Case::empty();
    let settings = "{\n  // mine\n  \"model\": \"opus\" /* why */\n}\n";
    case.write(SETTINGS, settings);
    let outcome = case.run("ledger init --hook").output();
    let after = String::from_utf8(case.read(SETTINGS).unwrap()).unwrap();
    match outcome.exit_code() {
        Some(0) => assert!(after.contains("// mine") && after.contains("/* why */"), "{after}"),
        Some(4) => assert_eq!(after, settings),
        _ => panic!("{}", outcome.report()),
    }
}
