//! Our server in Codex's `config.toml`: one table at its end.

use std::path::Path;

use toml::Table;
use toml::Value;

use crate::error::Error;
use crate::error::Result;
use crate::hooks::setup::entry;
use crate::hooks::setup::server;

const SERVERS: &str = "mcp_servers";
const HEADER: &str = "[mcp_servers.annals]";
const LINES: [&str; 3] = [HEADER, "command = \"annals\"", "args = [\"mcp\"]"];

/// Returns the file with our server.
pub(crate) fn with(bytes: &[u8], path: &Path) -> Result<Vec<u8>> {
    let text = text(bytes, path)?;
    let mut table = parse(text, path)?;
    if let Some(found) = listed(&table) {
        return if is_own(found) {
            Ok(bytes.to_vec())
        } else {
            Err(by_hand("lists another server as `annals`", path))
        };
    }
    let new = extended(text);
    let servers = table
        .entry(SERVERS)
        .or_insert_with(|| Value::Table(Table::new()));
    if let Some(servers) = servers.as_table_mut() {
        servers.insert(server::NAME.to_owned(), own());
    }
    if parse(&new, path).ok() != Some(table) {
        let what = "keeps its MCP servers in a form that no table can be added to";
        return Err(by_hand(what, path));
    }
    Ok(new.into_bytes())
}

/// Returns the file without our server; nothing where it held nothing else.
pub(crate) fn without(bytes: &[u8], path: &Path, before: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
    let text = text(bytes, path)?;
    let mut table = parse(text, path)?;
    if !listed(&table).is_some_and(is_own) {
        return Ok(Some(bytes.to_vec()));
    }
    if let Some(before) = before
        && std::str::from_utf8(before).is_ok_and(|before| extended(before) == text)
    {
        return Ok(Some(before.to_vec()));
    }
    let new = cut(text);
    if let Some(servers) = table.get_mut(SERVERS).and_then(Value::as_table_mut) {
        servers.remove(server::NAME);
        if servers.is_empty() && !new.contains(SERVERS) {
            table.remove(SERVERS);
        }
    }
    if parse(&new, path).ok() != Some(table) {
        return Err(by_hand("lists our server in a form of its own", path));
    }
    let is_ours_alone = before.is_none() && new.trim().is_empty();
    Ok((!is_ours_alone).then(|| new.into_bytes()))
}

fn text<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        Error::refused("is not UTF-8 text here").at(path, line)
    })
}

fn parse(text: &str, path: &Path) -> Result<Table> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.parse::<Table>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text[..start.min(text.len())].split('\n').count();
        Error::refused(format!("is not TOML here: {}", error.message()))
            .at(path, line)
            .hint("nothing was changed; put it right by hand and run it again")
    })
}

fn listed(table: &Table) -> Option<&Value> {
    table.get(SERVERS)?.get(server::NAME)
}

fn own() -> Value {
    let text = |text: &str| Value::String(text.to_owned());
    let command = ("command".to_owned(), text("annals"));
    let arguments = ("args".to_owned(), Value::Array(vec![text("mcp")]));
    Value::Table([command, arguments].into_iter().collect())
}

fn is_own(server: &Value) -> bool {
    let program = server.get("command").and_then(Value::as_str);
    let first = server.get("args").and_then(|arguments| arguments.get(0));
    program.is_some_and(entry::is_program) && first.and_then(Value::as_str) == Some("mcp")
}

fn extended(text: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new = text.to_owned();
    if !text.is_empty() {
        if !text.ends_with('\n') {
            new.push_str(newline);
        }
        new.push_str(newline);
    }
    for line in LINES {
        new.push_str(line);
        new.push_str(newline);
    }
    new
}

/// Takes out our table: its header, its keys and its own tables, and the blank line before it.
fn cut(text: &str) -> String {
    let mut new = String::with_capacity(text.len());
    let mut held = String::new();
    let mut is_ours = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed == HEADER {
            is_ours = true;
            for newline in ["\n", "\r\n"] {
                if new.ends_with(&format!("\n{newline}")) {
                    new.truncate(new.len() - newline.len());
                    break;
                }
            }
        } else if trimmed.starts_with('[') {
            is_ours = is_ours && trimmed.starts_with("[mcp_servers.annals.");
        }
        if !is_ours {
            new.push_str(&held);
            new.push_str(line);
            held.clear();
        } else if trimmed.is_empty() || trimmed.starts_with('#') {
            // What stands before the next table belongs to that.
            held.push_str(line);
        } else {
            held.clear();
        }
    }
    new + &held
}

fn by_hand(what: &str, path: &Path) -> Error {
    Error::refused(what)
        .at(path, None)
        .hint("nothing was changed; `codex mcp list`, `add` and `remove` see to it by hand")
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
        "[mcp_servers.other]\ncommand = \"o\"\n\n# last words\n",
        "[mcp_servers]\nother = { command = \"o\" }\n",
        "[[list]]\na = [\n  1,\n]\n",
    ];

    fn path() -> &'static Path {
        Path::new("config.toml")
    }

    #[test]
    fn the_table_goes_in_and_out_without_a_trace() {
        for old in FILES {
            let new = with(old.as_bytes(), path()).unwrap();
            assert!(new.starts_with(old.as_bytes()), "{old:?}");
            assert_eq!(with(&new, path()).unwrap(), new, "{old:?}");
            let restored = without(&new, path(), Some(old.as_bytes())).unwrap();
            assert_eq!(restored.as_deref(), Some(old.as_bytes()), "{old:?}");
        }
    }

    #[test]
    fn what_was_written_since_stays() {
        let old = "model = \"x\"\n";
        let new = String::from_utf8(with(old.as_bytes(), path()).unwrap()).unwrap();
        let more = "\n[mcp_servers.annals.env]\nA = \"b\"\n\n# of the next\n[next]\nc = 1\n";
        let edited = new.replace("\"x\"", "\"y\"") + more;
        let rest = without(edited.as_bytes(), path(), Some(old.as_bytes())).unwrap();
        let rest = String::from_utf8(rest.unwrap()).unwrap();
        assert_eq!(rest, "model = \"y\"\n\n# of the next\n[next]\nc = 1\n");
        assert_eq!(
            without(&new.as_bytes()[old.len() + 1..], path(), None).unwrap(),
            None
        );
    }

    #[test]
    fn what_cannot_be_extended_is_refused_with_its_line() {
        for (text, line, what) in [
            ("a = 1\nb = \n", Some(2), "is not TOML"),
            ("a = 1\na = 2\n", Some(2), "is not TOML"),
            (
                "mcp_servers = { x = { command = \"o\" } }\n",
                None,
                "in a form",
            ),
            (
                "[mcp_servers.annals]\ncommand = \"other\"\n",
                None,
                "another server",
            ),
        ] {
            let error = with(text.as_bytes(), path()).unwrap_err();
            assert!(error.message.contains(what), "{text}: {error}");
            assert_eq!(error.place.unwrap().line, line, "{text}");
        }
        assert_eq!(
            with(b"a = \"\xff\"", path())
                .unwrap_err()
                .place
                .unwrap()
                .line,
            Some(1)
        );
    }
}
