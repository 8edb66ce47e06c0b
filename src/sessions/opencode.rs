//! opencode: a database of all sessions, `opencode.db`; its rows hold JSON.
//!
//! ```text
//! session  id, parent_id, directory, version, time_updated
//! message  id, session_id, time_created, data  {"role":"user"}
//! part     id, message_id, session_id, data    {"type":"text","text":"…"}
//!                                              {"type":"tool","tool":"bash","callID":"…","state":{"status":"completed","input":{…},"output":"…"}}
//! ```
//!
//! The database is opened for reading alone: nothing is created beside it, and its side files are not changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::DateTime;
use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sessions::client::Client;
use crate::sessions::conversation::{Conversation, Session};
use crate::sessions::tools::text;

/// Maximum size of a row that is read, in bytes.
const MAX_ROW: i64 = 16 * 1024 * 1024;

/// A session as listed: its id and directory, the time of its last change in milliseconds, number and size of its parts.
type Listed = (String, String, [i64; 3]);

/// Returns the sessions of a database that the user began, those of its agents left out.
pub(crate) fn sessions(database: &Path) -> rusqlite::Result<Vec<Listed>> {
    let Some(db) = open(database)? else {
        return Ok(Vec::new());
    };
    let mut statement = db.prepare(
        "SELECT s.id, s.directory, s.time_updated, count(p.id), coalesce(sum(octet_length(p.data)), 0)
         FROM session s LEFT JOIN part p ON p.session_id = s.id
         WHERE s.parent_id IS NULL GROUP BY s.id",
    )?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, [row.get(2)?, row.get(3)?, row.get(4)?]))
    })?;
    rows.collect()
}

/// Opens a database for reading; `None` if it is not a regular file, or a special file is beside it.
fn open(path: &Path) -> rusqlite::Result<Option<Connection>> {
    let is_file = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        fs::symlink_metadata(PathBuf::from(name)).ok().map(|found| found.is_file())
    };
    let sides = ["-wal", "-shm", "-journal"].map(is_file);
    if is_file("") != Some(true) || sides.contains(&Some(false)) {
        return Ok(None);
    }
    // Without its side files, SQLite would create them to read the database.
    let how = if sides[..2] == [Some(true); 2] { "readonly_shm=1" } else { "immutable=1" };
    let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(format!("file:{name}?{how}"), flags)?;
    db.busy_timeout(Duration::from_secs(2))?;
    db.pragma_update(None, "trusted_schema", "OFF")?;
    Ok(Some(db))
}

/// Reads a session, whose path is that of its database followed by its id; `None` if it is gone.
pub(crate) fn read(path: &Path) -> Result<Option<Session>> {
    let (Some(database), Some(id)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    read_rows(database, &id.to_string_lossy()).map_err(|error| {
        Error::failed(format!("cannot read a session of opencode: {error}")).at(path, None)
    })
}

fn read_rows(database: &Path, id: &str) -> rusqlite::Result<Option<Session>> {
    let Some(db) = open(database)? else {
        return Ok(None);
    };
    let mut conversation = Conversation::new(Client::Opencode);
    let sql = "SELECT directory, version FROM session WHERE id = ?1";
    let about = |row: &rusqlite::Row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let (directory, version) = db.query_row(sql, [id], about)?;
    conversation.about(Some(id), Some(&directory), Some(&version));
    let mut statement = db.prepare(
        "SELECT m.data, CASE WHEN octet_length(p.data) <= ?2 THEN p.data END, m.time_created
         FROM part p JOIN message m ON m.id = p.message_id
         WHERE p.session_id = ?1 ORDER BY m.time_created, m.id, p.id",
    )?;
    let mut rows = statement.query(params![id, MAX_ROW])?;
    while let Some(row) = rows.next()? {
        conversation.line += 1;
        let json = |at: usize| serde_json::from_slice(row.get_ref(at).ok()?.as_bytes().ok()?).ok();
        match (json(0), json(1)) {
            (Some(message), Some(part)) => {
                let time = row.get::<_, i64>(2)?;
                conversation.time(DateTime::from_timestamp_millis(time));
                add(&mut conversation, &message, &part);
            }
            _ => conversation.session.broken += 1,
        }
    }
    Ok(Some(conversation.finish()))
}

fn add(conversation: &mut Conversation, message: &Value, part: &Value) {
    let said = text(&part["text"]);
    let is = |value: &Value| *value == Value::Bool(true);
    match (part["type"].as_str(), message["role"].as_str()) {
        (Some("text"), Some("user")) if !is(&part["synthetic"]) => conversation.user(&said),
        (Some("text"), Some("assistant")) if is(&message["summary"]) => conversation.summary(&said),
        (Some("text"), Some("assistant")) => conversation.agent(&said),
        (Some("tool"), _) => {
            let state = &part["state"];
            let id = part["callID"].as_str().unwrap_or_default();
            conversation.called(id, part["tool"].as_str().unwrap_or_default(), &state["input"]);
            let exit = state["metadata"]["exit"].as_i64().unwrap_or_default();
            let output = text(state);
            let has_failed = state["status"] == "error" || exit != 0;
            conversation.returned(id, has_failed.then_some(output.as_str()));
        }
        _ => {}
    }
}
