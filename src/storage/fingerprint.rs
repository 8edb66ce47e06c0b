//! Digests of files, to check whether a moved file has changed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::error::{At, Result};
use crate::text::hexadecimal;

/// Returns the digest of bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    half(&Sha256::digest(bytes))
}

/// Returns the digest of a file of any size or of a link's target, or `special` for anything else.
pub(crate) fn of_file(path: &Path) -> Result<String> {
    let kind = fs::symlink_metadata(path).at("read", path)?.file_type();
    if kind.is_symlink() {
        let target = fs::read_link(path).at("read", path)?;
        return Ok(of_bytes(target.as_os_str().as_encoded_bytes()));
    }
    if kind.is_file() {
        return stream(path).at("read", path);
    }
    Ok("special".to_owned())
}

/// Returns the relative paths of all files below a directory, or an empty path for a file itself; follows no link.
pub(crate) fn files_below(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in WalkDir::new(path).follow_root_links(false) {
        let entry = entry.map_err(io::Error::from).at("list", path)?;
        if !entry.file_type().is_dir() {
            found.push(entry.path().strip_prefix(path).unwrap_or(Path::new("")).to_owned());
        }
    }
    Ok(found)
}

/// Joins two paths without adding a trailing slash if the second one is empty.
pub(crate) fn join(path: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}

fn stream(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(half(&digest.finalize())),
            length => digest.update(&buffer[..length]),
        }
    }
}

/// Returns the first half of a digest, which is enough to detect accidental edits.
fn half(digest: &[u8]) -> String {
    hexadecimal(&digest[..digest.len() / 2])
}
