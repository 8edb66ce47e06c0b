//! Tests of writing and reading records.

use std::fs::File;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::storage::lock::Store;
use crate::storage::signature::Signer;

fn signer() -> Signer {
    let place = std::env::temp_dir().join(format!("annals-test-key-{}", std::process::id()));
    Signer::new(Some(place))
}

fn create(folder: &Path) -> Record {
    let signer = signer();
    Record::create(folder, 1, signer.key().unwrap(), header(), changes()).unwrap()
}

fn open(folder: &Path) -> RecordState<Record> {
    Record::open(folder, 1, RecordFile::Pending, &signer()).unwrap()
}

fn outline(folder: &Path) -> RecordState<(Header, Vec<Mark>)> {
    read_outline(folder, 1, RecordFile::Pending, &signer()).unwrap()
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
        Change::Append { path, lines: b"line".to_vec() },
    ]
}

#[test]
fn a_written_record_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut record = create(folder.path());
    record.progress.mark(0, Mark::Applied).unwrap();
    record.progress.mark(1, Mark::LeftAlone).unwrap();
    record.progress.mark(2, Mark::Exchanging).unwrap();
    record.progress.mark_backward().unwrap();
    let read = open(folder.path()).own().unwrap();
    assert_eq!(read.changes, changes());
    assert_eq!(read.header, record.header);
    assert_eq!(read.progress.marks(), record.progress.marks());
    assert!(read.progress.is_backward());
    let (header, marks) = outline(folder.path()).own().unwrap();
    assert_eq!((&header, marks.as_slice()), (&record.header, record.progress.marks()));
}

#[test]
fn an_incomplete_record_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let record = create(folder.path());
    let length = std::fs::metadata(record.path()).unwrap().len();
    for length in (0..length).rev() {
        record.progress.file.set_len(length).unwrap();
        assert!(matches!(open(folder.path()), RecordState::Incomplete), "{length}");
        assert!(matches!(outline(folder.path()), RecordState::Incomplete), "{length}");
    }
}

#[test]
fn a_record_with_a_changed_byte_is_not_ours() {
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
    let other = file_path(folder.path(), 2, RecordFile::Pending);
    std::fs::copy(record.path(), &other).unwrap();
    let under_another_id = Record::open(folder.path(), 2, RecordFile::Pending, &signer()).unwrap();
    assert!(matches!(under_another_id, RecordState::Foreign));
    let strange = Signer::new(Some(folder.path().join("home")));
    strange.key().unwrap();
    let of_another_user = Record::open(folder.path(), 1, RecordFile::Pending, &strange).unwrap();
    assert!(matches!(of_another_user, RecordState::Foreign));
    let record = read_unverified(record.path()).unwrap().unwrap();
    assert_eq!(record.changes, changes());
}

#[test]
fn operation_ids_are_unique() {
    let folder = tempfile::tempdir().unwrap();
    let first = create(folder.path());
    assert_eq!((first.id, create(folder.path()).id), (1, 2));
    first.close().unwrap();
    assert_eq!(create(folder.path()).id, 3);
    assert!(!file_path(folder.path(), 1, RecordFile::Pending).exists());
    assert!(file_path(folder.path(), 1, RecordFile::Done).exists());
}

#[cfg(unix)]
#[test]
fn a_link_a_folder_and_a_pipe_are_foreign() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_path(folder.path(), 1, RecordFile::Pending);
    std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
    assert!(matches!(open(folder.path()), RecordState::Foreign));
    assert!(matches!(outline(folder.path()), RecordState::Foreign));
    disk::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(open(folder.path()), RecordState::Foreign));
    assert!(matches!(outline(folder.path()), RecordState::Foreign));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_bytes_make_the_reader_panic(head in "[\\PC]{0,80}", tail in prop::collection::vec(any::<u8>(), 0..80)) {
        let folder = tempfile::tempdir().unwrap();
        let valid = serde_json::to_string(&header()).unwrap();
        for head in [&head, &valid] {
            let bytes = [head.as_bytes(), b"\n", &tail].concat();
            let path = file_path(folder.path(), 1, RecordFile::Pending);
            disk::write(&File::create(&path).unwrap(), &bytes).unwrap();
            prop_assert!(open(folder.path()).own().is_none());
            prop_assert!(outline(folder.path()).own().is_none());
            read_unverified(&path).unwrap();
        }
    }
}
