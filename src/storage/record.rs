//! The record of one operation, written before its first change; the basis for recovery and undo.
//!
//! It is the file `<id>.pending` in `.annals/history/` until the operation is done, and `<id>.record` after that:
//!
//! ```text
//! {"format":3,"id":12,"operation":"ship",…,"changes":[{"do":"write","path":"STATE.md","old":"…","new":"…"},…]}⏎
//! <the signature of that line, 64 hexadecimal digits>⏎
//! <one byte: ' ' while the changes are applied, '<' while they are reverted>
//! <one byte per change: ' ' not applied yet, '.' applied, '!' left alone, '-' reverted>⏎
//! ```
//!
//! Content that is not UTF-8 is `{"base64":"…"}`; paths are relative to the root, or absolute below one of the
//! user's `linked_roots`. The marks are overwritten in place, which needs no space on a full disk; they are not
//! signed. A record that this user did not sign is never acted on (see below). The operation of an
//! incomplete pending file never began, because no change is applied before its record is completely on disk.
//!
//! Records are signed with a key that only this user has on this machine, so that foreign ones are recognised.
//! A repository can contain any file, even in `.annals/`. The records of operations there, which annals trusts,
//! carry an HMAC-SHA-256 over their id and content. The key is the file `key` in the user's data folder. It is
//! created by the first recorded write, and read only when a signature is needed. So a project can be moved, but
//! records from a clone or another user are not trusted.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

use crate::error::{At, Error, Result};
use crate::storage::changes::Change;
use crate::storage::disk::{Access, Create, Spot, Visibility};
use crate::storage::lock::Store;
use crate::storage::{boundary, disk, lock};
use crate::text::hexadecimal;

/// The format this version writes.
pub(crate) const FORMAT: u32 = 3;

/// The earliest signed format, that of annals 0.2.
const FIRST_SIGNED: u32 = 2;

/// Maximum size of a record.
pub(crate) const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Ending of the file of an operation that is done.
pub(crate) const DONE: &str = "record";
/// Ending of the file of an operation that is in progress or was interrupted.
pub(crate) const PENDING: &str = "pending";

/// The direction while changes are reverted.
const BACKWARD: u8 = b'<';
/// The mark of a change that is not applied yet.
pub(crate) const WAITING: u8 = b' ';
/// The mark of an applied change.
pub(crate) const APPLIED: u8 = b'.';
/// The mark of a change that was not applied, because the file had neither the old content nor the new one.
pub(crate) const LEFT_ALONE: u8 = b'!';
/// The mark of a reverted change.
pub(crate) const REVERTED: u8 = b'-';

/// What is recorded of an operation.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) format: u32,
    pub(crate) id: u64,
    pub(crate) operation: String,
    pub(crate) time: String,
    pub(crate) pid: u32,
    pub(crate) stores: Vec<Store>,
    /// Whether the record is kept for undo when the operation is done.
    pub(crate) keep: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<Answered>,
    pub(crate) changes: Vec<Change>,
    /// The direction, then the mark of each change.
    #[serde(skip)]
    pub(crate) marks: Vec<u8>,
}

/// A request that the operation answered, so that a repeated one is answered but not executed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) answer: Value,
}

impl Record {
    /// Returns whether the operation is being reverted.
    pub(crate) fn is_backward(&self) -> bool {
        self.marks[0] == BACKWARD
    }

    /// Returns the record as it is stored, without its marks.
    fn signed(&self, signer: &Signer) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec(self).map_err(Error::cannot("record the operation"))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(Error::failed("the change is too large to record as one operation")
                .hint(format!("split it: the limit is {} MiB", MAX_BYTES / 1024 / 1024)));
        }
        let signature = signer.sign(self.id, &text)?;
        text.extend(format!("\n{signature}\n").bytes());
        Ok(text)
    }
}

/// The state of a record's file.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one is read at a time, and soon taken apart")]
pub(crate) enum RecordState {
    /// It does not exist; another process may end its operation at any time.
    Missing,
    /// Its operation never began.
    Incomplete,
    /// It was not written by this user on this machine, but comes from a clone, or is a link or a folder.
    Foreign,
    /// It is this user's, but another version wrote it, for this operation.
    OtherVersion(String),
    /// It is a record of this user.
    Own(Record),
}

/// Reads a record's file.
pub(crate) fn read(path: &Path, id: u64, signer: &Signer) -> Result<RecordState> {
    let file = match disk::open(path, Access::Read, Create::Never) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(RecordState::Missing),
        Err(error) if error.kind() == ErrorKind::InvalidInput => return Ok(RecordState::Foreign),
        file => file.at("open", path)?,
    };
    let bytes = file
        .metadata()
        .and_then(|found| disk::read_whole(&file, found.len(), 2 * MAX_BYTES))
        .at("read", path)?;
    Ok(bytes.map_or(RecordState::Foreign, |bytes| parse(&bytes, id, signer)))
}

fn parse(bytes: &[u8], id: u64, signer: &Signer) -> RecordState {
    /// What the records of all versions have.
    #[derive(Deserialize)]
    struct Head {
        format: u32,
        operation: String,
    }

    let Some(end) = memchr::memchr(b'\n', bytes) else {
        return RecordState::Incomplete;
    };
    let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
    let head = match serde_json::from_slice::<Head>(line) {
        Ok(head) if head.format >= FIRST_SIGNED => head,
        _ => return RecordState::Foreign,
    };
    let Some((signature, marks)) = rest.split_at_checked(DIGITS + 1) else {
        return RecordState::Incomplete;
    };
    if !signer.has_signed(id, line, signature.trim_ascii_end()) {
        return RecordState::Foreign;
    }
    if head.format != FORMAT {
        return RecordState::OtherVersion(head.operation);
    }
    match serde_json::from_slice::<Record>(line) {
        Ok(mut record) if marks.len() == record.changes.len() + 2 && marks.ends_with(b"\n") => {
            record.marks = marks[..marks.len() - 1].to_vec();
            RecordState::Own(record)
        }
        Ok(_) => RecordState::Incomplete,
        Err(_) => RecordState::Foreign,
    }
}

/// An operation in progress.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) record: Record,
    pub(crate) path: PathBuf,
    /// The record's file and the offset of the marks in it; none if the operation is not recorded.
    file: Option<(File, u64)>,
}

impl Pending {
    /// Returns an operation that is not recorded.
    pub(crate) fn unrecorded(record: Record) -> Self {
        Self { record, path: PathBuf::new(), file: None }
    }

    /// Writes the record of an operation that is about to begin, with the first free id from its id on.
    pub(crate) fn create(folder: &Path, signer: &Signer, mut record: Record) -> Result<Self> {
        let (path, file) = loop {
            let path = file_path(folder, record.id, PENDING);
            match disk::open(&path, Access::Write, Create::New) {
                Ok(file) if path.with_extension(DONE).symlink_metadata().is_err() => {
                    break (path, file);
                }
                // Another process has used this id since the folder was listed.
                Ok(_) => disk::remove_file(&path).at("remove", &path)?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).at("record the operation", &path),
            }
            record.id += 1;
        };
        let mut pending = Self::unrecorded(record);
        let mut text = pending.record.signed(signer)?;
        let marks_at = text.len() as u64;
        text.extend(&pending.record.marks);
        text.push(b'\n');
        if let Err(error) = disk::write(&file, &text).and_then(|()| disk::sync(&file)) {
            disk::remove_file(&path).at("remove", &path)?;
            return Err(error).at("record the operation", &path);
        }
        (pending.path, pending.file) = (path, Some((file, marks_at)));
        Ok(pending)
    }

    /// Opens the record of an interrupted operation, which was read before.
    pub(crate) fn open(path: &Path, record: Record) -> Result<Self> {
        let file = disk::open(path, Access::Write, Create::Never).at("open", path)?;
        let length = file.metadata().at("read", path)?.len();
        let marks_at = length.saturating_sub(record.marks.len() as u64 + 1);
        Ok(Self { record, path: path.to_owned(), file: Some((file, marks_at)) })
    }

    /// Returns the length of the file, as far as it counts.
    pub(crate) fn length(&self) -> u64 {
        self.file.as_ref().map_or(0, |(_, marks_at)| *marks_at)
    }

    /// Returns the mark of a change.
    pub(crate) fn mark(&self, index: usize) -> u8 {
        self.record.marks[index + 1]
    }

    /// Stores the mark of a change.
    pub(crate) fn set_mark(&mut self, index: usize, mark: u8) -> Result<()> {
        self.set(index + 1, mark)
    }

    /// Stores that the operation is being reverted.
    pub(crate) fn set_backward(&mut self) -> Result<()> {
        if self.record.is_backward() { Ok(()) } else { self.set(0, BACKWARD) }
    }

    fn set(&mut self, index: usize, mark: u8) -> Result<()> {
        self.record.marks[index] = mark;
        let Some((file, marks_at)) = &self.file else {
            return Ok(());
        };
        disk::write_at(file, marks_at + index as u64, &[mark]).at("write", &self.path)
    }

    /// Returns the name of the temporary file of a change, which identifies its operation after a crash.
    pub(crate) fn temporary(&self, index: usize, is_backward: bool) -> String {
        let way = if is_backward { "back-" } else { "" };
        format!(".annals-{}-{}-{way}{index}.tmp", self.record.id, self.record.pid)
    }

    /// Ends the operation: its record stays in the history, or only its answer, or nothing.
    pub(crate) fn close(mut self, signer: &Signer) -> Result<()> {
        if self.file.is_none() {
            return Ok(());
        }
        let done = self.path.with_extension(DONE);
        if self.record.keep && !self.record.is_backward() {
            return disk::rename(&self.path, &done).at("close", &self.path);
        }
        if self.record.request.is_some() && !self.record.is_backward() {
            self.record.changes.clear();
            let mut text = self.record.signed(signer)?;
            text.extend(b" \n");
            Spot::new(&done)
                .and_then(|done| {
                    done.overwrite(format!("{}.tmp", self.record.id), &text, disk::sync)
                })
                .at("close", &self.path)?;
        }
        disk::remove_file(&self.path).at("remove", &self.path)
    }
}

/// Returns the path of a record.
pub(crate) fn file_path(folder: &Path, id: u64, ending: &str) -> PathBuf {
    folder.join(format!("{id}.{ending}"))
}

/// Stores the content of a file as text, or as base64 if it is not UTF-8.
pub(crate) mod content {
    use std::borrow::Cow;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Stored<'a> {
        Text(Cow<'a, str>),
        Encoded { base64: Cow<'a, str> },
    }

    #[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        bytes: &Option<Vec<u8>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let stored = |bytes| match str::from_utf8(bytes) {
            Ok(text) => Stored::Text(text.into()),
            Err(_) => Stored::Encoded { base64: STANDARD.encode(bytes).into() },
        };
        bytes.as_deref().map(stored).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        match Option::<Stored>::deserialize(from)? {
            None => Ok(None),
            Some(Stored::Text(text)) => Ok(Some(text.into_owned().into_bytes())),
            Some(Stored::Encoded { base64 }) => {
                STANDARD.decode(base64.as_bytes()).map(Some).map_err(de::Error::custom)
            }
        }
    }
}

/// Length of a key, in bytes.
const LENGTH: usize = 32;

/// Length of a signature, in hexadecimal digits.
const DIGITS: usize = 64;

type Key = [u8; LENGTH];

/// This user's key, which is read when it is first needed.
#[derive(Clone, Default)]
pub(crate) struct Signer {
    /// The user's data folder, or `None` if it is unknown.
    folder: Option<PathBuf>,
    key: Arc<OnceLock<Key>>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer")
    }
}

impl Signer {
    /// Returns the signer of the user whose data folder this is.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, key: Arc::default() }
    }

    /// Returns the signature of a record's line as hexadecimal digits; creates the key if it is missing.
    fn sign(&self, id: u64, line: &[u8]) -> Result<String> {
        Ok(hexadecimal(&mac(self.key()?, id, line)?.finalize().into_bytes()))
    }

    /// Returns whether this user signed this line as the record with this id.
    fn has_signed(&self, id: u64, line: &[u8], signature: &[u8]) -> bool {
        let mac = self.existing().and_then(|key| mac(key, id, line).ok());
        let signature = decode_hex(signature);
        mac.zip(signature).is_some_and(|(mac, signature)| mac.verify_slice(&signature).is_ok())
    }

    fn existing(&self) -> Option<&Key> {
        if self.key.get().is_none() {
            let key = read_key(&self.folder.as_ref()?.join("key"))?;
            self.key.set(key).ok();
        }
        self.key.get()
    }

    /// Returns the key, and creates it if it is missing.
    pub(crate) fn key(&self) -> Result<&Key> {
        if self.existing().is_none() {
            let key = self.create().map_err(|error| {
                Error::refused(format!("annals cannot keep the key that signs records: {error}"))
                    .hint(
                        "set XDG_DATA_HOME to a writable folder; without one, a single file \
                     can be written, but not undone",
                    )
            })?;
            self.key.set(key).ok();
        }
        self.key.get().ok_or_else(|| Error::failed("the key that signs records is gone"))
    }

    /// Creates the key under a lock; if another process has created it meanwhile, returns that one.
    fn create(&self) -> Result<Key> {
        let Some(folder) = &self.folder else {
            return Err(Error::failed("HOME is not an absolute path"));
        };
        let folder = boundary::real_path(folder)?;
        disk::create_all(&folder, Visibility::Private).at("create", &folder)?;
        let path = boundary::real_path(&folder.join("key"))?;
        let file = Spot::new(&path)
            .and_then(|key| key.open(Access::Write, Create::IfMissing(Visibility::Private)))
            .at("open", &path)?;
        lock::wait_for(&file, &path, lock::WAIT)?;
        if let Some(key) = read_key(&path) {
            return Ok(key);
        }
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key)
            .map_err(|error| Error::failed(format!("the system has no random bytes: {error}")))?;
        // An incomplete key was never used, because its process was killed before it could sign.
        let text = hexadecimal(&key) + "\n";
        disk::set_len(&file, 0)
            .and_then(|()| disk::write_at(&file, 0, text.as_bytes()))
            .and_then(|()| disk::sync(&file))
            .and_then(|()| disk::sync_directory(boundary::folder_of(&path)))
            .at("write", &path)?;
        Ok(key)
    }
}

fn mac(key: &Key, id: u64, line: &[u8]) -> Result<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .map_err(|error| Error::failed(format!("the key cannot sign: {error}")))?;
    for part in [b"record", id.to_string().as_bytes(), line] {
        // The length before each part makes different parts different bytes.
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    Ok(mac)
}

/// Reads a complete key.
fn read_key(path: &Path) -> Option<Key> {
    let file = File::open(path).ok()?;
    let mut text = Vec::with_capacity(2 * LENGTH + 2);
    file.take(2 * LENGTH as u64 + 2).read_to_end(&mut text).ok()?;
    decode_hex(text.strip_suffix(b"\n")?)?.try_into().ok()
}

/// Decodes hexadecimal digits.
fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn signer() -> Signer {
        let place = std::env::temp_dir().join(format!("annals-test-key-{}", std::process::id()));
        Signer::new(Some(place))
    }

    fn record() -> Record {
        let path = PathBuf::from("a\n.md");
        let changes = vec![
            Change::CreateDirectory { path: path.clone() },
            Change::Write {
                path: path.clone(),
                old: Some(b"\xff{}\n".to_vec()),
                new: None,
                mode: Some(0o600),
            },
            Change::Move { from: path.clone(), to: PathBuf::from("b") },
            Change::Append { path: path.clone(), lines: "line".to_owned() },
            Change::Write { path, old: None, new: Some(b"text".to_vec()), mode: None },
        ];
        Record {
            format: FORMAT,
            id: 1,
            operation: "ship".to_owned(),
            time: "2026-02-17T10:11:12Z".to_owned(),
            pid: 7,
            stores: vec![Store::Plan],
            keep: true,
            request: None,
            marks: vec![WAITING; changes.len() + 1],
            changes,
        }
    }

    fn create(folder: &Path) -> Pending {
        let folder = fs::canonicalize(folder).unwrap();
        Pending::create(&folder, &signer(), record()).unwrap()
    }

    #[test]
    fn a_written_record_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut pending = create(folder.path());
        pending.set_mark(0, APPLIED).unwrap();
        pending.set_mark(4, LEFT_ALONE).unwrap();
        pending.set_backward().unwrap();
        let read = read(&pending.path, 1, &signer()).unwrap();
        let RecordState::Own(record) = read else { panic!("{read:?}") };
        assert_eq!((&record, &record.marks[..]), (&pending.record, &b"<.   !"[..]));
        let again = Pending::open(&pending.path, record).unwrap();
        assert_eq!(again.length(), pending.length());
    }

    #[test]
    fn an_incomplete_record_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = fs::read(create(folder.path()).path).unwrap();
        for length in 0..bytes.len() {
            let state = parse(&bytes[..length], 1, &signer());
            assert!(matches!(state, RecordState::Incomplete), "{length}: {state:?}");
        }
    }

    #[test]
    fn a_record_with_a_changed_byte_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let pending = create(folder.path());
        let bytes = fs::read(&pending.path).unwrap();
        let is_own = |bytes: &[u8], id, signer: &Signer| {
            matches!(parse(bytes, id, signer), RecordState::Own(..))
        };
        for place in 0..usize::try_from(pending.length()).unwrap() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert!(!is_own(&changed, 1, &signer()), "{place}");
        }
        assert!(is_own(&bytes, 1, &signer()));
        assert!(!is_own(&bytes, 2, &signer()));
        let other = Signer::new(Some(folder.path().join("home")));
        other.sign(1, b"").unwrap();
        assert!(!is_own(&bytes, 1, &other));
    }

    #[test]
    fn operation_ids_are_unique() {
        let folder = tempfile::tempdir().unwrap();
        let first = create(folder.path());
        assert_eq!((first.record.id, create(folder.path()).record.id), (1, 2));
        first.close(&signer()).unwrap();
        assert_eq!(create(folder.path()).record.id, 3);
        assert!(!file_path(folder.path(), 1, PENDING).exists());
        assert!(file_path(folder.path(), 1, DONE).exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_a_folder_are_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap().join("1.pending");
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(matches!(read(&path, 1, &signer()).unwrap(), RecordState::Foreign));
        disk::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(read(&path, 1, &signer()).unwrap(), RecordState::Foreign));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_bytes_make_the_reader_panic(head in "[\\PC]{0,80}", tail in prop::collection::vec(any::<u8>(), 0..80)) {
            let valid = serde_json::to_string(&record()).unwrap();
            for head in [&head, &valid] {
                let bytes = [head.as_bytes(), b"\n", &tail].concat();
                let state = parse(&bytes, 1, &signer());
                prop_assert!(!matches!(state, RecordState::Own(..)));
            }
        }
    }

    #[test]
    fn concurrent_processes_create_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("annals");
        let keys: Vec<Key> = std::thread::scope(|scope| {
            let key = || Signer::new(Some(place.clone())).key().copied().unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(key)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[cfg(unix)]
    #[test]
    fn the_key_is_private_and_an_incomplete_one_is_replaced() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("annals");
        let key = Signer::new(Some(place.clone())).key().copied().unwrap();
        let file = place.join("key");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&place)), (0o600, 0o700));
        disk::set_len(&fs::OpenOptions::new().write(true).open(&file).unwrap(), 40).unwrap();
        let signer = Signer::new(Some(place));
        assert_eq!(signer.existing(), None);
        assert_ne!(signer.key().unwrap(), &key);
    }

    #[test]
    fn an_unwritable_home_is_refused_with_a_hint() {
        for folder in [None, Some(PathBuf::from("/dev/null/annals"))] {
            let error = Signer::new(folder).key().unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Refused);
            assert!(error.hint.unwrap().contains("XDG_DATA_HOME"));
        }
    }
}
