//! Reads the repository's objects one by one, through one process.

use std::io;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout};

use crate::error::{At, Result};
use crate::git::hash::is_full_hash;
use crate::git::program::Program;
use crate::git::running::{MAX_WAIT, Running};
use crate::text::hexadecimal;

/// A running git process that serves objects; starting it takes as long as a hundred queries.
#[derive(Debug)]
pub struct Objects {
    checks: CatFile,
    contents: CatFile,
}

/// An object, by git's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// The entries of a folder.
    Tree(Vec<TreeEntry>),
    /// A file's content.
    Blob(Vec<u8>),
    /// A commit, a tag, or a file that is too large to be read.
    Other,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The name, without the folder.
    pub name: String,
    /// The full hash of the object.
    pub id: String,
    /// Whether it is a folder.
    pub is_tree: bool,
}

/// Maximum size of a file; manifests are smaller.
const MAX_OBJECT_BYTES: u64 = 1 << 20;
/// Maximum size of a folder.
const MAX_TREE_BYTES: u64 = 64 << 20;
/// Maximum size of the queries written at once, in bytes: they fit into a pipe while the answers are unread.
const MAX_BATCH_BYTES: usize = 4096;

impl Objects {
    pub(crate) fn open(program: &Program<'_>) -> Result<Option<Self>> {
        let checks = CatFile::start(program, "--batch-check")?;
        let contents = CatFile::start(program, "--batch")?;
        Ok(checks.zip(contents).map(|(checks, contents)| Self { checks, contents }))
    }

    /// Returns for each name, a hash or `<commit>:<path>`, whether the object exists.
    pub fn exist(&mut self, names: &[String]) -> Result<Vec<bool>> {
        let mut found = Vec::with_capacity(names.len());
        self.checks.query(names, |header, _| {
            found.push(header.is_some());
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the object of each name, a hash or `<commit>:<path>`.
    pub fn read(&mut self, names: &[String]) -> Result<Vec<Option<Object>>> {
        let mut found = Vec::with_capacity(names.len());
        self.contents.query(names, |header, stdout| {
            found.push(match header {
                Some(header) => Some(read_object(&header, stdout)?),
                None => None,
            });
            Ok(())
        })?;
        Ok(found)
    }
}

/// A `git cat-file` process, which reads one query per line and prints a header line and the content for
/// each.
#[derive(Debug)]
struct CatFile {
    child: Child,
    running: Running,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    root: PathBuf,
}

/// The header line of an object: `<hash> <type> <size>`.
struct Header {
    hash_bytes: usize,
    kind: String,
    size: u64,
}

impl CatFile {
    fn start(program: &Program<'_>, mode: &str) -> Result<Option<Self>> {
        let Some((mut child, running)) = program.spawn(&["cat-file", mode])? else {
            return Ok(None);
        };
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        Ok(stdout.map(|stdout| Self {
            child,
            running,
            stdin,
            stdout: BufReader::new(stdout),
            root: program.top().to_owned(),
        }))
    }

    /// Queries the names in order, and passes each answer to `on_answer`: `None` for a missing object.
    fn query(
        &mut self,
        names: &[String],
        mut on_answer: impl FnMut(Option<Header>, &mut BufReader<ChildStdout>) -> io::Result<()>,
    ) -> Result<()> {
        let mut rest = names;
        while !rest.is_empty() {
            let mut batch = String::new();
            let mut count = 0;
            for name in rest {
                if count > 0 && batch.len() + name.len() > MAX_BATCH_BYTES {
                    break;
                }
                batch.push_str(&query_line(name));
                count += 1;
            }
            let deadline = self.running.deadline(MAX_WAIT);
            let answered = deadline.and_then(|deadline| {
                let answered = self.query_batch(&batch, count, &mut on_answer);
                deadline.close().and(answered)
            });
            answered.at("query git cat-file in", &self.root)?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn query_batch(
        &mut self,
        batch: &str,
        count: usize,
        on_answer: &mut impl FnMut(Option<Header>, &mut BufReader<ChildStdout>) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(stdin) = &mut self.stdin {
            stdin.write_all(batch.as_bytes())?;
            stdin.flush()?;
        }
        for _ in 0..count {
            let mut line = Vec::new();
            if self.stdout.read_until(b'\n', &mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let header = parse_header(&String::from_utf8_lossy(&line));
            on_answer(header, &mut self.stdout)?;
        }
        Ok(())
    }
}

impl Drop for CatFile {
    fn drop(&mut self) {
        // When its input is closed, git ends by itself, and only has to be waited for.
        self.stdin = None;
        drop(self.child.wait());
    }
}

/// Returns the query for a name; a name with a line break is replaced by one that does not exist.
fn query_line(name: &str) -> String {
    if name.contains(['\n', '\0']) || name.is_empty() {
        return "-\n".to_owned();
    }
    format!("{name}\n")
}

fn parse_header(line: &str) -> Option<Header> {
    // A name that is not found is printed before `missing`, including any spaces.
    let mut words = line.trim_end_matches('\n').split(' ');
    let (hash, kind, size) = (words.next()?, words.next()?, words.next()?);
    let is_hash = is_full_hash(hash);
    let is_end = words.next().is_none();
    (is_hash && is_end).then_some(())?;
    Some(Header { hash_bytes: hash.len() / 2, kind: kind.to_owned(), size: size.parse().ok()? })
}

fn read_object(header: &Header, stdout: &mut BufReader<ChildStdout>) -> io::Result<Object> {
    let is_tree = header.kind == "tree";
    let max_bytes = if is_tree { MAX_TREE_BYTES } else { MAX_OBJECT_BYTES };
    let is_read = header.size <= max_bytes && (is_tree || header.kind == "blob");
    let mut content = Vec::new();
    let mut body = stdout.by_ref().take(header.size);
    if is_read {
        body.read_to_end(&mut content)?;
    }
    io::copy(&mut body, &mut io::sink())?;
    let mut line_end = [0];
    stdout.read_exact(&mut line_end)?;
    Ok(match (is_read, is_tree) {
        (false, _) => Object::Other,
        (true, true) => Object::Tree(tree_entries(&content, header.hash_bytes)),
        (true, false) => Object::Blob(content),
    })
}

/// Parses `<mode> <name>\0<hash>` for each entry of a folder.
fn tree_entries(content: &[u8], hash_bytes: usize) -> Vec<TreeEntry> {
    let mut entries = Vec::new();
    let mut rest = content;
    while let Some(end) = rest.iter().position(|b| *b == 0) {
        let (head, after) = rest.split_at(end);
        let (Some(space), Some(id)) =
            (head.iter().position(|b| *b == b' '), after.get(1..=hash_bytes))
        else {
            break;
        };
        entries.push(TreeEntry {
            name: String::from_utf8_lossy(&head[space + 1..]).into_owned(),
            id: hexadecimal(id),
            is_tree: &head[..space] == b"40000",
        });
        rest = &after[1 + hash_bytes..];
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_missing_objects_are_not_headers() {
        for line in ["", "\n", "HEAD:a b c missing\n", "deadbeef missing\n", "- missing\n"] {
            assert!(parse_header(line).is_none(), "{line:?}");
        }
        let line = format!("{} blob 12\n", "a".repeat(40));
        assert_eq!(parse_header(&line).unwrap().size, 12);
        assert_eq!(query_line("a\nb"), "-\n");
    }

    #[test]
    fn a_truncated_tree_yields_its_complete_entries() {
        let mut content = b"40000 src\0".to_vec();
        content.extend([7; 20]);
        content.extend(b"100644 a b.rs\0");
        content.extend([255; 20]);
        let whole = tree_entries(&content, 20);
        assert_eq!(whole.len(), 2);
        assert!(whole[0].is_tree && whole[0].name == "src");
        assert_eq!(whole[1].name, "a b.rs");
        assert_eq!(whole[1].id, "ff".repeat(20));
        assert_eq!(tree_entries(&content[..50], 20).len(), 1);
        assert_eq!(tree_entries(b"garbage", 20), []);
    }
}
