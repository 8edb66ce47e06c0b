//! Our entries in JSON settings: added once, removed again, and nothing else changed.

use proptest::prelude::*;
use serde_json::{Map, Value, json as value};

use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::harness::{JsonContent, ServerEntry, SettingsContent, SetupOptions};
use crate::hooks::setup::Settings;

/// The settings of Claude Code, with a server in the same file.
fn settings() -> Settings {
    let content =
        SettingsContent::Json(JsonContent { hooks: true, server: Some(ServerEntry::Program) });
    Settings { path: "settings.json".into(), profile: Harness::Claude.profile(), content }
}

const DEFAULT: SetupOptions =
    SetupOptions { notepad: Some(true), entries: Some(true), breadcrumb: Some(false) };
const OTHER: SetupOptions =
    SetupOptions { notepad: Some(false), entries: Some(false), breadcrumb: Some(true) };

fn with(old: &str, options: SetupOptions) -> Result<String> {
    let new = settings().edited(Some(old.as_bytes()), Some(options))?;
    Ok(String::from_utf8(new.unwrap()).unwrap())
}

fn without(old: &str) -> Option<String> {
    let new = settings().edited(Some(old.as_bytes()), None).unwrap();
    new.map(|new| String::from_utf8(new).unwrap())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).unwrap()
}

#[test]
fn an_entry_looks_like_those_around_it() {
    let old = "{\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\"hooks\": []}\n\t\t]\n\t},\n\t\"x\": 1\n}";
    let start = |old: &str| {
        let new = settings().with_session_start(Some(old.as_bytes())).unwrap();
        String::from_utf8(new.unwrap()).unwrap()
    };
    let new = start(old);
    let added = ",\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"annals hook session-start\",\n\t\t\t\t\t\t\"timeout\": 10\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}";
    assert_eq!(new.replacen(added, "", 1), old);
    assert_eq!(start(&new), new);
}

#[test]
fn comments_stay_where_they_are() {
    let old = "{\n  // mine\n  \"a\": 1, /* too */\n  \"hooks\": {\n    // none yet\n  }\n}\n";
    let new = with(old, DEFAULT).unwrap();
    for line in ["  // mine\n  \"a\": 1, /* too */\n", "    // none yet\n"] {
        assert!(new.contains(line), "{new}");
    }
    let rest = without(&new.replace("\"a\": 1", "\"a\": 2")).unwrap();
    assert_eq!(rest, old.replace("\"a\": 1", "\"a\": 2"));
}

#[test]
fn a_command_with_a_path_is_not_doubled_and_is_the_users() {
    let old = value!({
        "hooks": {"SessionStart": [{"matcher": "startup", "hooks": [
            {"type": "command", "command": "/opt/annals hook session-start", "timeout": 3},
            {"type": "command", "command": "echo"},
        ]}]},
        "mcpServers": {"annals": {"command": "/opt/annals", "args": ["mcp", "--tools", "all"]}},
    });
    let new = with(&old.to_string(), OTHER).unwrap();
    let group = &parsed(&new)["hooks"]["SessionStart"][0]["hooks"];
    assert_eq!(group[0]["command"], "/opt/annals hook session-start --no-notepad --no-entries");
    assert_eq!(group[0]["timeout"], 3);
    let again = with(&new, DEFAULT).unwrap();
    assert_eq!(parsed(&without(&again).unwrap()), old);
}

#[test]
fn a_hook_that_is_there_twice_follows_the_flags_twice() {
    let call = value!({"hooks": [{"command": "annals hook session-start"}]});
    let old = value!({"hooks": {"SessionStart": [call, call]}});
    let new = parsed(&with(&old.to_string(), OTHER).unwrap());
    for group in new["hooks"]["SessionStart"].as_array().unwrap() {
        let command = &group["hooks"][0]["command"];
        assert_eq!(command, "annals hook session-start --no-notepad --no-entries");
    }
    assert_eq!(without(&new.to_string()), None);
}

#[test]
fn a_hook_that_is_not_wanted_goes_and_a_users_own_stays() {
    let call = |event: &str| value!({"hooks": [{"command": format!("annals hook {event}")}]});
    let old = value!({"hooks": {
        "SessionStart": [call("session-start")],
        "PreCompact": [call("pre-compact")],
        "Stop": [call("session-end")],
        "PostToolUse": [call("post-tool-use --verbose")],
    }});
    let new = with(&old.to_string(), DEFAULT).unwrap();
    let hooks = parsed(&new)["hooks"].clone();
    assert_eq!(hooks["SessionStart"].as_array().unwrap().len(), 1);
    assert_eq!(hooks.get("PreCompact"), None);
    assert_eq!(hooks["PostToolUse"].as_array().unwrap().len(), 3);
    let rest = parsed(&without(&new).unwrap());
    let users = value!({"Stop": old["hooks"]["Stop"], "PostToolUse": old["hooks"]["PostToolUse"]});
    assert_eq!(rest, value!({ "hooks": users }));
}

#[test]
fn what_a_harness_adds_to_a_file_of_ours_does_not_keep_it() {
    let new = settings().edited(None, Some(DEFAULT)).unwrap().unwrap();
    let new = String::from_utf8(new).unwrap();
    let added = "{\n  \"$schema\": \"https://example.org\", \"$version\": 4,";
    assert_eq!(without(&new.replacen('{', added, 1)), None);
    assert!(without(&new.replacen('{', "{ \"a\": 1,", 1)).is_some());
    assert!(without(&new.replacen('{', "{ // mine\n", 1)).is_some());
}

#[test]
fn what_cannot_be_edited_is_refused() {
    for (old, what) in [
        (r#"{"mcpServers": {"annals": {"command": "other"}}}"#.to_owned(), "is another server"),
        (format!("{{{}}}", " ".repeat(1024 * 1024)), "is larger than 1 MiB"),
    ] {
        let error = with(&old, DEFAULT).unwrap_err();
        assert!(error.message.contains(what), "{error}");
    }
    let own =
        r#"{"mcpServers":{"annals":{"command":"/opt/annals","args":["mcp","--tools","all"]}}}"#;
    assert_eq!(parsed(&with(own, DEFAULT).unwrap())["mcpServers"], parsed(own)["mcpServers"]);
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        Just(Value::from("a\n\"b\\\u{1f600}")),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let names = prop_oneof!["[a-z]{1,6}", Just("hooks".to_owned()), Just("annals".to_owned())];
    scalar().prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn group() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_value(),
        any_value().prop_map(|other| value!({"matcher": "Bash", "hooks": [
            {"type": "command", "command": "other hook x", "more": other},
        ]})),
    ]
}

prop_compose! {
    fn any_settings()(
        members in prop::collection::vec(("[a-z]{1,6}", any_value()), 0..4),
        hooks in prop::option::of(prop::collection::vec((
            prop::sample::select(vec!["SessionStart", "PostToolUse", "Stop"]),
            prop::collection::vec(group(), 0..3),
        ), 0..3)),
        servers in prop::option::of(prop::collection::vec(("[a-m]{1,3}", any_value()), 0..2)),
        hooks_first in any::<bool>(),
    ) -> Value {
        let mut all = Map::new();
        let hooks = hooks.map(|hooks| {
            let hooks = hooks.into_iter().map(|(event, groups)| (event.to_owned(), Value::from(groups)));
            Value::Object(hooks.collect())
        });
        if hooks_first && let Some(hooks) = &hooks {
            all.insert("hooks".to_owned(), hooks.clone());
        }
        all.extend(members);
        if !hooks_first && let Some(hooks) = hooks {
            all.insert("hooks".to_owned(), hooks);
        }
        if let Some(servers) = servers {
            all.insert("mcpServers".to_owned(), Value::Object(servers.into_iter().collect()));
        }
        Value::Object(all)
    }
}

fn written(settings: &Value, style: usize) -> Vec<u8> {
    let pretty = serde_json::to_string_pretty(settings).unwrap();
    match style {
        0 => settings.to_string(),
        1 => pretty,
        2 => pretty.replace('\n', "\r\n") + "\r\n",
        3 => format!("\u{feff}{}\n\n", pretty.replace("  ", "\t")),
        4 => {
            format!("\n {} \n", settings.to_string().replace("[]", "[ ]").replace("{}", "{\n}"))
        }
        _ => pretty.replace("[]", "[\n\n  ]").replace("{}", "{ }"),
    }
    .into_bytes()
}

/// Returns a document without the objects and arrays of ours that are empty: what `setup` made and what was there before
/// look the same.
fn without_empty(mut settings: Value) -> Value {
    let is_empty = |value: &Value| {
        value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
    };
    if let Some(hooks) = settings["hooks"].as_object_mut() {
        hooks.retain(|_, groups| !is_empty(groups));
    }
    if let Some(all) = settings.as_object_mut() {
        all.retain(|name, value| {
            !["hooks", "mcpServers"].contains(&name.as_str())
                || !is_empty(value) && !value.is_null()
        });
    }
    settings
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn setup_then_remove_keeps_every_value(settings in any_settings(), style in 0_usize..6, other in any::<bool>()) {
        let old = String::from_utf8(written(&settings, style)).unwrap();
        let options = if other { OTHER } else { DEFAULT };
        // Replacements inside of strings may have made the JSON invalid.
        if style > 3 && serde_json::from_str::<Value>(&old).is_err() {
            return Ok(());
        }
        let Ok(new) = with(&old, options) else { return Ok(()) };
        prop_assert_ne!(&new, &old);
        prop_assert_eq!(&with(&new, options).unwrap(), &new);
        let rest = without(&new).map_or(value!({}), |rest| parsed(&rest));
        prop_assert_eq!(without_empty(rest), without_empty(parsed(&old)));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[{}\\[\\]\",:\\\\/* a1\n]{0,60}") {
        for input in [&bytes[..], text.as_bytes()] {
            // Only tests that it returns.
            let _is_json = settings().edited(Some(input), Some(OTHER)).is_ok();
            let _is_json = settings().edited(Some(input), None).is_ok();
        }
    }
}
