//! Reads a file of JSON records line by line, with bounded memory.

use std::io;
use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use crate::clock::parse_timestamp;
use crate::error::{At, Result};
use crate::sessions::client::Client;
use crate::sessions::conversation::{Conversation, Session};
use crate::storage::read;

/// Maximum length of a record that is read, in bytes: a message with a pasted picture is shorter.
const MAX_RECORD: usize = 16 * 1024 * 1024;

/// Number of records among which one names the working directory.
const HEAD_RECORDS: usize = 40;

/// Reads a transcript, each record with `add`, and at its end a null; `None` if it is gone.
pub(crate) fn read(
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
    let mut length = 0;
    loop {
        let found = file.fill_buf()?;
        let end = memchr::memchr(b'\n', found);
        let part = &found[..end.unwrap_or(found.len())];
        length += part.len();
        if length <= MAX_RECORD {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        file.consume(used);
        if end.is_some() || used == 0 {
            let is_end = used == 0 && length == 0;
            return Ok((!is_end).then_some(length <= MAX_RECORD));
        }
    }
}
