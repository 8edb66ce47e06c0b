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
