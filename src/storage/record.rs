//! The record of one operation, written before its first change: what recovery and undo work from.
//!
//! A file `<id>.pending` in `.annals/history/` until the operation is done, `<id>.record` after:
//!
//! `format.rs` says what is in it. A pending file that is torn was never begun: no change is made before
//! its record is whole on disk.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::change::Change;
use crate::storage::disk;
use crate::storage::format;
use crate::storage::format::Header;
use crate::storage::format::Mark;

/// The longest header line that is read; thousands of changes fit.
const MAX_HEADER: u64 = 16 * 1024 * 1024;

/// A whole record, and where it came from.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) id: u64,
    pub(crate) header: Header,
    pub(crate) changes: Vec<Change<Vec<u8>>>,
    marks: Vec<Mark>,
    is_backward: bool,
    path: PathBuf,
    file: File,
    marks_at: u64,
}

impl Record {
    /// Writes the record of an operation that is about to begin, under the first free id from `id` on.
    pub(crate) fn create(
        folder: &Path,
        id: u64,
        mut header: Header,
        changes: Vec<Change<Vec<u8>>>,
    ) -> Result<Self> {
        let lengths = |bytes: Vec<u8>| Some(bytes.len() as u64);
        header.changes = changes
            .iter()
            .filter_map(|change| change.clone().with_bytes(lengths))
            .collect();
        let (text, marks_at) = format::encode(&header, &changes)?;
        let (id, path, file) = reserve(folder, id)?;
        let written = disk::write(&file, &text).and_then(|()| disk::sync(&file));
        if let Err(error) = written {
            disk::remove_file(&path).at("remove", &path)?;
            return Err(error).at("record the operation in", &path);
        }
        Ok(Self {
            id,
            marks: vec![Mark::Waiting; changes.len()],
            header,
            changes,
            is_backward: false,
            path,
            file,
            marks_at,
        })
    }

    /// Reads a record; nothing where it is gone, or not whole, so that its operation never began.
    pub(crate) fn open(folder: &Path, id: u64, extension: &str) -> Result<Option<Self>> {
        let path = file_name(folder, id, extension);
        let Some(file) = open_existing(&path, OpenOptions::new().read(true).write(true))? else {
            return Ok(None);
        };
        let mut text = Vec::new();
        (&file)
            .take(format::MAX_BYTES + MAX_HEADER)
            .read_to_end(&mut text)
            .at("read", &path)?;
        let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let header = Header::parse(&text[..end], &path)?;
        let Some((changes, marks_at)) = format::read_bytes(&header, &text, end + 1) else {
            return Ok(None);
        };
        let Some((is_backward, marks)) = format::read_marks(&text[marks_at..], changes.len())
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            id,
            header,
            changes,
            marks,
            is_backward,
            path,
            file,
            marks_at: marks_at as u64,
        }))
    }

    /// Returns how far each change has come.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Says whether the operation is being taken back.
    pub(crate) fn is_backward(&self) -> bool {
        self.is_backward
    }

    /// Returns where the record is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Notes how far a change has come.
    pub(crate) fn mark(&mut self, index: usize, mark: Mark) -> Result<()> {
        disk::write_at(&self.file, self.marks_at + 1 + index as u64, &[mark.byte()])
            .at("write", &self.path)?;
        self.marks[index] = mark;
        Ok(())
    }

    /// Notes that the operation is taken back from here on.
    pub(crate) fn turn_back(&mut self) -> Result<()> {
        disk::write_at(&self.file, self.marks_at, &[format::BACKWARD]).at("write", &self.path)?;
        self.is_backward = true;
        Ok(())
    }

    /// Ends the operation: the record goes into the history, or where it must not stay, away.
    pub(crate) fn close(self) -> Result<()> {
        if self.header.keep && !self.is_backward {
            disk::rename(&self.path, &self.path.with_extension("record")).at("close", &self.path)
        } else {
            disk::remove_file(&self.path).at("remove", &self.path)
        }
    }

    /// Returns the name of the temporary file of a change: it tells whose it was, should it be left over.
    pub(crate) fn temporary_name(&self, index: usize) -> String {
        format!(".annals-{}-{}-{index}.tmp", self.id, self.header.pid)
    }
}

/// Returns the path of a record.
pub(crate) fn file_name(folder: &Path, id: u64, extension: &str) -> PathBuf {
    folder.join(format!("{id}.{extension}"))
}

/// Reads what a record says without the bytes; nothing where it is gone or not whole.
pub(crate) fn read_outline(path: &Path) -> Result<Option<(Header, Vec<Mark>)>> {
    let Some(file) = open_existing(path, OpenOptions::new().read(true))? else {
        return Ok(None);
    };
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    file.by_ref()
        .take(MAX_HEADER)
        .read_until(b'\n', &mut line)
        .at("read", path)?;
    let start = line.len() as u64;
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    let header = Header::parse(&line, path)?;
    let marks_at = start.saturating_add(header.length_of_bytes());
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(marks_at.min(format::MAX_BYTES)))
        .at("read", path)?;
    file.take(MAX_HEADER)
        .read_to_end(&mut tail)
        .at("read", path)?;
    Ok(format::read_marks(&tail, header.changes.len()).map(|(_, marks)| (header, marks)))
}

/// Creates the pending file under an id that no other process has, or had.
fn reserve(folder: &Path, mut id: u64) -> Result<(u64, PathBuf, File)> {
    loop {
        let path = file_name(folder, id, "pending");
        match disk::create_new(&path) {
            Ok(file) if !path.with_extension("record").exists() => return Ok((id, path, file)),
            // Somebody began and finished under this id since the folder was listed.
            Ok(_) => disk::remove_file(&path).at("remove", &path)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).at("record the operation in", &path),
        }
        id += 1;
    }
}

/// Opens a record, or nothing where it is gone: another process may end its operation at any time.
///
/// A link or a pipe in its place, which a repository can bring, is refused.
fn open_existing(path: &Path, options: &OpenOptions) -> Result<Option<File>> {
    let opened = fs::symlink_metadata(path).and_then(|metadata| {
        let open = || options.open(path);
        metadata.is_file().then(open).transpose()
    });
    match opened {
        Ok(Some(file)) => Ok(Some(file)),
        Ok(None) => Err(Error::refused("is no record, remove it").at(path, None)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("open", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::lock::Store;
    use proptest::prelude::*;

    fn header() -> Header {
        Header {
            format: format::FORMAT,
            operation: "ship".to_owned(),
            time: "2026-02-17T10:11:12Z".to_owned(),
            pid: 7,
            stores: vec![Store::Plan],
            keep: true,
            changes: Vec::new(),
        }
    }

    fn changes() -> Vec<Change<Vec<u8>>> {
        let path = PathBuf::from("a\n.md");
        vec![
            Change::CreateDirectory { path: path.clone() },
            Change::Write {
                path: path.clone(),
                old: Some(b"\xff{}\n".to_vec()),
                new: None,
                mode: Some(0o600),
            },
            Change::Move {
                from: path.clone(),
                to: PathBuf::from("b"),
                contents: [(PathBuf::from("x"), "0".to_owned())].into(),
            },
            Change::Append {
                path,
                lines: b"line".to_vec(),
            },
        ]
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::create(folder.path(), 1, header(), changes()).unwrap();
        record.mark(0, Mark::Made).unwrap();
        record.mark(1, Mark::LeftAlone).unwrap();
        record.turn_back().unwrap();
        let read = Record::open(folder.path(), 1, "pending").unwrap().unwrap();
        assert_eq!(read.changes, changes());
        assert_eq!(read.header, record.header);
        assert_eq!(read.marks(), record.marks());
        assert!(read.is_backward());
        let (header, marks) = read_outline(read.path()).unwrap().unwrap();
        assert_eq!(
            (&header, marks.as_slice()),
            (&record.header, record.marks())
        );
    }

    #[test]
    fn a_torn_record_was_never_begun_and_another_format_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::create(folder.path(), 1, header(), changes()).unwrap();
        let length = fs::metadata(record.path()).unwrap().len();
        for length in (0..length).rev() {
            record.file.set_len(length).unwrap();
            assert!(Record::open(folder.path(), 1, "pending").unwrap().is_none());
            assert!(read_outline(record.path()).unwrap().is_none());
        }
        let newer = b"{\"format\":2}\n";
        disk::write_at(&record.file, 0, newer).unwrap();
        assert!(Record::open(folder.path(), 1, "pending").is_err());
    }

    #[test]
    fn no_two_operations_get_one_id() {
        let folder = tempfile::tempdir().unwrap();
        let create = || Record::create(folder.path(), 1, header(), changes()).unwrap();
        let first = create();
        assert_eq!((first.id, create().id), (1, 2));
        first.close().unwrap();
        assert_eq!(create().id, 3);
        assert!(!file_name(folder.path(), 1, "pending").exists());
        assert!(file_name(folder.path(), 1, "record").exists());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_bytes_break_the_reader(head in "[\\PC]{0,80}", tail in prop::collection::vec(any::<u8>(), 0..80)) {
            let folder = tempfile::tempdir().unwrap();
            let valid = serde_json::to_string(&header()).unwrap();
            for head in [&head, &valid] {
                let bytes = [head.as_bytes(), b"\n", &tail].concat();
                let path = file_name(folder.path(), 1, "pending");
                disk::write(&File::create(&path).unwrap(), &bytes).unwrap();
                let opened = Record::open(folder.path(), 1, "pending");
                let outline = read_outline(&path);
                prop_assert_eq!(opened.is_ok_and(|record| record.is_some()), outline.is_ok_and(|outline| outline.is_some()));
            }
        }
    }
}
