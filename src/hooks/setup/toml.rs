//! Adds our server to Codex's `config.toml` as one table, and removes it.

use std::path::Path;

use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::error::{Error, Result};
use crate::hooks::setup::settings::is_program;
use crate::text::{line_end, line_number};

const SERVERS: &str = "mcp_servers";
const NAME: &str = "annals";
const BOM: &str = "\u{feff}";

/// Returns the file with our server, or without it; `None` if it contained nothing else.
pub(crate) fn edited(old: Option<&[u8]>, is_wanted: bool, path: &Path) -> Result<Option<Vec<u8>>> {
    let bytes = old.unwrap_or_default();
    let mut file = File::parse(bytes, path)?;
    match (file.server(), is_wanted) {
        (Some(found), _) if is_ours(found) == is_wanted => {
            if !is_wanted {
                return Ok(old.map(<[u8]>::to_vec));
            }
            return Ok(Some(bytes.to_vec()));
        }
        (Some(_), true) => return Err(by_hand("lists another server as `annals`", path)),
        (None, false) => return Ok(old.map(<[u8]>::to_vec)),
        (None, true) => file.add(bytes.is_empty(), path)?,
        (Some(_), false) => file.remove(),
    }
    let text = file.text();
    Ok((!text.trim().is_empty()).then(|| text.into_bytes()))
}

/// Returns whether the file lists our server.
pub(crate) fn lists_us(bytes: &[u8], path: &Path) -> Result<bool> {
    Ok(File::parse(bytes, path)?.server().is_some_and(is_ours))
}

/// A parsed file, with its byte order mark and line endings.
struct File {
    document: DocumentMut,
    has_bom: bool,
    is_crlf: bool,
}

impl File {
    fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let whole = std::str::from_utf8(bytes).map_err(|error| {
            let line = line_number(bytes, error.valid_up_to());
            Error::refused("is not valid UTF-8").at(path, line)
        })?;
        let text = whole.strip_prefix(BOM).unwrap_or(whole);
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let start = error.span().map_or(0, |span| span.start);
            Error::refused(format!("is not valid TOML: {}", error.message()))
                .at(path, line_number(text, start))
                .hint("nothing was changed; correct it by hand and run this again")
        })?;
        let file =
            Self { document, has_bom: text.len() < whole.len(), is_crlf: line_end(text) == "\r\n" };
        // The parser normalizes mixed line endings, but lines that are not ours must keep their own.
        let text = file.text();
        let is_kept = text.strip_prefix(whole).is_some_and(|rest| rest.trim().is_empty());
        if is_kept { Ok(file) } else { Err(by_hand("has mixed line endings", path)) }
    }

    fn server(&self) -> Option<&Item> {
        self.document.get(SERVERS)?.as_table_like()?.get(NAME)
    }

    fn add(&mut self, is_empty: bool, path: &Path) -> Result<()> {
        let mut own = Table::new();
        own.insert("command", value("annals"));
        own.insert("args", value(Array::from_iter(["mcp"])));
        if !is_empty {
            own.decor_mut().set_prefix("\n");
        }
        let servers = self.document.entry(SERVERS).or_insert_with(|| {
            let mut servers = Table::new();
            servers.set_implicit(true);
            Item::Table(servers)
        });
        let Some(servers) = servers.as_table_like_mut() else {
            return Err(by_hand("has no table of MCP servers at `mcp_servers`", path));
        };
        servers.insert(NAME, Item::Table(own));
        Ok(())
    }

    fn remove(&mut self) {
        let Some(servers) = self.document.get_mut(SERVERS) else { return };
        // A heading of its own is the user's.
        let is_implicit = servers.as_table().is_some_and(Table::is_implicit);
        if let Some(servers) = servers.as_table_like_mut() {
            servers.remove(NAME);
            if servers.is_empty() && is_implicit {
                self.document.remove(SERVERS);
            }
        }
    }

    fn text(&self) -> String {
        let bom = if self.has_bom { BOM } else { "" };
        let text = self.document.to_string();
        if self.is_crlf {
            let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
            return format!("{bom}{text}");
        }
        format!("{bom}{text}")
    }
}

fn is_ours(server: &Item) -> bool {
    let Some(server) = server.as_table_like() else {
        return false;
    };
    let program = server.get("command").and_then(Item::as_str);
    let arguments = server.get("args").and_then(Item::as_array);
    let first = arguments.and_then(|arguments| arguments.get(0)?.as_str());
    program.is_some_and(is_program) && first == Some("mcp")
}

fn by_hand(what: &str, path: &Path) -> Error {
    Error::refused(what)
        .at(path, None)
        .hint("nothing was changed; `codex mcp list`, `add` and `remove` do it by hand")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 10] = [
        "",
        "model = \"x\"",
        "model = \"x\"\n",
        "# mine\r\nmodel = \"x\"\r\n",
        "\u{feff}[a]\nb = 1\n\n\n",
        "[mcp_servers]\n",
        "[mcp_servers.other]\ncommand = \"o\" # mine\n\n# last words\n",
        "[mcp_servers]\nother = { command = \"o\" }\n",
        "mcp_servers = { x = { command = \"o\" } }\n",
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
            for line in old.lines().filter(|line| !line.starts_with("mcp_servers =")) {
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
        let more = "\n[mcp_servers.annals.env]\nA = \"b\"\n\n# of the next\n[next]\nc = 1\n";
        let rest = without(&(new.replace("\"x\"", "\"y\"") + more)).unwrap();
        assert_eq!(rest, "model = \"y\"\n\n# of the next\n[next]\nc = 1\n");
    }

    #[test]
    fn what_cannot_be_extended_is_refused_with_its_line() {
        for (text, line, what) in [
            ("a = 1\nb = \n", Some(2), "is not valid TOML"),
            ("a = 1\na = 2\n", Some(2), "is not valid TOML"),
            ("mcp_servers = 1\n", None, "no table"),
            ("a = 1\r\nb = 1\n", None, "mixed line endings"),
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
