//! The clients whose transcripts are read: where they keep them, what stands in them, how a session is resumed.

use std::collections::HashSet;
use std::io;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::DateTime;
use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value;

use crate::clock::parse_timestamp;
use crate::error::{At, Error, Result};
pub use crate::project::SessionClient as Client;
use crate::project::{CLAUDE_FOLDER, CLAUDE_FOLDER_VARIABLE, Environment};
use crate::search::index::IndexFile;
use crate::sessions::conversation::{Conversation, Session, says_failed, text};
use crate::storage::{companions, database_uri, is_plain_database, read};

impl Client {
    /// Returns its title, the command that resumes a session, the variable that moves its folder, that folder in the
    /// user's home, and the folder of the transcripts in it.
    fn row(self) -> [&'static str; 5] {
        match self {
            Self::Claude => {
                let (variable, folder) = (CLAUDE_FOLDER_VARIABLE, CLAUDE_FOLDER);
                ["Claude Code", "claude --resume", variable, folder, "projects"]
            }
            Self::Codex => ["Codex", "codex resume", "CODEX_HOME", ".codex", "sessions"],
            Self::Gemini => ["Gemini CLI", "gemini --resume", "GEMINI_CLI_HOME", "", ".gemini/tmp"],
            Self::Opencode => {
                ["opencode", "opencode --session", "XDG_DATA_HOME", ".local/share", "opencode"]
            }
        }
    }

    /// Returns the client's name as its users write it.
    pub(crate) fn title(self) -> &'static str {
        self.row()[0]
    }

    /// Returns the command that resumes a session, from its own working directory.
    pub(crate) fn resume(self, session: &str) -> String {
        format!("{} {session}", self.row()[1])
    }

    /// Returns the folder of the transcripts, which the client's own variables may move.
    pub(crate) fn folder(self, environment: &Environment) -> Option<PathBuf> {
        let [_, _, variable, in_home, below] = self.row();
        Some(
            environment
                .absolute(variable)
                .or_else(|| Some(environment.home()?.join(in_home)))?
                .join(below),
        )
    }
}

/// Returns the command that resumes the session of a citation, `claude:7f3c…`.
pub fn resume(citation: &str) -> Option<String> {
    let (client, session) = citation.split_once(':')?;
    Some(Client::from_word(client)?.resume(safe_id(session)?))
}

/// Returns a session's id if it can stand in a command: transcripts are not trusted.
pub(crate) fn safe_id(id: &str) -> Option<&str> {
    let starts_plain = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    (starts_plain
        && id.len() <= 80
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)))
    .then_some(id)
}

/// Reads a transcript; `None` if it is gone.
pub fn read(file: &IndexFile) -> Result<Option<Session>> {
    let path = &file.path;
    match Client::ALL[file.source] {
        Client::Claude => read_claude(path),
        Client::Codex => read_records(path, Client::Codex, add_codex),
        Client::Gemini => read_gemini(path),
        Client::Opencode => read_opencode(path),
    }
}

/// Reads a transcript; `None` if it is gone.
///
/// Claude Code: one file of JSON lines for each session, in a folder named after the working directory.
///
/// ```text
/// {"type":"user","message":{"role":"user","content":"…"},"timestamp":"…","cwd":"…","sessionId":"…","version":"…"}
/// {"type":"assistant","message":{"content":[{"type":"text","text":"…"},{"type":"tool_use","id":"…","name":"Bash","input":{…}}]},…}
/// {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"…","is_error":true,"content":"…"}]},…}
/// {"type":"summary","summary":"…"}
/// ```
fn read_claude(path: &Path) -> Result<Option<Session>> {
    // A session that continues another one has that one's records, too; its file is named after its own id.
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    read_records(path, Client::Claude, |conversation, record| {
        conversation.about(id.as_deref(), record["cwd"].as_str(), record["version"].as_str());
        add_claude(conversation, record);
    })
}

fn add_claude(conversation: &mut Conversation, record: &Value) {
    let is = |name: &str| record[name] == true;
    let content = &record["message"]["content"];
    let is_user = record["type"] == "user";
    let say = |conversation: &mut Conversation, said: &str| match () {
        () if is("isMeta") => {}
        () if is("isCompactSummary") => conversation.summary(said),
        () if is_user => conversation.user(said),
        () => conversation.agent(said),
    };
    match &record["type"] {
        kind if kind == "summary" => conversation.summary(&text(&record["summary"])),
        kind if (kind == "user" || kind == "assistant") && !is("isSidechain") => {
            if let Some(said) = content.as_str() {
                say(conversation, said);
            }
            for block in content.as_array().into_iter().flatten() {
                let of = |name: &str| block[name].as_str().unwrap_or_default();
                match of("type") {
                    "text" => say(conversation, of("text")),
                    "tool_use" => {
                        conversation.summary(&text(&block["input"]["plan"]));
                        conversation.called(of("id"), of("name"), &block["input"]);
                    }
                    "tool_result" => {
                        let has_failed = block["is_error"] == true;
                        let output = has_failed.then(|| text(&block["content"]));
                        conversation.returned(of("tool_use_id"), output.as_deref());
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Returns the name of the folder of a working directory's sessions.
pub(crate) fn folder_name(directory: &Path) -> String {
    directory
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// Codex: one "rollout" of JSON lines for each session, in folders by date.
///
/// ```text
/// {"timestamp":"…","type":"session_meta","payload":{"id":"…","cwd":"…","cli_version":"…"}}
/// {"timestamp":"…","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"…"}]}}}
/// {"timestamp":"…","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"…"}]}}
/// {"timestamp":"…","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"…","call_id":"…"}}
/// {"timestamp":"…","type":"response_item","payload":{"type":"function_call_output","call_id":"…","output":"…"}}
/// {"timestamp":"…","type":"compacted","payload":{"message":"…"}}
/// ```
///
/// Earlier versions record `{"type":"user_message","message":"…"}` as an event.
fn add_codex(conversation: &mut Conversation, record: &Value) {
    let payload = &record["payload"];
    let of = |name: &str| payload[name].as_str();
    let id = of("call_id").unwrap_or_default();
    let item = &payload["item"];
    match (record["type"].as_str().unwrap_or_default(), of("type").unwrap_or_default()) {
        ("session_meta", _) => conversation.about(of("id"), of("cwd"), of("cli_version")),
        ("compacted", _) => conversation.summary(&text(&payload["message"])),
        // The response item with the same message also holds what the client added to it.
        ("event_msg", "user_message") => conversation.user(&text(&payload["message"])),
        ("event_msg", "item_completed") if item["type"] == "UserMessage" => {
            conversation.user(&text(&item["content"]));
        }
        ("event_msg", "item_completed") if item["type"] == "Plan" => {
            conversation.summary(&text(&item["text"]));
        }
        ("response_item", "message") if payload["role"] == "assistant" => {
            conversation.agent(&text(&payload["content"]));
        }
        ("response_item", "function_call" | "local_shell_call") => {
            let arguments = of("arguments").and_then(|json| serde_json::from_str(json).ok());
            let arguments = arguments.as_ref().unwrap_or(&payload["action"]);
            conversation.called(id, of("name").unwrap_or("shell"), arguments);
        }
        ("response_item", "custom_tool_call") => {
            conversation.called(id, of("name").unwrap_or_default(), payload);
        }
        ("response_item", "function_call_output" | "custom_tool_call_output") => {
            let output = text(&payload["output"]);
            conversation.returned(id, says_failed(&output).then_some(output.as_str()));
        }
        _ => {}
    }
}

/// Reads a transcript; `None` if it is gone.
///
/// Gemini CLI: one file for each session in `chats/`, below a folder for each project that names its root.
///
/// ```text
/// {"sessionId":"…","projectHash":"…","startTime":"…","lastUpdated":"…"}
/// {"id":"…","timestamp":"…","type":"user","content":[{"text":"…"}]}
/// {"id":"…","timestamp":"…","type":"gemini","content":"…","toolCalls":[{"id":"…","name":"…","args":{…},"status":"success","result":[…]}]}
/// {"$set":{"summary":"…"}}
/// ```
///
/// A message is written again when it changes, so the last of those in a row counts. Earlier versions wrote one JSON
/// document with all `messages`.
fn read_gemini(path: &Path) -> Result<Option<Session>> {
    let root = path.ancestors().nth(2).and_then(root_of);
    let mut last = Value::Null;
    let mut seen = HashSet::new();
    let mut put = |conversation: &mut Conversation, next: Value| {
        let earlier = std::mem::replace(&mut last, next);
        let id = earlier["id"].as_str().unwrap_or_default();
        if earlier["id"] != last["id"] && seen.insert(id.to_owned()) {
            add_gemini(conversation, &earlier);
        }
    };
    let mut add = |conversation: &mut Conversation, record: &Value| {
        let set = &record["$set"];
        conversation.about(record["sessionId"].as_str(), root.as_deref(), None);
        for about in [record, set] {
            for message in about["messages"].as_array().into_iter().flatten() {
                put(conversation, message.clone());
            }
            conversation.summary(&text(&about["summary"]));
        }
        if record["id"].is_string() || record.is_null() {
            put(conversation, record.clone());
        }
    };
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        return read_records(path, Client::Gemini, add);
    }
    let mut conversation = Conversation::new(Client::Gemini);
    let bytes = read::uncounted_bytes(path)?.unwrap_or_default();
    match serde_json::from_slice(&bytes) {
        Ok(document) => {
            for part in &[document, Value::Null] {
                add(&mut conversation, part);
            }
        }
        Err(_) => conversation.session.broken += 1,
    }
    Ok(Some(conversation.finish()))
}

fn add_gemini(conversation: &mut Conversation, message: &Value) {
    conversation.time(message["timestamp"].as_str().and_then(parse_timestamp));
    let said = text(&message["content"]);
    match message["type"].as_str() {
        // What tools answered is recorded as a message of the user, too.
        Some("user") if message["content"][0]["functionResponse"].is_null() => {
            conversation.user(&said);
        }
        Some("gemini") => conversation.agent(&said),
        _ => {}
    }
    for call in message["toolCalls"].as_array().into_iter().flatten() {
        let of = |name: &str| call[name].as_str().unwrap_or_default();
        conversation.called(of("id"), of("name"), &call["args"]);
        let output = text(&call["result"]);
        let has_failed = of("status") == "error" || says_failed(&output);
        conversation.returned(of("id"), has_failed.then_some(output.as_str()));
    }
}

/// Returns the root of the project that a folder belongs to.
pub(crate) fn root_of(folder: &Path) -> Option<String> {
    let bytes = read::uncounted_bytes(&folder.join(".project_root")).ok()??;
    Some(String::from_utf8(bytes).ok()?.trim().to_owned())
}

/// Maximum size of a row that is read, in bytes.
const MAX_ROW: i64 = 16 * 1024 * 1024;

/// A session as listed: its id and directory, the time of its last change in milliseconds, number and size of its parts.
type Listed = (String, String, [i64; 3]);

/// Returns the sessions of a database that the user began, those of its agents left out.
pub(crate) fn opencode_sessions(database: &Path) -> rusqlite::Result<Vec<Listed>> {
    let Some(db) = open_database(database)? else {
        return Ok(Vec::new());
    };
    let mut statement = db.prepare(
        "SELECT s.id, s.directory, s.time_updated, count(p.id), coalesce(sum(octet_length(p.data)), 0)
         FROM session s LEFT JOIN part p ON p.session_id = s.id
         WHERE s.parent_id IS NULL GROUP BY s.id",
    )?;
    statement
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, [row.get(2)?, row.get(3)?, row.get(4)?]))
        })?
        .collect()
}

/// Opens a database for reading; `None` if it is not a regular file, or a special file is beside it.
fn open_database(path: &Path) -> rusqlite::Result<Option<Connection>> {
    if !is_plain_database(path) {
        return Ok(None);
    }
    // Without its side files, SQLite would create them to read the database.
    let has_sides = companions(path)[1..].iter().all(|side| side.exists());
    let how = if has_sides { "readonly_shm=1" } else { "immutable=1" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(database_uri(path, how), flags)?;
    db.busy_timeout(Duration::from_secs(2))?;
    db.pragma_update(None, "trusted_schema", "OFF")?;
    Ok(Some(db))
}

/// Reads a session, whose path is that of its database followed by its id; `None` if it is gone.
///
/// opencode: a database of all sessions, `opencode.db`; its rows hold JSON.
///
/// ```text
/// session  id, parent_id, directory, version, time_updated
/// message  id, session_id, time_created, data  {"role":"user"}
/// part     id, message_id, session_id, data    {"type":"text","text":"…"}
///                                              {"type":"tool","tool":"bash","callID":"…","state":{"status":"completed","input":{…},"output":"…"}}
/// ```
///
/// The database is opened for reading alone: nothing is created beside it, and its side files are not changed.
fn read_opencode(path: &Path) -> Result<Option<Session>> {
    let (Some(database), Some(id)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    read_rows(database, &id.to_string_lossy()).map_err(|error| {
        Error::failed(format!("cannot read a session of opencode: {error}")).about(path)
    })
}

fn read_rows(database: &Path, id: &str) -> rusqlite::Result<Option<Session>> {
    let Some(db) = open_database(database)? else {
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
                add_opencode(&mut conversation, &message, &part);
            }
            _ => conversation.session.broken += 1,
        }
    }
    Ok(Some(conversation.finish()))
}

fn add_opencode(conversation: &mut Conversation, message: &Value, part: &Value) {
    let said = text(&part["text"]);
    match (part["type"].as_str(), message["role"].as_str()) {
        (Some("text"), Some("user")) if part["synthetic"] != true => conversation.user(&said),
        (Some("text"), Some("assistant")) if message["summary"] == true => {
            conversation.summary(&said);
        }
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

/// Maximum length of a record that is read, in bytes: a message with a pasted picture is shorter.
const MAX_RECORD: usize = 16 * 1024 * 1024;

/// Number of records among which one names the working directory.
const HEAD_RECORDS: usize = 40;

/// Reads a transcript, each record with `add`, and at its end a null; `None` if it is gone.
fn read_records(
    path: &Path,
    client: Client,
    mut add: impl FnMut(&mut Conversation, &Value),
) -> Result<Option<Session>> {
    let mut conversation = Conversation::new(client);
    let is_there = each(path, |line, record| {
        match record {
            Some(record) => {
                conversation.line = line;
                conversation.time(record["timestamp"].as_str().and_then(parse_timestamp));
                add(&mut conversation, &record);
            }
            None => conversation.session.broken += 1,
        }
        true
    })?;
    add(&mut conversation, &Value::Null);
    Ok(is_there.then(|| conversation.finish()))
}

/// The working directory of a session, and the version of its client.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) directory: Option<String>,
    pub(crate) version: Option<String>,
    /// Whether the session belongs to an agent of another one.
    pub(crate) is_of_subagent: bool,
}

/// Reads what the first records say of a session.
pub(crate) fn head(path: &Path) -> Head {
    let mut head = Head::default();
    // A file that cannot be read is no transcript.
    let _is_read = each(path, |line, record| {
        for about in record.iter().flat_map(|record| [record, &record["payload"]]) {
            let text = |name: &str| about[name].as_str().map(str::to_owned);
            let version = head.version.take().or_else(|| text("version"));
            head.version = version.or_else(|| text("cli_version"));
            head.directory = head.directory.take().or_else(|| text("cwd"));
            head.is_of_subagent |= !about["source"]["subagent"].is_null();
        }
        line < HEAD_RECORDS && head.directory.is_none()
    });
    head
}

/// Passes each record with its line to `next` until that returns false; `None` stands for one that is broken or too
/// long. Returns whether the file is there.
fn each(path: &Path, mut next: impl FnMut(usize, Option<Value>) -> bool) -> Result<bool> {
    let Some(mut file) = read::unlinked_lines(path)? else {
        return Ok(false);
    };
    let mut line = Vec::new();
    let mut number = 0;
    while let Some(is_whole) = next_line(&mut file, &mut line).at("read", path)? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) && is_whole {
            continue;
        }
        let record = serde_json::from_slice(&line).ok().filter(|_| is_whole);
        if !next(number, record) {
            break;
        }
    }
    Ok(true)
}

/// Reads a line, and returns whether it is whole; `None` at the end of the file.
fn next_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let length = file.by_ref().take(MAX_RECORD as u64 + 1).read_until(b'\n', line)?;
    let is_whole = length <= MAX_RECORD || line.ends_with(b"\n");
    if !is_whole {
        file.skip_until(b'\n')?;
    }
    Ok((length > 0).then_some(is_whole))
}
