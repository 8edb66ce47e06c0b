//! Appends lines to a log with one write, so that concurrent processes do not mix their lines.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::disk::{Access, Create, Spot, Visibility};
use crate::storage::{boundary, disk, lock, read};

/// Number of bytes at the end of a log in which an interrupted append is searched for.
const LOOK_BACK: u64 = 64 * 1024;

/// A log that only this process may append to until the value is dropped.
#[derive(Debug)]
pub struct Log {
    file: File,
    spot: Spot,
    length: u64,
    is_new: bool,
}

impl Log {
    /// Opens a log of the user and waits for its lock; creates the file and its folder, for the user alone, if they are
    /// missing.
    ///
    /// Links are followed.
    pub fn lock(path: &Path) -> Result<Self> {
        let path = boundary::real_path(path)?;
        let folder = boundary::folder_of(&path);
        disk::create_all(folder, Visibility::Private).at("create", folder)?;
        Self::open(&Spot::new(&path).at("append", &path)?, Visibility::Private)
    }

    fn open(spot: &Spot, visibility: Visibility) -> Result<Self> {
        let is_new = !spot.exists().at("read", &spot.path)?;
        // Opening another user's file in a shared folder may fail if it asks to create it.
        let create = if is_new { Create::IfMissing(visibility) } else { Create::Never };
        let file = match spot.open_any(Access::Append, create) {
            // Not a link, which the caller has followed or which a repository can contain, nor a pipe, which would block.
            Ok(file) if is_file_or_device(&file) => file,
            Err(error) if error.kind() != ErrorKind::InvalidInput => {
                return Err(error).at("append", &spot.path);
            }
            _ => return Err(irregular(&spot.path)),
        };
        lock::wait_for(&file, &spot.path, lock::WAIT)?;
        let length = file.metadata().at("read", &spot.path)?.len();
        Ok(Self { file, spot: spot.clone(), length, is_new })
    }

    /// Opens a log of a project in the same way; one with other hard links is replaced by a copy.
    fn lock_at(spot: &Spot) -> Result<Self> {
        loop {
            let log = Self::open(spot, Visibility::Shared)?;
            if !log.file.metadata().is_ok_and(|found| found.is_file()) {
                return Err(irregular(&spot.path));
            }
            if !is_elsewhere(&log.file, spot)? {
                return Ok(log);
            }
        }
    }

    /// Returns the offset of the next line, which is after the newline that ends an incomplete last line.
    pub fn next_line(&self) -> Result<u64> {
        let is_incomplete =
            !ends_with_newline(&self.file, self.length).at("read", &self.spot.path)?;
        Ok(self.length + u64::from(is_incomplete))
    }

    /// Appends lines with one `write(2)` on `O_APPEND`, and flushes them. No record is kept for undo.
    ///
    /// If the file does not end with a newline, one is added before; if `lines` does not, one is added after.
    /// A partial write is reverted.
    pub fn append(&mut self, lines: &[u8]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let path = &self.spot.path;
        let is_incomplete = self.next_line()? > self.length;
        let before = if is_incomplete { b"\n".to_vec() } else { Vec::new() };
        let text = terminated(before, lines);
        let written = disk::write_once(&self.file, &text).at("append", path)?;
        let length = self.file.metadata().at("read", path)?.len();
        if written < text.len() {
            // Lines that another program has appended meanwhile, without the lock, must stay.
            if length == self.length + written as u64 {
                disk::set_len(&self.file, self.length).at("write", path)?;
            }
            let message = "the lines could not be written completely; the disk may be full";
            return Err(Error::failed(message).about(path));
        }
        self.length = length;
        match disk::sync(&self.file) {
            // A device such as `/dev/null` has nothing to flush.
            Err(error) if error.kind() == ErrorKind::InvalidInput => {}
            flushed => flushed.at("append", path)?,
        }
        if std::mem::take(&mut self.is_new) {
            let folder = boundary::folder_of(path);
            disk::sync_directory(folder).at("write", folder)?;
        }
        Ok(())
    }
}

/// Appends lines to a file of a project; a link in place of the file is refused.
pub(crate) fn append_at(spot: &Spot, lines: &[u8]) -> Result<()> {
    Log::lock_at(spot)?.append(lines)
}

/// Renames a log that is longer than `most` to its name with `.1`, replacing the previous one.
pub fn rotate(path: &Path, most: u64) -> Result<()> {
    let found = read::if_present(std::fs::metadata(path)).at("read", path)?;
    if found.is_some_and(|found| found.len() > most) {
        let path = boundary::real_entry(path)?;
        disk::rename(&path, &rotated(&path)).at("replace", &path)?;
    }
    Ok(())
}

/// Returns the path to which [`rotate()`] renames a log.
pub fn rotated(path: &Path) -> PathBuf {
    path.with_added_extension("1")
}

/// Returns the content that `bytes` will have after [`Log::append`].
pub(crate) fn joined(mut bytes: Vec<u8>, lines: &[u8]) -> Vec<u8> {
    if bytes.last().is_some_and(|last| *last != b'\n') {
        bytes.push(b'\n');
    }
    terminated(bytes, lines)
}

/// Completes an interrupted append: appends all of it, the rest of it, or nothing if it is complete.
pub(crate) fn finish(spot: &Spot, lines: &[u8]) -> Result<()> {
    let wanted = terminated(Vec::new(), lines);
    let tail = tail(spot, LOOK_BACK + wanted.len() as u64)?;
    if tail.windows(wanted.len()).any(|window| window == wanted) {
        return Ok(());
    }
    let is_cut_at = |length: &usize| {
        tail.strip_suffix(&wanted[..*length])
            .is_some_and(|before| before.last().is_none_or(|last| *last == b'\n'))
    };
    match (1..wanted.len()).rev().find(is_cut_at) {
        None => append_at(spot, lines),
        Some(written) => spot
            .open(Access::Append, Create::Never)
            .and_then(|file| {
                disk::write(&file, &wanted[written..]).and_then(|()| disk::sync(&file))
            })
            .at("append", &spot.path),
    }
}

/// Returns the last bytes of a file, none if it does not exist.
fn tail(spot: &Spot, length: u64) -> Result<Vec<u8>> {
    let file = read::if_present(spot.open(Access::Read, Create::Never)).at("read", &spot.path)?;
    let Some(file) = file else { return Ok(Vec::new()) };
    let size = file.metadata().at("read", &spot.path)?.len();
    disk::read_end(file, size, length).at("read", &spot.path)
}

fn is_file_or_device(file: &File) -> bool {
    let Ok(kind) = file.metadata().map(|found| found.file_type()) else {
        return false;
    };
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_char_device(&kind) {
        return true;
    }
    kind.is_file()
}

fn irregular(path: &Path) -> Error {
    let what = if path.is_symlink() { "a link" } else { "not a regular file" };
    Error::refused(format!("is {what}, so annals does not write to it"))
        .about(path)
        .hint("remove it")
}

/// Replaces a file with other hard links by a copy, since one of them may be a file of the user outside of the project;
/// returns whether the open file is not the one at the path any more.
#[cfg(unix)]
fn is_elsewhere(file: &File, spot: &Spot) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let held = file.metadata().at("read", &spot.path)?;
    let is_there =
        std::fs::symlink_metadata(&spot.path).is_ok_and(|there| there.ino() == held.ino());
    if !is_there || held.nlink() < 2 {
        return Ok(!is_there);
    }
    let content = tail(spot, u64::MAX)?;
    let temporary = format!(".annals-log-{}.tmp", std::process::id());
    let finish = |copy: &File| disk::copy_permissions(copy, &held).and_then(|()| disk::sync(copy));
    spot.overwrite(temporary, &content, finish).at("replace", &spot.path)?;
    Ok(true)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature everywhere")]
fn is_elsewhere(_file: &File, _spot: &Spot) -> Result<bool> {
    Ok(false)
}

fn ends_with_newline(mut file: &File, length: u64) -> std::io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn terminated(mut text: Vec<u8>, lines: &[u8]) -> Vec<u8> {
    text.extend_from_slice(lines);
    if !lines.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn append(path: &Path, lines: &[u8]) -> Result<()> {
        Log::lock(path)?.append(lines)
    }

    #[cfg(unix)]
    #[test]
    fn a_log_with_another_hard_link_is_replaced_and_the_other_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (other, log) = (folder.path().join("other"), folder.path().join("log"));
        fs::write(&other, "theirs\n").unwrap();
        fs::hard_link(&other, &log).unwrap();
        append_at(&Spot::new(&log).unwrap(), b"ours\n").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "theirs\n");
        assert_eq!(fs::read_to_string(&log).unwrap(), "theirs\nours\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn lines_are_appended_and_folders_are_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/log.md");
        append(&path, b"one").unwrap();
        append(&path, b"two\nthree\n").unwrap();
        append(&path, b"").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\nthree\n");
    }

    #[test]
    fn an_incomplete_line_is_ended_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        disk::write(&File::create(&path).unwrap(), b"{\"torn\":").unwrap();
        append(&path, b"{}").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{\"torn\":\n{}\n");
        assert_eq!(joined(b"{\"torn\":".to_vec(), b"{}"), fs::read(&path).unwrap());
    }

    #[test]
    fn an_interrupted_append_is_finished_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let spot = Spot::new(&path).unwrap();
        let assert_text = |text: &str| assert_eq!(fs::read_to_string(&path).unwrap(), text);
        finish(&spot, b"one").unwrap();
        finish(&spot, b"one").unwrap();
        assert_text("one\n");
        append(&path, b"two").unwrap();
        finish(&spot, b"one").unwrap();
        assert_text("one\ntwo\n");
        let file = disk::open(&path, Access::Append, Create::Never).unwrap();
        disk::write(&file, b"thr").unwrap();
        finish(&spot, b"three").unwrap();
        assert_text("one\ntwo\nthree\n");
        disk::write(&file, b"somebody's").unwrap();
        finish(&spot, b"four").unwrap();
        assert_text("one\ntwo\nthree\nsomebody's\nfour\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported() {
        let error = append(Path::new("/dev/full"), b"one").unwrap_err();
        assert!(error.to_string().contains("cannot append: "), "{error}");
        append(Path::new("/dev/null"), b"one").unwrap();
    }

    #[test]
    fn a_directory_in_its_place_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let error = append(folder.path(), b"one").unwrap_err();
        assert!(error.to_string().contains("cannot append"), "{error}");
    }

    #[test]
    fn concurrent_appends_keep_lines_intact() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::thread::scope(|scope| {
            for number in 0..4_u8 {
                let path = &path;
                scope.spawn(move || {
                    let line = vec![b'a' + number; 9_000];
                    for _ in 0..10 {
                        append(path, &line).unwrap();
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 40);
        assert!(text.lines().all(|line| {
            line.len() == 9_000 && line.bytes().all(|byte| Some(&byte) == line.as_bytes().first())
        }));
    }
}
