//! Appends lines to a log with one write, so that concurrent processes do not mix their lines.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::disk::{Access, Create, Existing, Links, Spot, Visibility};
use crate::storage::{disk, lock, read, root};

/// Number of bytes at the end of a log in which an interrupted append is searched for.
const LOOK_BACK: u64 = 64 * 1024;

/// A log that only this process may append to until the value is dropped.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    length: u64,
    is_device: bool,
    is_new: bool,
}

impl Log {
    /// Opens a log of the user and waits for its lock; creates the file and its folders if they are missing.
    ///
    /// Links are followed.
    pub fn lock(path: &Path, visibility: Visibility) -> Result<Self> {
        Self::open(&root::real_entry(path)?, visibility, Links::Followed)
    }

    fn open(path: &Path, visibility: Visibility, links: Links) -> Result<Self> {
        let is_device = check_kind(path, links)?;
        let (file, is_new) = open(path, visibility, links)?;
        let mut length = 0;
        if !is_device {
            lock::wait_for(&file, path, lock::WAIT)?;
            if links == Links::Refused && is_elsewhere(&file, path)? {
                drop(file);
                return Self::open(path, visibility, links);
            }
            length = file.metadata().at("read", path)?.len();
        }
        Ok(Self { file, path: path.to_owned(), length, is_device, is_new })
    }

    /// Returns the offset of the next line, which is after the newline that ends an incomplete last line.
    pub fn next_line(&self) -> Result<u64> {
        let is_incomplete = !ends_with_newline(&self.file, self.length).at("read", &self.path)?;
        Ok(self.length + u64::from(is_incomplete))
    }

    /// Appends lines with one `write(2)` on `O_APPEND`.
    ///
    /// If the file does not end with a newline, one is added before; if `lines` does not, one is added after.
    /// A partial write is reverted.
    pub fn append(&mut self, lines: &[u8]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        if self.is_device {
            return disk::write(&self.file, &terminated(Vec::new(), lines))
                .at("append to", &self.path);
        }
        let is_incomplete = self.next_line()? > self.length;
        if !is_incomplete && lines.ends_with(b"\n") {
            write_or_revert(&self.file, &self.path, self.length, lines)?;
        } else {
            let text = if is_incomplete { b"\n".to_vec() } else { Vec::new() };
            write_or_revert(&self.file, &self.path, self.length, &terminated(text, lines))?;
        }
        self.length = self.file.metadata().at("read", &self.path)?.len();
        Ok(())
    }

    /// Flushes the appended data, and the directory entry of a new file.
    pub fn flush(&mut self) -> Result<()> {
        if self.is_device {
            return Ok(());
        }
        disk::sync_content(&self.file).at("append to", &self.path)?;
        match self.path.parent() {
            Some(folder) if self.is_new => {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                self.is_new = false;
                disk::sync_directory(folder).at("write", folder)
            }
            _ => Ok(()),
        }
    }
}

/// Appends lines to a file of the user like [`Log`], and flushes them.
///
/// A new file gets the permissions of the umask. No record is kept for undo.
pub fn append(path: &Path, lines: &[u8]) -> Result<()> {
    add(&root::real_entry(path)?, lines, Links::Followed)
}

/// Appends lines to a file below a resolved folder of a project; a link in place of the file is refused.
pub(crate) fn append_unlinked(path: &Path, lines: &[u8]) -> Result<()> {
    add(path, lines, Links::Refused)
}

fn add(path: &Path, text: &[u8], links: Links) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut log = Log::open(path, Visibility::Shared, links)?;
    log.append(text)?;
    log.flush()
}

/// Renames a log that is longer than `most` to its name with `.1`, replacing the previous one.
pub fn rotate(path: &Path, most: u64) -> Result<()> {
    let length = match fs::metadata(path) {
        Err(error) if read::is_absent(&error) => return Ok(()),
        metadata => metadata.at("read", path)?.len(),
    };
    if length > most {
        let path = root::real_entry(path)?;
        disk::rename(&path, &rotated(&path)).at("replace", &path)?;
    }
    Ok(())
}

/// Returns the path to which [`rotate()`] renames a log.
pub fn rotated(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}

/// Returns the content that `bytes` will have after [`append()`].
pub(crate) fn joined(mut bytes: Vec<u8>, lines: &[u8]) -> Vec<u8> {
    if bytes.last().is_some_and(|last| *last != b'\n') {
        bytes.push(b'\n');
    }
    terminated(bytes, lines)
}

/// Completes an interrupted append: appends all of it, the rest of it, or nothing if it is complete.
pub(crate) fn finish(path: &Path, lines: &[u8]) -> Result<()> {
    let wanted = terminated(Vec::new(), lines);
    let tail = tail(path, LOOK_BACK + wanted.len() as u64)?;
    if tail.windows(wanted.len()).any(|window| window == wanted) {
        return Ok(());
    }
    let is_cut_at = |length: &usize| {
        let before = tail.strip_suffix(&wanted[..*length]);
        before.is_some_and(|before| before.last().is_none_or(|last| *last == b'\n'))
    };
    match (1..wanted.len()).rev().find(is_cut_at) {
        None => append_unlinked(path, lines),
        Some(written) => {
            let file = disk::open(path, Access::Append, Create::Never).at("append to", path)?;
            disk::write(&file, &wanted[written..])
                .and_then(|()| disk::sync(&file))
                .at("append to", path)
        }
    }
}

fn tail(path: &Path, length: u64) -> Result<Vec<u8>> {
    let mut file = match disk::open(path, Access::Read, Create::Never) {
        Err(error) if read::is_absent(&error) => return Ok(Vec::new()),
        file => file.at("read", path)?,
    };
    let size = file.metadata().at("read", path)?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(length))).at("read", path)?;
    let mut tail = Vec::new();
    file.take(length).read_to_end(&mut tail).at("read", path)?;
    Ok(tail)
}

/// Returns whether a file is a device such as `/dev/null`; refuses links, folders, and pipes, which would block.
fn check_kind(path: &Path, links: Links) -> Result<bool> {
    let metadata = match links {
        Links::Followed => fs::metadata(path),
        Links::Refused => fs::symlink_metadata(path),
    };
    let kind = match metadata {
        Err(error) if read::is_absent(&error) => return Ok(false),
        metadata => metadata.at("append to", path)?.file_type(),
    };
    #[cfg(unix)]
    if links == Links::Followed {
        use std::os::unix::fs::FileTypeExt;

        if kind.is_char_device() {
            return Ok(true);
        }
    }
    if kind.is_file() {
        return Ok(false);
    }
    Err(if kind.is_dir() {
        Error::failed("is a directory, a file was expected").at(path, None)
    } else {
        Error::refused("is a link or not a regular file, so annals does not write to it")
            .at(path, None)
            .hint("remove it")
    })
}

/// Opens the file, and creates it and its folders if they are missing; returns whether it was.
fn open(path: &Path, visibility: Visibility, links: Links) -> Result<(File, bool)> {
    if let Some(parent) = path.parent().filter(|_| fs::metadata(path).is_err()) {
        disk::create_all(parent, visibility, visibility).at("create", parent)?;
    }
    let spot = Spot::new(path).at("append to", path)?;
    let open = |create| match links {
        Links::Refused => spot.open(Access::Append, create),
        Links::Followed => spot.open_users(Access::Append, create),
    };
    match open(Create::Never) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            open(Create::IfMissing(visibility)).map(|file| (file, true))
        }
        opened => opened.map(|file| (file, false)),
    }
    .at("append to", path)
}

/// Replaces a file with other hard links by a copy, since one of them may be a file of the user outside of the project;
/// returns whether the open file is not the one at the path any more.
#[cfg(unix)]
fn is_elsewhere(file: &File, path: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let held = file.metadata().at("read", path)?;
    let is_there = fs::symlink_metadata(path).is_ok_and(|there| there.ino() == held.ino());
    if !is_there || held.nlink() < 2 {
        return Ok(!is_there);
    }
    let spot = Spot::new(path).at("open", path)?;
    let copy = spot.beside(&format!(".annals-log-{}.tmp", std::process::id()));
    let content = tail(path, u64::MAX)?;
    let new = copy.open(Access::Write, Create::New).at("write", &copy.path)?;
    let written = disk::write(&new, &content)
        .and_then(|()| disk::copy_permissions(&new, &held))
        .and_then(|()| disk::sync(&new))
        .and_then(|()| copy.rename_to(&spot, Existing::Replace));
    if written.is_err() {
        copy.remove().at("remove", &copy.path)?;
    }
    written.at("replace", path).map(|_| true)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature everywhere")]
fn is_elsewhere(_file: &File, _path: &Path) -> Result<bool> {
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

fn write_or_revert(file: &File, path: &Path, before: u64, text: &[u8]) -> Result<()> {
    let written = disk::write_once(file, text).at("append to", path)?;
    if written == text.len() {
        return Ok(());
    }
    // Lines that another program has appended meanwhile, without the lock, must stay.
    if file.metadata().at("read", path)?.len() == before + written as u64 {
        disk::set_len(file, before).at("write", path)?;
    }
    Err(Error::failed("only some of the lines were written; the disk may be full").at(path, None))
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
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_log_with_another_hard_link_is_replaced_and_the_other_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (other, log) = (folder.path().join("other"), folder.path().join("log"));
        fs::write(&other, "theirs\n").unwrap();
        fs::hard_link(&other, &log).unwrap();
        append_unlinked(&log, b"ours\n").unwrap();
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
        let assert_text = |text: &str| assert_eq!(fs::read_to_string(&path).unwrap(), text);
        finish(&path, b"one").unwrap();
        finish(&path, b"one").unwrap();
        assert_text("one\n");
        append(&path, b"two").unwrap();
        finish(&path, b"one").unwrap();
        assert_text("one\ntwo\n");
        let file = disk::open(&path, Access::Append, Create::Never).unwrap();
        disk::write(&file, b"thr").unwrap();
        finish(&path, b"three").unwrap();
        assert_text("one\ntwo\nthree\n");
        disk::write(&file, b"somebody's").unwrap();
        finish(&path, b"four").unwrap();
        assert_text("one\ntwo\nthree\nsomebody's\nfour\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported() {
        let error = append(Path::new("/dev/full"), b"one").unwrap_err();
        assert!(error.to_string().contains("cannot append to"), "{error}");
        append(Path::new("/dev/null"), b"one").unwrap();
    }

    #[test]
    fn a_directory_in_its_place_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let error = append(folder.path(), b"one").unwrap_err();
        assert!(error.to_string().contains("is a directory"), "{error}");
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
