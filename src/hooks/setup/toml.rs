//! Adds our server to Codex's `config.toml` as one table, and removes it; every other line stays as it is.

use std::path::Path;

use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::hooks::setup::is_program;
use crate::storage::read;
use crate::text::{line_end, line_gap, line_number};

const SERVERS: &str = "mcp_servers";
const NAME: &str = "annals";
const HEADER: &str = "[mcp_servers.annals]";
const BODY: &str = "command = \"annals\"\nargs = [\"mcp\"]\n";

/// Returns the file with our server, or without it; `None` if it contained nothing else.
pub(crate) fn edited(old: Option<&[u8]>, is_wanted: bool, path: &Path) -> Result<Option<Vec<u8>>> {
    let (text, before) = parsed(old.unwrap_or_default(), path)?;
    let new = match (server(&before), is_wanted) {
        (Some(found), true) if !is_ours(found) => {
            return Err(by_hand("lists another server as `annals`", path));
        }
        (Some(found), false) if is_ours(found) => without(text),
        (None, true) => with(text),
        _ => return Ok(old.map(<[u8]>::to_vec)),
    };
    let after = parsed(new.as_bytes(), path).map(|(_, after)| after);
    let is_done = after.as_ref().is_ok_and(|after| server(after).is_some() == is_wanted);
    if !is_done || after.ok().map(others) != Some(others(before)) {
        return Err(by_hand("lists its MCP servers in a form that is not edited", path));
    }
    Ok((!new.trim().is_empty()).then(|| new.into_bytes()))
}

/// Returns whether the file lists our server.
pub(crate) fn lists_us(bytes: &[u8], path: &Path) -> Result<bool> {
    Ok(server(&parsed(bytes, path)?.1).is_some_and(is_ours))
}

fn parsed<'t>(bytes: &'t [u8], path: &Path) -> Result<(&'t str, Table)> {
    let text = read::editable(bytes, path)?;
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = plain.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        Error::refused(format!("is not valid TOML: {}", error.message()))
            .at(path, line_number(plain, start))
            .hint("nothing was changed; correct it by hand and run this again")
    })?;
    Ok((text, table))
}

fn server(table: &Table) -> Option<&Value> {
    table.get(SERVERS)?.get(NAME)
}

fn is_ours(server: &Value) -> bool {
    let program = server.get("command").and_then(Value::as_str);
    let first = server.get("args").and_then(|arguments| arguments.get(0)?.as_str());
    program.is_some_and(is_program) && first == Some("mcp")
}

/// Returns all that is not ours, to check that it stays.
fn others(mut table: Table) -> Table {
    if let Some(Value::Table(servers)) = table.get_mut(SERVERS) {
        servers.remove(NAME);
        if servers.is_empty() {
            table.remove(SERVERS);
        }
    }
    table
}

fn with(text: &str) -> String {
    let end = line_end(text);
    let gap = if text.is_empty() { "" } else { end };
    format!("{text}{}{gap}{HEADER}{end}{}", line_gap(text, end), BODY.replace('\n', end))
}

/// Returns the text without our tables and the blank line before them; what stands before the next table is its.
fn without(text: &str) -> String {
    let (sub_table, end) = (HEADER.replace(']', "."), line_end(text));
    let (mut kept, mut held) = (String::new(), String::new());
    let mut is_ours = false;
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with('[') {
            let is_next_ours = plain == HEADER || plain.starts_with(&sub_table);
            if !is_next_ours {
                kept.push_str(&held);
            }
            held.clear();
            let blank = kept.len() - kept.trim_end_matches(['\r', '\n']).len();
            if is_next_ours && !is_ours && blank > end.len() {
                kept.truncate(kept.len() - end.len());
            }
            is_ours = is_next_ours;
        }
        if !is_ours {
            kept.push_str(line);
        } else if plain.is_empty() || plain.starts_with('#') {
            held.push_str(line);
        } else {
            held.clear();
        }
    }
    kept + &held
}

fn by_hand(what: &str, path: &Path) -> Error {
    Error::refused(what)
        .about(path)
        .hint("nothing was changed; `codex mcp list`, `add` and `remove` do it by hand")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 9] = [
        "",
        "model = \"x\"",
        "model = \"x\"\n",
        "# mine\r\nmodel = \"x\"\r\n",
        "\u{feff}[a]\nb = 1\n\n\n",
        "[mcp_servers]\n",
        "[mcp_servers.other]\ncommand = \"o\" # mine\n\n# last words\n",
        "[mcp_servers]\nother = { command = \"o\" }\n",
        "[[list]]\na = [\n  1,\n]\n",
    ];

    fn with(text: &str) -> Result<String> {
        let new = edited(Some(text.as_bytes()), true, Path::new("config.toml"))?;
        Ok(String::from_utf8(new.unwrap()).unwrap())
    }

    fn without(text: &str) -> Option<String> {
        let new = edited(Some(text.as_bytes()), false, Path::new("config.toml")).unwrap();
        new.map(|new| String::from_utf8(new).unwrap())
    }

    #[test]
    fn the_table_goes_in_once_and_every_line_of_others_stays() {
        for old in FILES {
            let new = with(old).unwrap();
            assert_eq!(with(&new).unwrap(), new, "{old:?}");
            for line in old.lines() {
                assert!(new.lines().any(|new| new == line), "{old:?}: {new:?}");
            }
            let rest = without(&new).unwrap_or_default();
            assert_eq!(rest.trim_end(), old.trim_end(), "{old:?}");
        }
        assert_eq!(
            with("").unwrap(),
            "[mcp_servers.annals]\ncommand = \"annals\"\nargs = [\"mcp\"]\n"
        );
        assert_eq!(without(&with("").unwrap()), None);
    }

    #[test]
    fn what_was_written_since_stays() {
        let new = with("model = \"x\"\n").unwrap();
        let approved = "\n[mcp_servers.annals.tools.recall]\napproval_mode = \"approve\"\n";
        let more = format!("enabled = false\n{approved}\n# of the next\n[next]\nc = 1\n");
        let rest = without(&(new.replace("\"x\"", "\"y\"") + &more)).unwrap();
        assert_eq!(rest, "model = \"y\"\n\n# of the next\n[next]\nc = 1\n");
    }

    #[test]
    fn what_cannot_be_extended_is_refused_with_its_line() {
        for (text, line, what) in [
            ("a = 1\nb = \n", Some(2), "is not valid TOML"),
            ("a = 1\na = 2\n", Some(2), "is not valid TOML"),
            ("mcp_servers = 1\n", None, "not edited"),
            ("mcp_servers = { x = { command = \"o\" } }\n", None, "not edited"),
            ("[mcp_servers.annals]\ncommand = \"other\"\n", None, "another server"),
        ] {
            let error = with(text).unwrap_err();
            assert!(error.message.contains(what), "{text}: {error}");
            assert_eq!(error.place.unwrap().line, line, "{text}");
        }
        let error = edited(Some(b"a = \"\xff\""), true, Path::new("config.toml")).unwrap_err();
        assert_eq!(error.place.unwrap().line, Some(1));
    }
}
