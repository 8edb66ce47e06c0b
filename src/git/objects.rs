//! Reads the repository's objects by name.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::error::Result;
use crate::git::hash::{is_full_hash, is_hash_prefix};
use crate::git::program::Program;

/// The objects of a repository.
#[derive(Clone, Copy, Debug)]
pub struct Objects<'a> {
    program: Program<'a>,
}

/// An object, by git's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// A file's content.
    Blob(Vec<u8>),
    /// A commit, a tag, a folder, or a file that is too large to be read.
    Other,
}

/// What git states of an object.
struct Header {
    hash: String,
    is_blob: bool,
    size: usize,
}

/// Maximum size of a file; manifests are smaller.
const MAX_OBJECT_BYTES: usize = 1 << 20;

/// Maximum size of the files that one process is asked for.
const MAX_BATCH_BYTES: usize = 32 << 20;

impl<'a> Objects<'a> {
    pub(crate) fn new(program: Program<'a>) -> Self {
        Self { program }
    }

    /// Returns for each name, a hash or `<commit>:<path>`, whether the object exists.
    pub fn exist(&self, names: &[String]) -> Result<Vec<bool>> {
        Ok(self.headers(names)?.iter().map(Option::is_some).collect())
    }

    /// Returns the object of each name, a hash or `<commit>:<path>`.
    pub fn read(&self, names: &[String]) -> Result<Vec<Option<Object>>> {
        let headers = self.headers(names)?;
        let mut found: Vec<Option<Object>> =
            headers.iter().map(|header| header.as_ref().map(|_| Object::Other)).collect();
        let is_read = |header: &&Header| header.is_blob && header.size <= MAX_OBJECT_BYTES;
        let wanted = headers.iter().enumerate();
        let wanted =
            wanted.filter_map(|(index, header)| Some((index, header.as_ref().filter(is_read)?)));
        let mut wanted = wanted.peekable();
        loop {
            let mut size = 0;
            let mut fits = |(_, header): &(usize, &Header)| {
                size += header.size;
                size <= MAX_BATCH_BYTES
            };
            let batch: Vec<(usize, &Header)> =
                std::iter::from_fn(|| wanted.next_if(&mut fits)).collect();
            if batch.is_empty() {
                return Ok(found);
            }
            let hashes: Vec<&str> = batch.iter().map(|(_, header)| header.hash.as_str()).collect();
            let output = self.program.run_with_input(&["cat-file", "--batch"], &lines(&hashes))?;
            let mut rest = output.as_deref().unwrap_or_default();
            for (index, header) in batch {
                let Some(start) = rest.iter().position(|byte| *byte == b'\n') else { break };
                let Some((content, after)) = rest[start + 1..].split_at_checked(header.size) else {
                    break;
                };
                found[index] = Some(Object::Blob(content.to_vec()));
                rest = after.get(1..).unwrap_or_default();
            }
        }
    }

    /// Returns the author time of each commit; `None` for each unknown hash.
    pub(crate) fn author_times(&self, hashes: &[&str]) -> Result<Vec<Option<DateTime<Utc>>>> {
        let name = |hash: &&str| {
            if is_hash_prefix(hash) { format!("{hash}^{{commit}}") } else { String::new() }
        };
        let commits = self.headers(&hashes.iter().map(name).collect::<Vec<_>>())?;
        let known: Vec<&str> = commits.iter().flatten().map(|one| one.hash.as_str()).collect();
        if known.is_empty() {
            return Ok(vec![None; hashes.len()]);
        }
        let arguments = ["log", "--no-walk=unsorted", "--stdin", "--format=%H %at"];
        let output = self.program.run_with_input(&arguments, &lines(&known))?.unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let times: HashMap<&str, DateTime<Utc>> = output
            .lines()
            .filter_map(|line| {
                let (hash, seconds) = line.split_once(' ')?;
                Some((hash, DateTime::from_timestamp(seconds.parse().ok()?, 0)?))
            })
            .collect();
        let time = |commit: &Option<Header>| times.get(commit.as_ref()?.hash.as_str()).copied();
        Ok(commits.iter().map(time).collect())
    }

    /// Returns what git states of each object, `None` for a missing one.
    fn headers(&self, names: &[String]) -> Result<Vec<Option<Header>>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        // A name with a line break is replaced by one that does not exist.
        let is_line = |name: &str| !name.is_empty() && !name.contains(['\n', '\0']);
        let names: Vec<&str> =
            names.iter().map(|name| if is_line(name) { name.as_str() } else { "-" }).collect();
        let output = self.program.run_with_input(&["cat-file", "--batch-check"], &lines(&names))?;
        let output = output.unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let mut headers: Vec<Option<Header>> = output.lines().map(header).collect();
        headers.resize_with(names.len(), || None);
        Ok(headers)
    }
}

fn lines(words: &[&str]) -> Vec<u8> {
    (words.join("\n") + "\n").into_bytes()
}

/// Parses `<hash> <type> <size>`; a name that is not found is printed before `missing`, including any spaces.
fn header(line: &str) -> Option<Header> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        [hash, kind, size] if is_full_hash(hash) => Some(Header {
            hash: hash.to_owned(),
            is_blob: kind == "blob",
            size: size.parse().ok()?,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_missing_objects_are_not_headers() {
        for line in ["", "HEAD:a b c missing", "deadbeef missing", "- missing", "a b"] {
            assert!(header(line).is_none(), "{line:?}");
        }
        let line = format!("{} blob 12", "a".repeat(40));
        assert_eq!(header(&line).unwrap().size, 12);
    }
}
