//! Reads files up to a maximum size, without ever hanging, exhausting memory or silently dropping a byte.
//!
//! A file is opened without following links or blocking on pipes.

use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use memchr::memmem;

use crate::error::{At, Error, Result};
use crate::storage::boundary::Boundary;
pub use crate::storage::boundary::MAX_FILE;
use crate::storage::disk;
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
    file(path)?.map(|file| read_bounded(&file, path)).transpose()
}

/// Opens a project's file, or returns `None` if there is none or a link leads outside.
fn file(path: &Path) -> Result<Option<File>> {
    Ok(if_present(in_project(path, OpenAs::File)).at("read", path)?.flatten())
}

/// Returns the bytes of a file that the user named, or `None` if there is none; links are followed.
pub fn users_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    users_file(path)?.map(|file| read_bounded(&file, path)).transpose()
}

/// Opens a file that the user named, of any size, or returns `None` if there is none; links are followed.
pub(crate) fn users_file(path: &Path) -> Result<Option<File>> {
    if_present(following_links(path, OpenAs::File)).at("read", path)
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

/// Returns at most the last `most` bytes of a project's file, which may have any size; none if it does not exist or a
/// link leads outside.
pub(crate) fn end(path: &Path, most: u64) -> Result<Vec<u8>> {
    let Some(file) = file(path)? else { return Ok(Vec::new()) };
    let length = length(&file, path)?;
    disk::read_end(file, length, most).at("read", path)
}

/// Reads an opened file if it is a regular file within the maximum size.
fn read_bounded(file: &File, path: &Path) -> Result<Vec<u8>> {
    let length = length(file, path)?;
    if length > MAX_FILE {
        return Err(too_large(path, "is", "read"));
    }
    disk::read_whole(file, length, MAX_FILE)
        .at("read", path)?
        .ok_or_else(|| too_large(path, "is", "read"))
}

/// Returns the length of an opened file, which must be a regular one.
pub(crate) fn length(file: &File, path: &Path) -> Result<u64> {
    let found = file.metadata().at("read", path)?;
    match PathKind::from(found.file_type()) {
        PathKind::File => Ok(found.len()),
        PathKind::Folder => Err(wrong_kind("is a directory, a file was expected", path)),
        PathKind::Link | PathKind::Other => {
            Err(wrong_kind("is not a regular file, so it is not read", path))
        }
    }
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
    fs::metadata(path).is_ok_and(|found| found.permissions().readonly())
}

/// Returns whether this user may write into a folder, as far as the system says.
pub(crate) fn is_writable(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    if rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err() {
        return false;
    }
    !is_write_protected(folder)
}

/// Opens a file that the user named, to be read line by line; returns `None` if there is none.
///
/// The file may have any size.
pub fn lines(path: &Path) -> Result<Option<BufReader<File>>> {
    Ok(users_file(path)?.map(BufReader::new))
}

/// Opens a file to be read line by line if it is a regular one and no part of its path is a link; `None` if it does
/// not exist.
///
/// The file may have any size.
pub(crate) fn unlinked_lines(path: &Path) -> Result<Option<BufReader<File>>> {
    let file = if_present(without_links(path, OpenAs::File)).at("read", path)?;
    if let Some(file) = &file {
        length(file, path)?;
    }
    Ok(file.map(|file| BufReader::with_capacity(LINES_BUFFER, file)))
}

/// Size of the buffer for files that are read line by line, in bytes.
const LINES_BUFFER: usize = 128 * 1024;

/// Returns bytes as text: invalid UTF-8 becomes U+FFFD, and the lines with which git marks the sides of an unresolved
/// merge become blank, each with one warning at the first line.
pub fn decode(bytes: Vec<u8>, path: &Path) -> Parsed<String> {
    let mut warnings = Vec::new();
    let mut text = String::from_utf8(bytes).unwrap_or_else(|invalid| {
        let bytes = invalid.as_bytes();
        let line = line_number(bytes, invalid.utf8_error().valid_up_to());
        warnings.push(Warning::at(path, line, "is not valid UTF-8"));
        String::from_utf8_lossy(bytes).into_owned()
    });
    let markers = conflict_markers(text.as_bytes());
    if let Some(first) = markers.first() {
        let line = line_number(&text, first.start);
        warnings.push(Warning::conflict(path, line));
    }
    for range in markers {
        // Offsets stay the same.
        text.replace_range(range.clone(), &" ".repeat(range.len()));
    }
    Parsed::new(text, warnings)
}

/// Returns the lines with which git marks the sides of merge conflicts, without their line ends.
fn conflict_markers(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if memmem::find(text, b"<<<<<<< ").is_none() {
        return found;
    }
    // The number of those whose merge has an end.
    let mut ended = 0;
    let (mut start, mut is_code) = (0, false);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let marker = line.trim_ascii_end();
        let is_inside = found.len() > ended;
        is_code ^= !is_inside && line.trim_ascii_start().starts_with(b"```");
        // In a block of code, it is an example.
        let begins = !is_code && marker.starts_with(b"<<<<<<< ");
        let ends = is_inside && marker.starts_with(b">>>>>>> ");
        if begins {
            found.truncate(ended);
        }
        if begins || ends || is_inside && (marker == b"=======" || marker.starts_with(b"||||||| "))
        {
            found.push(start..start + marker.len());
        }
        if ends {
            ended = found.len();
        }
        start += line.len();
    }
    found.truncate(ended);
    found
}

/// Returns a file with one side of each conflict in the place of both.
pub(crate) fn one_side(bytes: &[u8], is_ours: bool) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    // Outside of a conflict, `None`.
    let mut is_wanted = None;
    lines.retain(|line| {
        is_wanted = match line.get(..8) {
            Some(b"<<<<<<< ") => Some(is_ours),
            Some(b"||||||| ") if is_wanted.is_some() => Some(false),
            Some(b"=======\n" | b"=======\r") if is_wanted.is_some() => Some(!is_ours),
            Some(b">>>>>>> ") if is_wanted.is_some() => None,
            _ => return is_wanted.unwrap_or(true),
        };
        false
    });
    lines.concat()
}

/// Fails if a file has an unresolved merge conflict: what is written into one side is lost if the other one is chosen.
pub(crate) fn refuse_conflict(bytes: &[u8], path: &Path) -> Result<()> {
    let Some(first) = conflict_markers(bytes).into_iter().next() else { return Ok(()) };
    Err(Error::refused("has an unresolved merge conflict, so it is not changed")
        .at(path, line_number(bytes, first.start))
        .hint("resolve it, then run the command again"))
}

/// Returns the bytes of a file as text. Invalid UTF-8 is refused, since writing it back would change bytes elsewhere.
pub(crate) fn editable<'b>(bytes: &'b [u8], path: &Path) -> Result<&'b str> {
    str::from_utf8(bytes)
        .map_err(|invalid| not_utf8(path, line_number(bytes, invalid.valid_up_to())))
}

/// Fails if a file is UTF-16 or UTF-32, where no program would read what is added as UTF-8. Invalid bytes between others may
/// stay as they are.
pub(crate) fn refuse_wide(bytes: &[u8], path: &Path) -> Result<()> {
    match bytes {
        // A byte order mark, or a letter of ASCII without one.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..] => Err(not_utf8(path, 1)),
        _ => Ok(()),
    }
}

fn not_utf8(path: &Path, line: usize) -> Error {
    Error::refused("is not valid UTF-8, so it is not changed")
        .at(path, line)
        .hint("save it as UTF-8, then run the command again")
}

fn wrong_kind(what: &str, path: &Path) -> Error {
    Error::failed(what).about(path).hint("move or rename it")
}

/// Returns the error for a file that is, or would be, over [`MAX_FILE`], so that it is not read, or written.
pub(crate) fn too_large(path: &Path, is: &str, read: &str) -> Error {
    let most = MAX_FILE / 1024 / 1024;
    Error::failed(format!("{is} larger than {most} MiB, so it is not {read}"))
        .about(path)
        .hint("split it, or move a part of it elsewhere")
}

/// The kind of file to open.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OpenAs {
    /// A file; the caller must check the kind of the opened file.
    File,
    /// A folder.
    #[cfg(target_os = "linux")]
    Folder,
    /// A folder whose entries are opened or changed by name; it does not have to be readable.
    #[cfg(target_os = "linux")]
    Handle,
}

/// Opens a file or folder of a project; returns `None` if a link leads outside.
pub(crate) fn in_project(path: &Path, wanted: OpenAs) -> io::Result<Option<File>> {
    if !goes_up(path) {
        match without_links(path, wanted) {
            Err(error) if is_link(&error) => {}
            opened => return opened.map(Some),
        }
    }
    match Boundary::around(path) {
        None => following_links(path, wanted).map(Some),
        Some(boundary) => match boundary.resolve(path)? {
            // A link that has replaced the resolved path meanwhile is not followed.
            Some(real) => without_links(&real, wanted).map(Some),
            None => Ok(None),
        },
    }
}

/// Returns whether a path contains `..` as a component.
fn goes_up(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// Returns the kind of file at a project's path, links followed, or `None` if one leads outside or nowhere.
pub(crate) fn kind(path: &Path) -> io::Result<Option<PathKind>> {
    if if_present(fs::symlink_metadata(path))?.is_none() {
        return Ok(None);
    }
    // One of the folders in the path may be a link.
    let Some(real) = resolved(path)? else { return Ok(None) };
    Ok(if_present(fs::metadata(&real))?.map(|found| found.file_type().into()))
}

/// Returns a path with its links followed, or `None` if one leads out of its project.
pub(crate) fn resolved(path: &Path) -> io::Result<Option<PathBuf>> {
    Boundary::around(path).map_or_else(|| Ok(Some(path.to_owned())), |one| one.resolve(path))
}

/// Opens a path that the user named, following all links.
#[cfg(target_os = "linux")]
fn following_links(path: &Path, wanted: OpenAs) -> io::Result<File> {
    use rustix::fs::Mode;

    rustix::fs::open(path, flags(wanted), Mode::empty()).map(File::from).map_err(plain_error)
}

/// Opens a path that the user named, following all links.
#[cfg(not(target_os = "linux"))]
fn following_links(path: &Path, _: OpenAs) -> io::Result<File> {
    // Opening a pipe waits for its other end.
    if PathKind::from(fs::metadata(path)?.file_type()) == PathKind::Other {
        return Err(not_regular());
    }
    File::open(path)
}

/// Opens a path that contains no link.
#[cfg(target_os = "linux")]
pub(crate) fn without_links(path: &Path, wanted: OpenAs) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    use rustix::io::Errno;

    let only = ResolveFlags::NO_SYMLINKS;
    match openat2(CWD, path, flags(wanted), Mode::empty(), only) {
        // Linux before 5.6 and some sandboxes do not support this call.
        Err(Errno::NOSYS | Errno::PERM) => open_and_compare(path, wanted),
        opened => opened.map(File::from).map_err(plain_error),
    }
}

/// Opens a path that contains no link.
#[cfg(not(target_os = "linux"))]
fn without_links(path: &Path, wanted: OpenAs) -> io::Result<File> {
    open_and_compare(path, wanted)
}

/// Opens a path that resolves to itself, and checks that it still does after it was opened.
fn open_and_compare(path: &Path, wanted: OpenAs) -> io::Result<File> {
    let is_plain = || Ok::<_, io::Error>(fs::canonicalize(path)? == path);
    if fs::symlink_metadata(path)?.is_symlink() || !is_plain()? {
        return Err(link_error());
    }
    let file = following_links(path, wanted)?;
    if is_plain()? { Ok(file) } else { Err(link_error()) }
}

#[cfg(target_os = "linux")]
fn flags(wanted: OpenAs) -> rustix::fs::OFlags {
    use rustix::fs::OFlags;

    // Opening a pipe must not wait for its other end.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match wanted {
        OpenAs::File => flags,
        OpenAs::Folder => flags | OFlags::DIRECTORY,
        OpenAs::Handle => OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY,
    }
}

/// Converts an error to one of the standard library; `NXIO` is the error for a socket.
#[cfg(target_os = "linux")]
fn plain_error(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::NXIO => not_regular(),
        rustix::io::Errno::LOOP => link_error(),
        error => error.into(),
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "is not a regular file")
}

/// The error for a path that contains a link; opening a file causes no other error of this kind.
fn link_error() -> io::Error {
    let message = "leads through a symbolic link, which is not followed";
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn is_link(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

/// The kind of file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl From<fs::FileType> for PathKind {
    fn from(kind: fs::FileType) -> Self {
        match () {
            () if kind.is_file() => Self::File,
            () if kind.is_dir() => Self::Folder,
            () if kind.is_symlink() => Self::Link,
            () => Self::Other,
        }
    }
}

#[cfg(target_os = "linux")]
impl From<rustix::fs::FileType> for PathKind {
    fn from(kind: rustix::fs::FileType) -> Self {
        use rustix::fs::FileType;

        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

/// Returns what was found at a path, or `None` if the path does not exist.
pub(crate) fn if_present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if is_absent(&error) => Ok(None),
        found => found.map(Some),
    }
}

/// Returns whether an error means that the path does not exist.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
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

#[cfg(test)]
#[cfg(unix)]
mod open_tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn file(path: &Path) -> io::Result<Option<File>> {
        in_project(path, OpenAs::File)
    }

    #[test]
    fn a_path_with_links_is_not_opened_directly() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        File::create(root.join("file")).unwrap();
        symlink("file", root.join("link")).unwrap();
        symlink(&root, root.join("around")).unwrap();
        for open in [without_links, open_and_compare] {
            assert!(open(&root.join("file"), OpenAs::File).is_ok());
            for link in ["link", "around/file"] {
                let error = open(&root.join(link), OpenAs::File).unwrap_err();
                assert!(is_link(&error), "{link}: {error}");
            }
            let absent = open(&root.join("absent"), OpenAs::File).unwrap_err();
            assert!(is_absent(&absent));
        }
    }

    #[test]
    fn links_are_followed_inside_a_project_and_to_allowed_folders() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let root = top.join("project");
        fs::create_dir_all(root.join("in")).unwrap();
        fs::create_dir(top.join("out")).unwrap();
        File::create(root.join("in/file")).unwrap();
        File::create(top.join("out/file")).unwrap();
        for (link, target) in [
            ("inside", "in/file"),
            ("outside", "../out/file"),
            ("folder", "../out"),
            ("dangling", "../nothing/file"),
            ("chain", "outside"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let boundary = Boundary::open(&root);
        assert!(file(&root.join("inside")).unwrap().is_some());
        let outside = ["outside", "folder/file", "dangling", "chain", "in/../../out/file"];
        for path in outside {
            assert!(file(&root.join(path)).unwrap().is_none(), "{path}");
            let warnings = boundary.take_warnings();
            assert_eq!(warnings.len(), 1, "{path}");
            let named = warnings.into_iter().next().unwrap();
            assert_eq!(named.place.file, root.join(path));
        }
        assert_eq!(kind(&root.join("inside")).unwrap(), Some(PathKind::File));
        assert_eq!(kind(&root.join("folder")).unwrap(), None);
        boundary.allow(&top.join("out"));
        for path in ["outside", "folder/file", "chain"] {
            assert!(file(&root.join(path)).unwrap().is_some(), "{path}");
        }
    }
}
