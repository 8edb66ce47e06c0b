//! The record of one operation, written before its first change: what recovery and undo work from.
//!
//! A file `<id>.pending` in `.annals/history/` until the operation is done, `<id>.record` after. `format.rs`
//! says what is in it, `signature.rs` whose it is: one that this user did not write is never acted on. A
//! pending file that is torn was never begun: no change is made before its record is whole on disk.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::Digest;
use sha2::Sha256;

use crate::error::At;
use crate::error::Result;
use crate::storage::change::Change;
use crate::storage::disk;
use crate::storage::format;
use crate::storage::format::Header;
use crate::storage::format::Mark;
use crate::storage::signature;
use crate::storage::signature::Key;
use crate::storage::signature::Kind;
use crate::storage::signature::Signer;
use crate::text::hexadecimal;

/// The longest header line that is read; thousands of changes fit.
const MAX_HEADER: u64 = 16 * 1024 * 1024;

/// What stands where a record is expected.
#[derive(Debug)]
pub(crate) enum Found<T> {
    /// Nothing: another process may end its operation at any time.
    Nothing,
    /// A record that is not whole, so that its operation never began.
    Torn,
    /// What this user did not write on this machine: of a clone, of an older version, a link, a folder.
    Foreign,
    /// A record of this user's.
    Own(T),
}

#[cfg(test)]
impl<T> Found<T> {
    /// Returns the record if it is this user's and whole.
    pub(crate) fn own(self) -> Option<T> {
        match self {
            Self::Own(record) => Some(record),
            _ => None,
        }
    }
}

/// How far the changes of an operation have come, on disk and here.
#[derive(Debug)]
pub(crate) struct Progress {
    marks: Vec<Mark>,
    is_backward: bool,
    path: PathBuf,
    file: File,
    marks_at: u64,
}

impl Progress {
    /// Returns how far each change has come.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Says whether the operation is being taken back.
    pub(crate) fn is_backward(&self) -> bool {
        self.is_backward
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
}

/// A whole record, and where it came from.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) id: u64,
    pub(crate) header: Header,
    pub(crate) changes: Vec<Change<Vec<u8>>>,
    pub(crate) progress: Progress,
}

/// What a record says, whoever wrote it: to be shown, not to be acted on.
#[derive(Debug)]
pub(crate) struct Unverified {
    pub(crate) header: Header,
    pub(crate) changes: Vec<Change<Vec<u8>>>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) is_backward: bool,
}

impl Record {
    /// Writes the record of an operation that is about to begin, under the first free id from `id` on.
    pub(crate) fn create(
        folder: &Path,
        id: u64,
        key: &Key,
        header: Header,
        changes: Vec<Change<Vec<u8>>>,
    ) -> Result<Self> {
        let marks = vec![Mark::Waiting; changes.len()];
        let unverified = Unverified {
            header,
            changes,
            marks,
            is_backward: false,
        };
        Self::write(folder, id, key, unverified)
    }

    /// Writes and signs a record, under the first free id from `id` on, as pending.
    pub(crate) fn write(folder: &Path, id: u64, key: &Key, said: Unverified) -> Result<Self> {
        let Unverified {
            mut header,
            changes,
            marks,
            is_backward,
        } = said;
        let lengths = |bytes: Vec<u8>| Some(bytes.len() as u64);
        let bytes = format::bytes(&changes)?;
        header.format = format::FORMAT;
        header.sha256 = hexadecimal(&Sha256::digest(&bytes));
        header.changes = changes
            .iter()
            .filter_map(|change| change.clone().with_bytes(lengths))
            .collect();
        let (id, path, file) = reserve(folder, id)?;
        let mut text = header.line()?;
        let signature = key.sign(Kind::Record, &id.to_string(), &[&text])?;
        text.push(b'\n');
        text.extend(signature.as_bytes());
        text.push(b'\n');
        text.extend(bytes);
        let marks_at = text.len() as u64;
        text.extend(format::marks(is_backward, &marks));
        let written = disk::write(&file, &text).and_then(|()| disk::sync(&file));
        if let Err(error) = written {
            disk::remove_file(&path).at("remove", &path)?;
            return Err(error).at("record the operation in", &path);
        }
        Ok(Self {
            id,
            header,
            changes,
            progress: Progress {
                marks,
                is_backward,
                path,
                file,
                marks_at,
            },
        })
    }

    /// Reads a record.
    pub(crate) fn open(
        folder: &Path,
        id: u64,
        extension: &str,
        signer: &Signer,
    ) -> Result<Found<Self>> {
        let path = file_name(folder, id, extension);
        let file = match open_existing(&path, OpenOptions::new().read(true).write(true))? {
            Found::Own(file) => file,
            Found::Nothing => return Ok(Found::Nothing),
            Found::Torn | Found::Foreign => return Ok(Found::Foreign),
        };
        let text = read_all(&file, &path)?;
        let (header, start) = match head(&text, id, signer) {
            Found::Own(head) => head,
            Found::Nothing | Found::Torn => return Ok(Found::Torn),
            Found::Foreign => return Ok(Found::Foreign),
        };
        let Some((said, marks_at)) = body(header, &text, start) else {
            return Ok(Found::Torn);
        };
        let bytes = &text[start..marks_at];
        if said.header.sha256 != hexadecimal(&Sha256::digest(bytes)) {
            return Ok(Found::Torn);
        }
        Ok(Found::Own(Self {
            id,
            header: said.header,
            changes: said.changes,
            progress: Progress {
                marks: said.marks,
                is_backward: said.is_backward,
                path,
                file,
                marks_at: marks_at as u64,
            },
        }))
    }

    /// Returns where the record is.
    pub(crate) fn path(&self) -> &Path {
        &self.progress.path
    }

    /// Ends the operation: the record goes into the history, or where it must not stay, away.
    pub(crate) fn close(self) -> Result<()> {
        let path = &self.progress.path;
        if self.header.keep && !self.progress.is_backward {
            disk::rename(path, &path.with_extension("record")).at("close", path)
        } else {
            disk::remove_file(path).at("remove", path)
        }
    }

    /// Returns the name of the temporary file of a change: it tells whose it was, should it be left over.
    pub(crate) fn temporary_name(&self, index: usize) -> String {
        temporary_name(self.id, self.header.pid, index)
    }
}

/// Returns the name of a temporary file; the id is 0 where there is no record.
pub(crate) fn temporary_name(id: u64, pid: u32, index: usize) -> String {
    format!(".annals-{id}-{pid}-{index}.tmp")
}

/// Returns the path of a record.
pub(crate) fn file_name(folder: &Path, id: u64, extension: &str) -> PathBuf {
    folder.join(format!("{id}.{extension}"))
}

/// Reads what a record says without the bytes.
pub(crate) fn read_outline(
    folder: &Path,
    id: u64,
    extension: &str,
    signer: &Signer,
) -> Result<Found<(Header, Vec<Mark>)>> {
    let path = file_name(folder, id, extension);
    let mut file = match open_existing(&path, OpenOptions::new().read(true))? {
        Found::Own(file) => BufReader::new(file),
        Found::Nothing => return Ok(Found::Nothing),
        Found::Torn | Found::Foreign => return Ok(Found::Foreign),
    };
    let mut text = Vec::new();
    for most in [MAX_HEADER, signature::DIGITS as u64 + 1] {
        file.by_ref()
            .take(most)
            .read_until(b'\n', &mut text)
            .at("read", &path)?;
    }
    let (header, start) = match head(&text, id, signer) {
        Found::Own(head) => head,
        Found::Nothing | Found::Torn => return Ok(Found::Torn),
        Found::Foreign => return Ok(Found::Foreign),
    };
    let marks_at = (start as u64).saturating_add(header.length_of_bytes());
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(
        marks_at.min(format::MAX_BYTES + 2 * MAX_HEADER),
    ))
    .at("read", &path)?;
    file.take(MAX_HEADER)
        .read_to_end(&mut tail)
        .at("read", &path)?;
    Ok(match format::read_marks(&tail, header.changes.len()) {
        Some((_, marks)) => Found::Own((header, marks)),
        None => Found::Torn,
    })
}

/// Reads what a record says, whoever wrote it; nothing where that is no whole record of any format.
pub(crate) fn read_unverified(path: &Path) -> Result<Option<Unverified>> {
    let Found::Own(file) = open_existing(path, OpenOptions::new().read(true))? else {
        return Ok(None);
    };
    let text = read_all(&file, path)?;
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return Ok(None);
    };
    let Some(header) = Header::parse(&text[..end]) else {
        return Ok(None);
    };
    let signature = if header.is_signed() {
        signature::DIGITS + 1
    } else {
        0
    };
    let body = body(header, &text, end + 1 + signature);
    Ok(body.map(|(said, _)| said))
}

/// Returns the header of a record of this user's, and where its bytes begin.
fn head(text: &[u8], id: u64, signer: &Signer) -> Found<(Header, usize)> {
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return Found::Torn;
    };
    let Some(header) = Header::parse(&text[..end]).filter(Header::is_signed) else {
        return Found::Foreign;
    };
    let start = end + 1 + signature::DIGITS + 1;
    let Some((b'\n', signature)) = text.get(end + 1..start).and_then(|line| line.split_last())
    else {
        return Found::Torn;
    };
    let is_own = signer.existing().is_some_and(|key| {
        let parts = [&text[..end]];
        key.has_signed(Kind::Record, &id.to_string(), &parts, signature)
    });
    if is_own {
        Found::Own((header, start))
    } else {
        Found::Foreign
    }
}

/// Returns what follows the head, and where the marks begin.
fn body(header: Header, text: &[u8], start: usize) -> Option<(Unverified, usize)> {
    let (changes, marks_at) = format::read_bytes(&header, text, start)?;
    let (is_backward, marks) = format::read_marks(text.get(marks_at..)?, changes.len())?;
    let said = Unverified {
        header,
        changes,
        marks,
        is_backward,
    };
    Some((said, marks_at))
}

fn read_all(file: &File, path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(format::MAX_BYTES + 2 * MAX_HEADER)
        .read_to_end(&mut text)
        .at("read", path)?;
    Ok(text)
}

/// Creates the pending file under an id that no other process has, or had.
fn reserve(folder: &Path, mut id: u64) -> Result<(u64, PathBuf, File)> {
    loop {
        let path = file_name(folder, id, "pending");
        match disk::create_new(&path) {
            Ok(file) if path.with_extension("record").symlink_metadata().is_err() => {
                return Ok((id, path, file));
            }
            // Somebody began and finished under this id since the folder was listed.
            Ok(_) => disk::remove_file(&path).at("remove", &path)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).at("record the operation in", &path),
        }
        id += 1;
    }
}

/// Opens a record; a link or a pipe in its place, which a repository can bring, is foreign.
fn open_existing(path: &Path, options: &OpenOptions) -> Result<Found<File>> {
    match disk::open_unlinked(path, options) {
        Ok(file) => Ok(Found::Own(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::IsADirectory
            ) =>
        {
            Ok(Found::Foreign)
        }
        Err(error) => Err(error).at("open", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::lock::Store;
    use proptest::prelude::*;

    fn signer() -> Signer {
        let place = std::env::temp_dir().join(format!("annals-test-key-{}", std::process::id()));
        Signer::new(Some(place))
    }

    fn create(folder: &Path) -> Record {
        let signer = signer();
        Record::create(folder, 1, signer.key().unwrap(), header(), changes()).unwrap()
    }

    fn open(folder: &Path) -> Found<Record> {
        Record::open(folder, 1, "pending", &signer()).unwrap()
    }

    fn outline(folder: &Path) -> Found<(Header, Vec<Mark>)> {
        read_outline(folder, 1, "pending", &signer()).unwrap()
    }

    fn header() -> Header {
        Header {
            format: format::FORMAT,
            operation: "ship".to_owned(),
            time: "2026-02-17T10:11:12Z".to_owned(),
            pid: 7,
            stores: vec![Store::Plan],
            keep: true,
            sha256: String::new(),
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
        let mut record = create(folder.path());
        record.progress.mark(0, Mark::Made).unwrap();
        record.progress.mark(1, Mark::LeftAlone).unwrap();
        record.progress.mark(2, Mark::Exchanging).unwrap();
        record.progress.turn_back().unwrap();
        let read = open(folder.path()).own().unwrap();
        assert_eq!(read.changes, changes());
        assert_eq!(read.header, record.header);
        assert_eq!(read.progress.marks(), record.progress.marks());
        assert!(read.progress.is_backward());
        let (header, marks) = outline(folder.path()).own().unwrap();
        assert_eq!(
            (&header, marks.as_slice()),
            (&record.header, record.progress.marks())
        );
    }

    #[test]
    fn a_torn_record_was_never_begun() {
        let folder = tempfile::tempdir().unwrap();
        let record = create(folder.path());
        let length = std::fs::metadata(record.path()).unwrap().len();
        for length in (0..length).rev() {
            record.progress.file.set_len(length).unwrap();
            assert!(matches!(open(folder.path()), Found::Torn), "{length}");
            assert!(matches!(outline(folder.path()), Found::Torn), "{length}");
        }
    }

    #[test]
    fn one_changed_byte_of_a_record_makes_it_no_record_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let record = create(folder.path());
        let text = std::fs::read(record.path()).unwrap();
        for place in 0..usize::try_from(record.progress.marks_at).unwrap() {
            let mut changed = text.clone();
            changed[place] ^= 1;
            disk::write_at(&record.progress.file, 0, &changed).unwrap();
            assert!(open(folder.path()).own().is_none(), "{place}");
        }
        disk::write_at(&record.progress.file, 0, &text).unwrap();
        assert!(open(folder.path()).own().is_some());
        let other = file_name(folder.path(), 2, "pending");
        std::fs::copy(record.path(), &other).unwrap();
        let under_another_id = Record::open(folder.path(), 2, "pending", &signer()).unwrap();
        assert!(matches!(under_another_id, Found::Foreign));
        let strange = Signer::new(Some(folder.path().join("home")));
        strange.key().unwrap();
        let of_another_user = Record::open(folder.path(), 1, "pending", &strange).unwrap();
        assert!(matches!(of_another_user, Found::Foreign));
        let said = read_unverified(record.path()).unwrap().unwrap();
        assert_eq!(said.changes, changes());
    }

    #[test]
    fn no_two_operations_get_one_id() {
        let folder = tempfile::tempdir().unwrap();
        let first = create(folder.path());
        assert_eq!((first.id, create(folder.path()).id), (1, 2));
        first.close().unwrap();
        assert_eq!(create(folder.path()).id, 3);
        assert!(!file_name(folder.path(), 1, "pending").exists());
        assert!(file_name(folder.path(), 1, "record").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_a_folder_and_a_pipe_are_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_name(folder.path(), 1, "pending");
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(matches!(open(folder.path()), Found::Foreign));
        assert!(matches!(outline(folder.path()), Found::Foreign));
        disk::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(open(folder.path()), Found::Foreign));
        assert!(matches!(outline(folder.path()), Found::Foreign));
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
                prop_assert!(open(folder.path()).own().is_none());
                prop_assert!(outline(folder.path()).own().is_none());
                read_unverified(&path).unwrap();
            }
        }
    }
}
