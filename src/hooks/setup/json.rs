//! Our hooks and our server in a harness's JSON settings, edited in place: the rest keeps its order, comments and form.

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode, CstStringLit};
use jsonc_parser::{ParseOptions, json};
use regex::Regex;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::hooks::harness::{Hook, JsonContent, ServerEntry, SetupOptions};
use crate::hooks::setup::{SERVER, Settings, is_program};
use crate::storage::read;
use crate::text::{line_end, line_number, pattern};

const BOM: &str = "\u{feff}";

/// Maximum size of a settings file, in bytes; parsed, it can take sixty times as much memory.
const MAX_BYTES: usize = 1024 * 1024;

/// The key of the hooks.
const HOOKS: &str = "hooks";

/// Keys that harnesses add to a file of ours; a file with no others is ours alone.
const ADDED_BY_HARNESSES: [&str; 2] = ["$schema", "$version"];

/// A JSON document whose root is an object.
pub(crate) struct JsonSettings<'a> {
    file: &'a Settings,
    content: JsonContent,
    bom: &'static str,
    start: String,
    root: CstRootNode,
    object: CstObject,
}

/// One of our commands in the settings.
struct OurHook {
    event: String,
    program: String,
    arguments: String,
    /// The string literal of the command.
    literal: CstStringLit,
    /// The node to remove with the command: its group, if that contains nothing else.
    node: CstNode,
}

impl<'a> JsonSettings<'a> {
    /// Parses a file's bytes; a blank file counts as an empty object, and any value other than an object is refused.
    pub(crate) fn parse(bytes: &[u8], file: &'a Settings, content: JsonContent) -> Result<Self> {
        let path = file.path.as_path();
        if bytes.len() > MAX_BYTES {
            return Err(refused("is larger than 1 MiB, so it is not read", path, 1));
        }
        let text = read::editable(bytes, path)?;
        let (bom, text) = match text.strip_prefix(BOM) {
            Some(text) => (BOM, text),
            None => ("", text),
        };
        let empty = format!("{{}}{}", line_end(text));
        let text = if text.trim().is_empty() { &empty } else { text };
        let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| {
            let line = line_number(text, error.range().start);
            refused(&format!("is not valid JSON: {}", error.kind()), path, line)
        })?;
        let Some(object) = root.object_value() else {
            let line = root.value().map_or(1, |value| line(&value));
            return Err(refused("is JSON, but not an object", path, line));
        };
        let start = root.to_string();
        let document = Self { file, content, bom, start, root, object };
        document.refuse_duplicate_keys(&document.object)?;
        Ok(document)
    }

    /// Returns the file: `old` if nothing was changed, `None` if nothing but our entries was in it.
    pub(crate) fn into_bytes(self, old: Option<&[u8]>) -> Option<Vec<u8>> {
        let text = self.root.to_string();
        if text == self.start {
            return old.map(<[u8]>::to_vec);
        }
        let mut members = self.object.properties().into_iter();
        let is_added = |name: String| ADDED_BY_HARNESSES.contains(&name.as_str());
        let is_ours = members.all(|member| member.decoded_name().is_none_or(is_added))
            // Strict JSON: a comment would be the user's.
            && serde_json::from_str::<IgnoredAny>(&text).is_ok();
        (!is_ours).then(|| format!("{}{text}", self.bom).into_bytes())
    }

    /// Returns our commands and our server, one line each.
    pub(crate) fn entries(&self) -> Result<Vec<String>> {
        let mut lines: Vec<String> = self
            .hooks()?
            .into_iter()
            .map(|one| format!("{}: {} {}", one.event, one.program, one.arguments))
            .collect();
        if self.server()?.is_some_and(|(_, is_ours)| is_ours) {
            lines.push(SERVER.to_owned());
        }
        Ok(lines)
    }

    /// Adds our entries, updates their options, and removes those that are not wanted any more.
    pub(crate) fn add(&self, options: SetupOptions) -> Result<()> {
        if self.content.hooks {
            let profile = self.file.profile;
            for hook in profile.wanted_hooks(options) {
                self.add_hook(hook, &profile.command(hook, options), true)?;
            }
            self.remove_hooks(|one| !profile.wanted_hooks(options).any(|hook| one.is_of(hook)))?;
        }
        let Some(server) = self.content.server else { return Ok(()) };
        match self.server()? {
            Some((_, true)) => Ok(()),
            Some((found, false)) => {
                Err(refused("\"annals\" is another server", &self.file.path, line(&found)))
            }
            None => {
                self.object_or_new(server.key())?.append("annals", server.value());
                Ok(())
            }
        }
    }

    /// Adds a hook; a command of ours for the same event and call gets the arguments of this one, if it may be changed.
    pub(crate) fn add_hook(&self, hook: &Hook, command: &str, updates: bool) -> Result<()> {
        let found: Vec<OurHook> = self.hooks()?.into_iter().filter(|one| one.is_of(hook)).collect();
        let arguments = command.split_once(' ').map_or("", |(_, arguments)| arguments);
        if found.is_empty() {
            let hooks = self.object_or_new(HOOKS)?;
            self.array_or_new(&hooks, &hook.event)?.append(group(hook, command));
        }
        // One that is there twice must not go on giving what the user turned off.
        for one in found.iter().filter(|one| updates && one.arguments != arguments) {
            one.literal
                .set_raw_value(Value::from(format!("{} {arguments}", one.program)).to_string());
        }
        Ok(())
    }

    /// Removes our entries. A command with a path to the program was written by the user, and stays.
    pub(crate) fn remove(&self) -> Result<()> {
        self.remove_hooks(|one| one.program == "annals")?;
        if let Some(server) = self.content.server
            && let Some((found, true)) = self.server()?
            && let Some(servers) = self.object(server.key())?
        {
            if found.as_object().is_some_and(|found| server.words(&found).len() == 2)
                && let Some(member) = servers.get("annals")
            {
                member.remove();
            }
            self.remove_if_empty(server.key());
        }
        Ok(())
    }

    /// Removes the commands that `is_surplus` selects, the last first, and what is empty without them.
    fn remove_hooks(&self, is_surplus: impl Fn(&OurHook) -> bool) -> Result<()> {
        while let Some(one) = self.hooks()?.into_iter().rev().find(&is_surplus) {
            one.node.remove();
            if let Some(member) = self.object(HOOKS)?.and_then(|hooks| hooks.get(&one.event))
                && member.array_value().is_some_and(|groups| groups.elements().is_empty())
            {
                member.remove();
            }
            self.remove_if_empty(HOOKS);
        }
        Ok(())
    }

    /// Returns our commands, in order of appearance; anything with another structure is not ours.
    fn hooks(&self) -> Result<Vec<OurHook>> {
        let mut all: Vec<OurHook> = Vec::new();
        let hooks = if self.content.hooks { self.object(HOOKS)? } else { None };
        for member in hooks.iter().flat_map(CstObject::properties) {
            let (Some(event), Some(groups)) = (member.decoded_name(), member.array_value()) else {
                continue;
            };
            for group in groups.elements() {
                let commands = group
                    .as_object()
                    .and_then(|group| group.array_value(HOOKS))
                    .map_or(Vec::new(), |commands| commands.elements());
                let is_alone = commands.len() == 1;
                let ours = commands.into_iter().filter_map(|node| {
                    let literal = node.as_object()?.get("command")?.value()?.as_string_lit()?;
                    let (program, arguments) = our_command(&literal.decoded_value().ok()?)?;
                    let node = if is_alone { group.clone() } else { node };
                    let event = event.clone();
                    Some(OurHook { event, program, arguments, literal, node })
                });
                all.extend(
                    ours.filter(|one| self.file.profile.hooks.iter().any(|hook| one.is_of(hook))),
                );
            }
        }
        Ok(all)
    }

    /// Returns the server with our name, and whether it starts our binary; the user may have added arguments.
    fn server(&self) -> Result<Option<(CstNode, bool)>> {
        let Some(server) = self.content.server else { return Ok(None) };
        let servers = self.object(server.key())?;
        let found = servers.and_then(|servers| servers.get("annals")?.value());
        Ok(found.map(|found| {
            let words = found.as_object().map_or(Vec::new(), |found| server.words(&found));
            let is_ours =
                matches!(&words[..], [program, first, ..] if is_program(program) && first == "mcp");
            (found, is_ours)
        }))
    }

    /// Returns the object under a key, if present; a value of another type is refused.
    fn object(&self, name: &str) -> Result<Option<CstObject>> {
        let Some(member) = self.object.get(name) else {
            return Ok(None);
        };
        let object = member.object_value();
        let object = object.ok_or_else(|| self.not_a(name, "an object", &member.into()))?;
        self.refuse_duplicate_keys(&object)?;
        Ok(Some(object))
    }

    fn object_or_new(&self, name: &str) -> Result<CstObject> {
        Ok(match self.object(name)? {
            Some(object) => object,
            None => self.object.object_value_or_set(name),
        })
    }

    fn array_or_new(&self, object: &CstObject, name: &str) -> Result<CstArray> {
        match object.get(name) {
            Some(member) => {
                member.array_value().ok_or_else(|| self.not_a(name, "an array", &member.into()))
            }
            None => Ok(object.array_value_or_set(name)),
        }
    }

    fn remove_if_empty(&self, name: &str) {
        // A comment in it is the user's.
        if let Some(member) = self.object.get(name)
            && member.object_value().is_some_and(|object| {
                object.to_string().split_whitespace().collect::<String>() == "{}"
            })
        {
            member.remove();
        }
    }

    fn not_a(&self, name: &str, wanted: &str, found: &CstNode) -> Error {
        refused(&format!("{name:?} is not {wanted}"), &self.file.path, line(found))
    }

    /// Refuses duplicate keys, because parsers differ in which one they use.
    fn refuse_duplicate_keys(&self, object: &CstObject) -> Result<()> {
        let mut seen = HashSet::new();
        for member in object.properties() {
            let name = member.decoded_name().unwrap_or_default();
            if !seen.insert(name.clone()) {
                let what = format!("has the duplicate key {name:?}");
                return Err(refused(&what, &self.file.path, line(&member.into())));
            }
        }
        Ok(())
    }
}

impl OurHook {
    /// Returns whether it is the command of a hook, with any options.
    fn is_of(&self, hook: &Hook) -> bool {
        let call = self.arguments.split_whitespace().nth(1);
        self.event == hook.event && call == Some(hook.call.as_str())
    }
}

/// Returns the program and the arguments of a command that `setup` can have written, wherever the binary is. One with other
/// options was edited by the user, and belongs to the user.
fn our_command(command: &str) -> Option<(String, String)> {
    static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
        let options = r"(?:\s+--no-notepad|\s+--no-entries|\s+--harness\s+\S+)*";
        let command = format!(r#"^\s*("[^"]*"|[^\s"]\S*)\s+(hook\s+\S+{options})\s*$"#);
        pattern(&command)
    });
    let found = COMMAND.captures(command)?;
    is_program(&found[1]).then(|| (found[1].to_owned(), found[2].to_owned()))
}

/// Returns a hook in the harness's format: a group of commands with one matcher.
fn group(hook: &Hook, command: &str) -> CstInputValue {
    let call = json!({ "type": "command", "command": command, "timeout": (hook.timeout) });
    match hook.matcher.as_deref() {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [(call)] }),
        None => json!({ "hooks": [(call)] }),
    }
}

impl ServerEntry {
    /// Returns the key of the object that lists servers.
    fn key(self) -> &'static str {
        match self {
            Self::Program => "mcpServers",
            Self::List => "mcp",
        }
    }

    fn value(self) -> CstInputValue {
        match self {
            Self::Program => json!({ "command": "annals", "args": ["mcp"] }),
            Self::List => {
                json!({ "type": "local", "command": ["annals", "mcp"], "enabled": true })
            }
        }
    }

    /// Returns the program that a server's entry starts, and its arguments.
    fn words(self, found: &CstObject) -> Vec<String> {
        let text = |node: CstNode| node.as_string_lit()?.decoded_value().ok();
        let list = |name| {
            found
                .array_value(name)
                .map_or(Vec::new(), |list| list.elements())
                .into_iter()
                .map(|one| text(one).unwrap_or_default())
        };
        match self {
            Self::Program => found
                .get("command")
                .and_then(|member| text(member.value()?))
                .into_iter()
                .chain(list("args"))
                .collect(),
            Self::List => list("command").collect(),
        }
    }
}

/// Comments and trailing commas are kept, whether the harness accepts them or not.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn refused(what: &str, path: &Path, line: usize) -> Error {
    Error::refused(what)
        .at(path, line)
        .hint("nothing was changed; correct it by hand and run this again")
}

/// Returns the line number of the start of a node.
fn line(node: &CstNode) -> usize {
    let mut newlines = 0;
    let mut at = Some(node.clone());
    while let Some(node) = at {
        newlines += node
            .previous_siblings()
            .map(|sibling| sibling.to_string().matches('\n').count())
            .sum::<usize>();
        at = node.parent().map(Into::into);
    }
    newlines + 1
}
