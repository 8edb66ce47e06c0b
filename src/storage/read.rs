//! Reads files up to a maximum size, without ever hanging, exhausting memory or silently dropping a byte.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::error::{At, Error, Result};
use crate::storage::boundary::Boundary;
pub use crate::storage::boundary::MAX_FILE;
use crate::storage::open::OpenAs;
use crate::storage::stat::PathKind;
pub(crate) use crate::storage::stat::is_absent;
use crate::storage::{disk, open};
use crate::text::line_number;
use crate::warning::{Parsed, Warning};

/// Returns the bytes of a project's file, or `None` if there is none or a link leads outside.
///
/// A directory, a pipe or a device in its place and a file over [`MAX_FILE`] are errors.
pub fn bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let bytes = uncounted_bytes(path)?;
    if let Some(bytes) = &bytes
        && let Some(boundary) = Boundary::around(path)
    {
        boundary.count(path, bytes.len() as u64)?;
    }
    Ok(bytes)
}

/// Reads like [`bytes`], but does not count towards the command's limit, since the content is only compared.
pub(crate) fn uncounted_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    match open::in_project(path, OpenAs::File) {
        Ok(None) => Ok(None),
        Ok(Some(file)) => read_bounded(&file, path).map(Some),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error).at("read", path),
    }
}

/// Returns the bytes of a file that the user named, or `None` if there is none; links are followed.
pub fn users_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    match open::following_links(path, OpenAs::File) {
        Err(error) if is_absent(&error) => Ok(None),
        file => read_bounded(&file.at("read", path)?, path).map(Some),
    }
}

/// Returns the text of a project's file, or `None` if there is none or a link leads outside.
///
/// Invalid UTF-8 becomes U+FFFD and a warning.
pub fn text(path: &Path) -> Result<Option<Parsed<String>>> {
    Ok(bytes(path)?.map(|bytes| decode(bytes, path)))
}

/// Returns the text of a project's file, or `None` with a warning if it cannot be read.
pub(crate) fn text_or_warning(path: &Path, warnings: &mut Vec<Warning>) -> Option<String> {
    or_warning(text(path), path, warnings)
}

/// Returns the text of a file, or `None` with a warning if reading it failed.
pub(crate) fn or_warning(
    text: Result<Option<Parsed<String>>>,
    path: &Path,
    warnings: &mut Vec<Warning>,
) -> Option<String> {
    match text {
        Ok(text) => text.map(|text| text.into_value(warnings)),
        Err(error) => {
            warnings.push(Warning::file(path, error.reason()));
            None
        }
    }
}

/// Returns the text of a file that the user named, or `None` if there is none; links are followed.
pub fn users_text(path: &Path) -> Result<Option<Parsed<String>>> {
    Ok(users_bytes(path)?.map(|bytes| decode(bytes, path)))
}

/// Reads an opened file if it is a regular file within the maximum size.
fn read_bounded(file: &File, path: &Path) -> Result<Vec<u8>> {
    let found = file.metadata().at("read", path)?;
    match PathKind::from(found.file_type()) {
        PathKind::File => {}
        PathKind::Folder => return Err(wrong_kind("is a directory, a file was expected", path)),
        PathKind::Link | PathKind::Other => {
            return Err(wrong_kind("is not a regular file, so it is not read", path));
        }
    }
    if found.len() > MAX_FILE {
        return Err(too_large(path));
    }
    disk::read_whole(file, found.len(), MAX_FILE).at("read", path)?.ok_or_else(|| too_large(path))
}

/// Returns the kind of file at a project's path, links followed, or `None` if one leads outside or nowhere.
pub(crate) fn kind(path: &Path) -> std::io::Result<Option<PathKind>> {
    open::kind(path)
}

/// Returns whether a project's path exists; a link that leads outside does not count.
pub(crate) fn exists(path: &Path) -> bool {
    matches!(kind(path), Ok(Some(_)))
}

/// Returns whether a project's path is a file; a link that leads outside does not count.
pub(crate) fn is_file(path: &Path) -> bool {
    matches!(kind(path), Ok(Some(PathKind::File)))
}

/// Returns whether a project's path is a folder; a link that leads outside does not count.
pub(crate) fn is_folder(path: &Path) -> bool {
    matches!(kind(path), Ok(Some(PathKind::Folder)))
}

/// Returns whether a file exists and is read-only for everybody.
pub(crate) fn is_write_protected(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().readonly())
}

/// Opens a file that the user named, to be read line by line; returns `None` if there is none.
///
/// The file may have any size.
pub fn lines(path: &Path) -> Result<Option<BufReader<File>>> {
    match open::following_links(path, OpenAs::File) {
        Err(error) if is_absent(&error) => Ok(None),
        file => Ok(Some(BufReader::new(file.at("read", path)?))),
    }
}

/// Opens a file to be read line by line if it is a regular one and no part of its path is a link; `None` if it does
/// not exist.
///
/// The file may have any size.
pub(crate) fn unlinked_lines(path: &Path) -> Result<Option<BufReader<File>>> {
    let file = match open::without_links(path, OpenAs::File) {
        Err(error) if is_absent(&error) => return Ok(None),
        file => file.at("read", path)?,
    };
    if !file.metadata().at("read", path)?.is_file() {
        return Err(wrong_kind("is not a regular file, so it is not read", path));
    }
    Ok(Some(BufReader::with_capacity(LINES_BUFFER, file)))
}

/// Size of the buffer for files that are read line by line, in bytes.
const LINES_BUFFER: usize = 128 * 1024;

/// Returns bytes as text; invalid UTF-8 becomes U+FFFD, with one warning at its first line.
pub fn decode(bytes: Vec<u8>, path: &Path) -> Parsed<String> {
    let invalid = match String::from_utf8(bytes) {
        Ok(text) => return Parsed::clean(text),
        Err(invalid) => invalid,
    };
    let bytes = invalid.as_bytes();
    let line = line_number(bytes, invalid.utf8_error().valid_up_to());
    Parsed::new(
        String::from_utf8_lossy(bytes).into_owned(),
        vec![Warning::at(path, line, "is not valid UTF-8")],
    )
}

fn wrong_kind(what: &str, path: &Path) -> Error {
    Error::failed(what).at(path, None).hint("move or rename it")
}

/// Returns the error for a file over [`MAX_FILE`].
pub(crate) fn too_large(path: &Path) -> Error {
    let most = MAX_FILE / 1024 / 1024;
    Error::failed(format!("is larger than {most} MiB, so it is not read"))
        .at(path, None)
        .hint("split it, or move a part of it elsewhere")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_not_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert_eq!(bytes(&file).unwrap(), None);
        File::create(&file).unwrap();
        assert_eq!(bytes(&file).unwrap(), Some(Vec::new()));
        assert_eq!(bytes(&file.join("below-a-file")).unwrap(), None);
    }

    #[test]
    fn a_directory_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = bytes(folder.path()).unwrap_err();
        assert!(error.to_string().contains("is a directory"), "{error}");
        assert_eq!(error.place.unwrap().file, folder.path());
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let file = File::create(&path).unwrap();
        file.set_len(MAX_FILE).unwrap();
        assert_eq!(bytes(&path).unwrap().unwrap().len() as u64, MAX_FILE);
        file.set_len(MAX_FILE + 1).unwrap();
        let error = bytes(&path).unwrap_err();
        assert!(error.to_string().contains("larger than 8 MiB"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_refused() {
        let error = bytes(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sockets_and_pipes_are_refused_without_blocking() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};

        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let socket = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [pipe, socket] {
            let error = bytes(&path).unwrap_err();
            assert!(error.to_string().contains("regular file"), "{error}");
            assert!(users_bytes(&path).is_err());
        }
    }

    #[test]
    fn invalid_text_is_replaced_with_one_warning_at_its_line() {
        let path = Path::new("a.md");
        let parsed = decode(b"one\ntwo \xff\nthree \xfe\n".to_vec(), path);
        assert_eq!(parsed.value, "one\ntwo \u{fffd}\nthree \u{fffd}\n");
        assert_eq!(parsed.warnings.len(), 1);
        assert_eq!(parsed.warnings[0].place.line, Some(2));
        assert_eq!(decode(b"ok".to_vec(), path), Parsed::clean("ok".to_owned()));
    }
}
