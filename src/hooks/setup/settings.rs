//! Adds our entries to a harness's JSON settings, and removes them.

use std::path::Path;

use jsonc_parser::cst::CstObject;

use crate::error::Result;
use crate::hooks::harness::{HarnessProfile, Hook, JsonDialect, ServerEntry, SetupOptions};
use crate::hooks::setup::command::Command;
use crate::hooks::setup::hook_command::{HOOKS, HookCommand, group};
use crate::hooks::setup::json::{JsonDocument, is_blank};
use crate::hooks::setup::server;

/// The entry for our server, as a line of the report.
pub(crate) const SERVER: &str = "MCP server annals: annals mcp";

/// A key that the harness itself adds; a file with no other key counts as empty.
const SCHEMA: &str = "$schema";

/// Our entries in the settings of one harness.
#[derive(Clone, Copy)]
pub(crate) struct SettingsEntries {
    /// The harness.
    pub(crate) profile: &'static HarnessProfile,
    /// Whether the file contains the hooks.
    pub(crate) hooks: bool,
    /// The format of the server entry, if the file lists servers.
    pub(crate) server: Option<ServerEntry>,
    /// The JSON extensions that the harness accepts.
    pub(crate) dialect: JsonDialect,
}

impl SettingsEntries {
    /// Returns a settings file with our current entries, and without obsolete ones.
    pub(crate) fn with(self, bytes: &[u8], path: &Path, options: SetupOptions) -> Result<Vec<u8>> {
        let document = JsonDocument::parse(bytes, path, self.dialect)?;
        let before = document.text();
        if self.hooks {
            let wanted = self.profile.wanted_hooks(options);
            for hook in &wanted {
                self.upsert(&document, hook, options)?;
            }
            while let Some(surplus) = self.surplus(&document, &wanted)? {
                surplus.remove(&document, None)?;
            }
        }
        if let Some(server) = self.server {
            put_server(&document, server)?;
        }
        let text = document.text();
        Ok(if text == before { bytes.to_vec() } else { text.into_bytes() })
    }

    /// Returns a settings file with one hook, unless it already contains a command of ours for the event.
    pub(crate) fn with_first(self, bytes: &[u8], path: &Path, hook: &Hook) -> Result<Vec<u8>> {
        let document = JsonDocument::parse(bytes, path, self.dialect)?;
        let found = HookCommand::all(self.profile, &document)?;
        if found.iter().any(|one| one.event == hook.event) {
            return Ok(bytes.to_vec());
        }
        self.upsert(&document, hook, SetupOptions::DEFAULT)?;
        Ok(document.text().into_bytes())
    }

    /// Returns a settings file without our entries; `None` if it then contains nothing else and did not exist
    /// before.
    ///
    /// `before` is its content before setup, `None` if it did not exist. Commands and a server with our names
    /// that it already contained belong to the user, and remain.
    pub(crate) fn without(
        self,
        bytes: &[u8],
        path: &Path,
        before: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        let document = JsonDocument::parse(bytes, path, self.dialect)?;
        let start = document.text();
        let earlier =
            before.and_then(|before| JsonDocument::parse(before, path, self.dialect).ok());
        if self.hooks {
            self.remove_hooks(&document, earlier.as_ref())?;
        }
        if let Some(server) = self.server {
            remove_server(&document, earlier.as_ref(), server)?;
        }
        let text = document.text();
        if text == start {
            return Ok(Some(bytes.to_vec()));
        }
        let is_empty = document.names().iter().all(|name| name == SCHEMA);
        Ok(match before {
            None if is_empty => None,
            Some(before) if is_empty && is_blank(before) => Some(before.to_vec()),
            _ => Some(text.into_bytes()),
        })
    }

    /// Returns the options with which our hooks were written, as far as they show; else the default.
    pub(crate) fn chosen(self, bytes: &[u8], path: &Path) -> Result<SetupOptions> {
        let mut options = SetupOptions::DEFAULT;
        if self.hooks {
            let document = JsonDocument::parse(bytes, path, self.dialect)?;
            for one in HookCommand::all(self.profile, &document)? {
                options.notepad &= !one.leaves_notepad_out();
                let mut hooks = self.profile.hooks.iter();
                options.breadcrumb |=
                    hooks.any(|hook| hook.is_breadcrumb && hook.call.as_str() == one.call);
            }
        }
        Ok(options)
    }

    /// Returns our commands and our server in a settings file, one line each.
    pub(crate) fn installed_entries(self, bytes: &[u8], path: &Path) -> Result<Vec<String>> {
        let document = JsonDocument::parse(bytes, path, self.dialect)?;
        let mut found = Vec::new();
        if self.hooks {
            let all = HookCommand::all(self.profile, &document)?;
            found.extend(all.iter().map(HookCommand::line));
        }
        if let Some(server) = self.server
            && let Some(servers) = document.object(server::key(server))?
            && is_listed(server, &servers)
        {
            found.push(SERVER.to_owned());
        }
        Ok(found)
    }

    /// Removes our commands; a command that existed before setup gets its old text back.
    fn remove_hooks(self, document: &JsonDocument, earlier: Option<&JsonDocument>) -> Result<()> {
        let (had, theirs) = match earlier {
            Some(earlier) => (earlier.object(HOOKS)?, HookCommand::all(self.profile, earlier)?),
            None => (None, Vec::new()),
        };
        let theirs_of = |one: &HookCommand| theirs.iter().find(|their| their.is_same(one));
        let ours = || -> Result<Option<HookCommand>> {
            let all = HookCommand::all(self.profile, document)?.into_iter();
            Ok(all.rev().find(|one| theirs_of(one).is_none()))
        };
        while let Some(last) = ours()? {
            last.remove(document, had.as_ref())?;
        }
        for one in HookCommand::all(self.profile, document)? {
            if let Some(their) = theirs_of(&one) {
                one.set_text_of(their);
            }
        }
        let is_empty = |hooks: CstObject| hooks.properties().is_empty();
        if had.is_none() && document.object(HOOKS)?.is_some_and(is_empty) {
            document.remove(HOOKS);
        }
        Ok(())
    }

    /// Adds a hook, or updates its command.
    fn upsert(self, document: &JsonDocument, hook: &Hook, options: SetupOptions) -> Result<()> {
        let command = self.profile.command(hook, options);
        let found = HookCommand::all(self.profile, document)?.into_iter();
        let mut same =
            found.filter(|one| one.event == hook.event && one.call == hook.call.as_str());
        let Some(first) = same.next() else {
            let hooks = document.object_or_new(HOOKS)?;
            let groups = document.array_or_new(&hooks, hook.event)?;
            groups.append(group(hook, &command));
            return Ok(());
        };
        first.set_arguments(Command::parse(&command).map_or("", |command| command.arguments));
        Ok(())
    }

    /// Returns a command of ours that is a duplicate or obsolete; a user's own command never is.
    fn surplus(self, document: &JsonDocument, wanted: &[&Hook]) -> Result<Option<HookCommand>> {
        let mut found = HookCommand::all(self.profile, document)?;
        let is_surplus = |index: usize| {
            let one = &found[index];
            let is_wanted =
                |hook: &&Hook| hook.call.as_str() == one.call && hook.event == one.event;
            let mut earlier = found[..index].iter();
            !wanted.iter().any(is_wanted) || earlier.any(|earlier| earlier.is_same(one))
        };
        let last = (0..found.len()).rev().find(|index| is_surplus(*index));
        Ok(last.map(|index| found.swap_remove(index)))
    }
}

fn put_server(document: &JsonDocument, server: ServerEntry) -> Result<()> {
    let servers = document.object_or_new(server::key(server))?;
    let Some(member) = servers.get(server::NAME) else {
        servers.append(server::NAME, server::value(server));
        return Ok(());
    };
    let own = member.object_value();
    if own.is_some_and(|found| server::is_own(server, &found)) {
        return Ok(());
    }
    let problem = format!("{:?} is another server", server::NAME);
    Err(document.refusal(&problem, &member.into()))
}

/// Returns whether our server is in the list of servers.
fn is_listed(server: ServerEntry, servers: &CstObject) -> bool {
    let found = servers.object_value(server::NAME);
    found.is_some_and(|found| server::is_own(server, &found))
}

/// Removes our server, unless it was listed before setup.
fn remove_server(
    document: &JsonDocument,
    earlier: Option<&JsonDocument>,
    server: ServerEntry,
) -> Result<()> {
    let is_listed = |servers: &CstObject| is_listed(server, servers);
    let key = server::key(server);
    let had = match earlier {
        Some(earlier) => earlier.object(key)?,
        None => None,
    };
    let Some(servers) = document.object(key)?.filter(is_listed) else {
        return Ok(());
    };
    if had.as_ref().is_some_and(is_listed) {
        return Ok(());
    }
    if let Some(member) = servers.get(server::NAME) {
        member.remove();
    }
    if servers.properties().is_empty() && had.is_none() {
        document.remove(key);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json as value};

    use super::*;
    use crate::hooks::Harness;
    use crate::hooks::harness::SettingsContent;
    use crate::hooks::setup::target::TargetFile;

    /// The settings of Claude Code, with a server in the same file.
    fn entries() -> SettingsEntries {
        target().entries_of_json()
    }

    fn target() -> TargetFile {
        let content = SettingsContent::Json {
            hooks: true,
            server: Some(ServerEntry::Program),
            dialect: JsonDialect { comments: true, trailing_commas: true },
        };
        TargetFile::new(path().to_owned(), Harness::Claude.profile(), content)
    }

    fn path() -> &'static Path {
        Path::new("settings.json")
    }

    fn parsed(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).unwrap()
    }

    #[test]
    fn an_entry_looks_like_those_around_it() {
        let old = "{\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\"hooks\": []}\n\t\t]\n\t},\n\t\"x\": 1\n}";
        let hook = &Harness::Claude.profile().hooks[0];
        let new = entries().with_first(old.as_bytes(), path(), hook).unwrap();
        let new = String::from_utf8(new).unwrap();
        let added = ",\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"annals hook session-start\",\n\t\t\t\t\t\t\"timeout\": 10\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}";
        assert_eq!(new.replacen(added, "", 1), old);
        let again = entries().with_first(new.as_bytes(), path(), hook).unwrap();
        assert_eq!(again, new.as_bytes());
    }

    #[test]
    fn a_file_of_more_than_a_mebibyte_is_refused() {
        let hook = &Harness::Claude.profile().hooks[0];
        let with_first = |size: usize| {
            let text = format!("{{{}}}", " ".repeat(size - 2));
            entries().with_first(text.as_bytes(), path(), hook)
        };
        with_first(1024 * 1024).unwrap();
        let error = with_first(1024 * 1024 + 1).unwrap_err();
        assert!(error.to_string().contains("is larger than 1 MiB"));
    }

    #[test]
    fn comments_stay_where_they_are() {
        let old = "{\n  // mine\n  \"a\": 1, /* too */\n  \"hooks\": {\n    // none yet\n  },\n}\n";
        let new = entries().with(old.as_bytes(), path(), SetupOptions::DEFAULT).unwrap();
        let new = String::from_utf8(new).unwrap();
        for line in ["  // mine\n  \"a\": 1, /* too */\n", "    // none yet\n"] {
            assert!(new.contains(line), "{new}");
        }
        let changed = new.replace("\"a\": 1", "\"a\": 2");
        let rest = entries().without(changed.as_bytes(), path(), Some(old.as_bytes()));
        let rest = String::from_utf8(rest.unwrap().unwrap()).unwrap();
        assert_eq!(rest, old.replace("\"a\": 1", "\"a\": 2"));
    }

    #[test]
    fn a_command_with_another_path_is_ours_and_a_group_that_was_there_stays_as_it_was() {
        let old = value!({"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [
            {"type": "command", "command": "/opt/annals hook session-start", "timeout": 3},
            {"type": "command", "command": "echo"},
        ]}]}});
        let bytes = serde_json::to_vec_pretty(&old).unwrap();
        let options = SetupOptions { notepad: false, breadcrumb: false };
        let new = entries().with(&bytes, path(), options).unwrap();
        let group = &parsed(&new)["hooks"]["SessionStart"][0]["hooks"];
        assert_eq!(group[0]["command"], "/opt/annals hook session-start --no-notepad");
        assert_eq!(group[0]["timeout"], 3);
        let rest = entries().without(&new, path(), Some(&bytes)).unwrap();
        assert_eq!(parsed(&rest.unwrap()), old);
        let rest = entries().without(&new, path(), None).unwrap();
        let rest = parsed(&rest.unwrap());
        let group = &rest["hooks"]["SessionStart"][0]["hooks"];
        assert_eq!(*group, value!([{"type": "command", "command": "echo"}]));
    }

    #[test]
    fn two_calls_become_one_and_a_users_own_hook_stays() {
        let call = |event: &str| value!({"hooks": [{"command": format!("annals hook {event}")}]});
        let old = value!({"hooks": {
            "SessionStart": [call("session-start"), call("session-start")],
            "PreCompact": [call("pre-compact")],
            "Stop": [call("session-end")],
            "PostToolUse": [call("post-tool-use --verbose")],
        }});
        let bytes = serde_json::to_vec(&old).unwrap();
        let new = entries().with(&bytes, path(), SetupOptions::DEFAULT).unwrap();
        let hooks = parsed(&new)["hooks"].clone();
        assert_eq!(hooks["SessionStart"].as_array().unwrap().len(), 1);
        assert_eq!(hooks.get("PreCompact"), None);
        assert_eq!(hooks["Stop"], old["hooks"]["Stop"]);
        assert_eq!(hooks["PostToolUse"].as_array().unwrap().len(), 3);
        let rest = entries().without(&new, path(), None).unwrap();
        let rest = parsed(&rest.unwrap());
        assert_eq!(rest["hooks"]["Stop"], old["hooks"]["Stop"]);
        assert_eq!(rest["hooks"]["PostToolUse"], old["hooks"]["PostToolUse"]);
    }

    #[test]
    fn what_called_us_before_setup_stays() {
        let old = value!({
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "/opt/annals hook session-start"}]}]},
            "mcpServers": {"annals": {"command": "/opt/annals", "args": ["mcp", "--tools", "all"]}},
        });
        let bytes = serde_json::to_vec_pretty(&old).unwrap();
        for options in SetupOptions::ALL {
            let new = entries().with(&bytes, path(), options).unwrap();
            assert_ne!(new, bytes);
            let mut changed = parsed(&new);
            changed["since"] = Value::from(1);
            let changed = changed.to_string();
            let rest = entries().without(changed.as_bytes(), path(), Some(&bytes));
            let mut wanted = old.clone();
            wanted["since"] = Value::from(1);
            assert_eq!(parsed(&rest.unwrap().unwrap()), wanted, "{options:?}");
        }
    }

    #[test]
    fn a_schema_that_the_harness_added_is_not_kept_alone() {
        let new = entries().with(b"", path(), SetupOptions::DEFAULT).unwrap();
        let text = String::from_utf8(new).unwrap();
        let with_schema = text.replacen('{', "{\n  \"$schema\": \"https://example.org\",", 1);
        let rest = |before| entries().without(with_schema.as_bytes(), path(), before);
        assert_eq!(rest(None).unwrap(), None);
        assert!(rest(Some(b"{\"a\": 1}")).unwrap().is_some());
    }

    #[test]
    fn another_server_of_our_name_is_refused() {
        let foreign = br#"{"mcpServers": {"annals": {"command": "other"}}}"#;
        let error = entries().with(foreign, path(), SetupOptions::DEFAULT).unwrap_err();
        assert!(error.message.contains("\"annals\" is another server"), "{error}");
        let own = br#"{"mcpServers":{"annals":{"command":"/opt/annals","args":["mcp","--tools","all"]}}}"#;
        let entries = SettingsEntries { hooks: false, ..entries() };
        assert_eq!(entries.with(own, path(), SetupOptions::DEFAULT).unwrap(), own);
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
            4 => {
                format!("\n {} \n", settings.to_string().replace("[]", "[ ]").replace("{}", "{\n}"))
            }
            _ => pretty.replace("[]", "[\n\n  ]").replace("{}", "{ }"),
        }
        .into_bytes()
    }

    proptest! {
        #[test]
        fn setup_then_remove_is_the_original(settings in settings(), style in 0_usize..6, chosen in 0_usize..4) {
            let old = written(&settings, style);
            let target = target();
            // Replacements inside of strings may have made the JSON invalid.
            prop_assume!(JsonDocument::parse(&old, path(), entries().dialect).is_ok());
            let new = target.with(Some(&old), SetupOptions::ALL[chosen]).unwrap();
            prop_assert_ne!(&new, &old);
            prop_assert_eq!(&target.with(Some(&new), SetupOptions::ALL[chosen]).unwrap(), &new);
            prop_assert_eq!(target.without(&new, Some(&old)).unwrap(), Some(old.clone()));
            // Values survive if another program has rewritten the file since.
            let mut again = parsed(&new);
            again["written-since"] = Value::from(1);
            let rest = target.without(again.to_string().as_bytes(), Some(&old)).unwrap();
            let mut wanted = parsed(&old);
            wanted["written-since"] = Value::from(1);
            prop_assert_eq!(parsed(&rest.unwrap()), wanted);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[{}\\[\\]\",:\\\\/* a1\n]{0,60}") {
            for input in [&bytes[..], text.as_bytes()] {
                // Only tests that it returns.
                let _is_json = entries().with(input, path(), SetupOptions::ALL[1]).is_ok();
                let _is_json = entries().without(input, path(), None).is_ok();
            }
        }
    }
}
