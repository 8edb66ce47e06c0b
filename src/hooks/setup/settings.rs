//! Our entries in a harness's JSON settings.

use std::path::Path;

use crate::error::Error;
use crate::error::Result;
use crate::hooks::setup::entry;
use crate::hooks::setup::entry::Hook;
use crate::hooks::setup::json::Document;
use crate::hooks::setup::json::Node;
use crate::hooks::setup::json::is_blank;
use crate::hooks::setup::server;
use crate::hooks::setup::server::Server;

const HOOKS: &str = "hooks";

/// What of ours is to stand in a settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// The hooks.
    pub(crate) hooks: Vec<Hook>,
    /// The server, where the file lists servers.
    pub(crate) server: Option<Server>,
}

/// A hook command of ours as it was found.
struct Found {
    event: String,
    arguments: String,
    program: String,
    /// The indices from the root to what goes when it goes: its group, where nothing else is in it.
    trail: Vec<usize>,
    command: Node,
}

/// Returns a settings file with our entries, and with none of ours that are not wanted.
pub(crate) fn with(bytes: &[u8], path: &Path, wanted: &Entries) -> Result<Vec<u8>> {
    let mut document = Document::parse(bytes, path)?;
    let mut is_same = true;
    for hook in &wanted.hooks {
        if let Some(next) = with_hook(&document, hook)? {
            document = next;
            is_same = false;
        }
    }
    let is_wanted = |event: &str| wanted.hooks.iter().any(|hook| hook.event == event);
    while let Some(surplus) = surplus(&document, &is_wanted) {
        document = document.without(&surplus, None)?;
        is_same = false;
    }
    if let Some(server) = wanted.server
        && document.object(&[server.key(), server::NAME])?.is_none()
    {
        document = document.add_member(&[server.key()], server::NAME, json(server.value())?)?;
        is_same = false;
    }
    if let Some(server) = wanted.server {
        refuse_foreign(&document, server)?;
    }
    Ok(if is_same {
        bytes.to_vec()
    } else {
        document.text().as_bytes().to_vec()
    })
}

/// Returns a settings file with a hook where no command of ours stands on its event yet.
pub(crate) fn with_first(bytes: &[u8], path: &Path, hook: &Hook) -> Result<Vec<u8>> {
    let document = Document::parse(bytes, path)?;
    if found(&document).iter().any(|one| one.event == hook.event) {
        return Ok(bytes.to_vec());
    }
    let document = document.add_element(&[HOOKS], hook.event, json(hook.group())?)?;
    Ok(document.text().as_bytes().to_vec())
}

/// Returns a settings file without our entries; nothing where no one else's are in it.
///
/// `before` is what it held before we came: nothing where it was not there.
pub(crate) fn without(
    bytes: &[u8],
    path: &Path,
    server: Option<Server>,
    before: Option<&[u8]>,
) -> Result<Option<Vec<u8>>> {
    let mut document = Document::parse(bytes, path)?;
    let earlier = before.and_then(|before| Document::parse(before, path).ok());
    let mut is_same = true;
    while let Some(last) = found(&document).pop() {
        document = document.without(&last.trail, earlier.as_ref())?;
        is_same = false;
    }
    if let Some(trail) = server.and_then(|server| own_server(&document, server)) {
        document = document.without(&trail, earlier.as_ref())?;
        is_same = false;
    }
    if is_same {
        return Ok(Some(bytes.to_vec()));
    }
    Ok(match before {
        None if document.is_empty() => None,
        Some(before) if document.is_empty() && is_blank(before) => Some(before.to_vec()),
        _ => Some(document.text().as_bytes().to_vec()),
    })
}

fn with_hook<'a>(document: &Document<'a>, hook: &Hook) -> Result<Option<Document<'a>>> {
    let found = found(document);
    let Some(first) = found.iter().find(|found| found.event == hook.event) else {
        let group = json(hook.group())?;
        return document.add_element(&[HOOKS], hook.event, group).map(Some);
    };
    let arguments = entry::own(&hook.command).map(|(_, arguments)| arguments);
    if arguments == Some(first.arguments.as_str()) {
        return Ok(None);
    }
    let command = format!("{} {}", first.program, arguments.unwrap_or_default());
    document.replace_text(&first.command, &command).map(Some)
}

/// Returns the trail of a command of ours that calls twice, or on an event that is not wanted.
fn surplus(document: &Document, is_wanted: &dyn Fn(&str) -> bool) -> Option<Vec<usize>> {
    let found = found(document);
    let is_surplus = |index: usize| {
        let event = &found[index].event;
        !is_wanted(event) || found[..index].iter().any(|earlier| earlier.event == *event)
    };
    let last = (0..found.len()).rev().find(|index| is_surplus(*index))?;
    found.into_iter().nth(last).map(|found| found.trail)
}

/// Returns the commands of ours, in the order of the text; what has another shape is somebody else's.
fn found(document: &Document) -> Vec<Found> {
    let root = document.root();
    let Some(hooks_at) = index_of(root, HOOKS) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let events = root.get(HOOKS).map(Node::members).unwrap_or_default();
    for (event_at, event) in events.iter().enumerate() {
        for (group_at, group) in event.value.elements().iter().enumerate() {
            let commands = group.get(HOOKS).map(Node::elements).unwrap_or_default();
            for (at, command) in commands.iter().enumerate() {
                let Some(command) = command.get("command") else {
                    continue;
                };
                let Some((program, arguments)) = command.text().and_then(entry::own) else {
                    continue;
                };
                let mut trail = vec![hooks_at, event_at, group_at];
                if commands.len() > 1 {
                    trail.extend(index_of(group, HOOKS));
                    trail.push(at);
                }
                all.push(Found {
                    event: event.name.clone(),
                    arguments: arguments.to_owned(),
                    program: program.to_owned(),
                    trail,
                    command: command.clone(),
                });
            }
        }
    }
    all
}

fn own_server(document: &Document, server: Server) -> Option<Vec<usize>> {
    let root = document.root();
    let servers = root.get(server.key())?;
    let is_own = server.is_own(servers.get(server::NAME)?);
    let trail = [
        index_of(root, server.key())?,
        index_of(servers, server::NAME)?,
    ];
    is_own.then(|| trail.to_vec())
}

fn refuse_foreign(document: &Document, server: Server) -> Result<()> {
    let servers = document.root().get(server.key());
    match servers.and_then(|servers| servers.get(server::NAME)) {
        Some(found) if !server.is_own(found) => {
            Err(document.not_a(server::NAME, "our server: it starts something else", found))
        }
        _ => Ok(()),
    }
}

fn index_of(object: &Node, name: &str) -> Option<usize> {
    let mut members = object.members().iter();
    members.position(|member| member.name == name)
}

fn json(value: serde_json::Result<serde_json::Value>) -> Result<serde_json::Value> {
    value.map_err(|error| Error::failed(format!("cannot write JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;
    use serde_json::Map;
    use serde_json::Value;
    use serde_json::json;

    use crate::hooks::Harness;

    fn wanted(notepad: bool) -> Entries {
        let hook = |event, matcher, command| Hook {
            event,
            matcher,
            command,
            timeout: 10,
        };
        let start = entry::session_start(Harness::Claude, notepad);
        let tool = entry::command(Harness::Claude, "post-tool-use");
        Entries {
            hooks: vec![
                hook("SessionStart", None, start),
                hook("PostToolUse", Some("Write|Edit"), tool),
            ],
            server: Some(Server::Program),
        }
    }

    fn path() -> &'static Path {
        Path::new("settings.json")
    }

    fn value(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).unwrap()
    }

    #[test]
    fn an_entry_looks_like_those_around_it() {
        let old = "{\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\"hooks\": []}\n\t\t]\n\t},\n\t\"x\": 1\n}";
        let hook = &wanted(true).hooks[0];
        let new = String::from_utf8(with_first(old.as_bytes(), path(), hook).unwrap()).unwrap();
        let added = ",\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"annals hook session-start\",\n\t\t\t\t\t\t\"timeout\": 10\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}";
        assert_eq!(new.replacen(added, "", 1), old);
        let again = with_first(new.as_bytes(), path(), hook).unwrap();
        assert_eq!(again, new.as_bytes());
        let line = with_first(br#"{"a":{"b":[]}}"#, path(), hook).unwrap();
        assert!(!line.contains(&b'\n'), "one line stays one line");
    }

    #[test]
    fn a_command_with_another_path_is_ours_and_a_foreign_one_in_its_group_stays() {
        let old = json!({"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [
            {"type": "command", "command": "/opt/annals hook session-start", "timeout": 3},
            {"type": "command", "command": "echo"},
        ]}]}});
        let bytes = serde_json::to_vec_pretty(&old).unwrap();
        let new = with(&bytes, path(), &wanted(false)).unwrap();
        let group = &value(&new)["hooks"]["SessionStart"][0]["hooks"];
        assert_eq!(
            group[0]["command"],
            "/opt/annals hook session-start --no-notepad"
        );
        assert_eq!(group[0]["timeout"], 3);
        let rest = without(&new, path(), Some(Server::Program), Some(&bytes)).unwrap();
        let rest = value(&rest.unwrap());
        let group = &rest["hooks"]["SessionStart"][0]["hooks"];
        assert_eq!(*group, json!([{"type": "command", "command": "echo"}]));
    }

    #[test]
    fn two_calls_become_one_and_an_event_that_is_not_wanted_goes() {
        let call = |event: &str| json!({"hooks": [{"command": format!("annals hook {event}")}]});
        let old = json!({"hooks": {
            "SessionStart": [call("session-start"), call("session-start")],
            "PreCompact": [call("pre-compact")],
        }});
        let new = with(&serde_json::to_vec(&old).unwrap(), path(), &wanted(true)).unwrap();
        let hooks = &value(&new)["hooks"];
        assert_eq!(hooks["SessionStart"].as_array().unwrap().len(), 1);
        assert_eq!(hooks.get("PreCompact"), None);
    }

    #[test]
    fn another_server_of_our_name_is_refused() {
        let foreign = br#"{"mcpServers": {"annals": {"command": "other"}}}"#;
        let error = with(foreign, path(), &wanted(true)).unwrap_err();
        assert!(error.message.contains("starts something else"), "{error}");
        let own = br#"{"mcpServers":{"annals":{"command":"/opt/annals","args":["mcp","--tools","all"]}}}"#;
        let entries = Entries {
            hooks: Vec::new(),
            server: Some(Server::Program),
        };
        assert_eq!(with(own, path(), &entries).unwrap(), own);
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
        let names = prop_oneof![
            "[a-z]{1,6}",
            Just("hooks".to_owned()),
            Just("annals".to_owned())
        ];
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
            any_value().prop_map(|other| json!({"matcher": "Bash", "hooks": [
                {"type": "command", "command": "other hook x", "more": other},
            ]})),
        ]
    }

    prop_compose! {
        fn settings()(
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
            4 => format!(
                "\n {} \n",
                settings
                    .to_string()
                    .replace("[]", "[ ]")
                    .replace("{}", "{\n}")
            ),
            _ => pretty.replace("[]", "[\n\n  ]").replace("{}", "{ }"),
        }
        .into_bytes()
    }

    proptest! {
        #[test]
        fn setup_then_remove_is_the_original(settings in settings(), style in 0_usize..6, notepad: bool) {
            let old = written(&settings, style);
            // What replaced inside of a string is no JSON any more.
            prop_assume!(Document::parse(&old, path()).is_ok());
            let entries = wanted(notepad);
            let new = with(&old, path(), &entries).unwrap();
            prop_assert_ne!(&new, &old);
            prop_assert_eq!(&with(&new, path(), &entries).unwrap(), &new);
            let restored = without(&new, path(), entries.server, Some(&old)).unwrap();
            prop_assert_eq!(restored.as_deref(), Some(&old[..]));
            let changed = with(&new, path(), &wanted(!notepad)).unwrap();
            let restored = without(&changed, path(), entries.server, Some(&old)).unwrap();
            prop_assert_eq!(restored.as_deref(), Some(&old[..]));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[{}\\[\\]\",:\\\\/* a1\n]{0,60}") {
            for input in [&bytes[..], text.as_bytes()] {
                // Only whether it returns is asked.
                let _is_json = with(input, path(), &wanted(true)).is_ok();
                let _is_json = without(input, path(), Some(Server::List), None).is_ok();
            }
        }
    }
}
