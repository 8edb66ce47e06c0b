//! Lists the files that a search covers, with their current state on disk.

use std::fs;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::project::Project;
use crate::recall::sources::{SOURCES, Source};

/// A file of a store.
#[derive(Clone)]
pub(crate) struct StoreFile {
    /// Index of its store in the list of stores.
    pub(crate) source: usize,
    /// Its displayed name: the path relative to the project if inside it.
    pub(crate) name: String,
    /// Its path.
    pub(crate) path: PathBuf,
    /// Bytes that change whenever the file does.
    pub(crate) stamp: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) modified: Option<SystemTime>,
}

impl StoreFile {
    pub(crate) fn store(&self) -> &'static dyn Source {
        SOURCES[self.source]
    }
}

/// Every file of every store, sorted by name.
#[derive(Clone)]
pub(crate) struct Files(pub(crate) Vec<StoreFile>);

impl Files {
    /// Lists the files of a project without reading them.
    pub(crate) fn list(project: &Project) -> Self {
        let mut found: Vec<StoreFile> = Vec::new();
        for (source, store) in SOURCES.iter().enumerate() {
            let files = store.files(project).into_iter();
            found.extend(files.filter_map(|path| stat_file(project, source, path)));
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        // If two stores claim the same file, the first one gets it.
        found.dedup_by(|one, other| one.name == other.name);
        Self(found)
    }

    /// Returns the total size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.0.iter().map(|found| found.size).sum()
    }

    /// Returns the most recently modified files that fit into `max_bytes` bytes together, sorted by name.
    pub(crate) fn newest(&self, max_bytes: u64) -> Self {
        let mut newest = self.0.clone();
        newest.sort_by_key(|found| std::cmp::Reverse(found.modified));
        let mut bytes = 0;
        // A file that does not fit is skipped in favour of older ones.
        newest.retain(|found| {
            let fits = bytes + found.size <= max_bytes;
            bytes += if fits { found.size } else { 0 };
            fits
        });
        newest.sort_by(|one, other| one.name.cmp(&other.name));
        Self(newest)
    }

    /// Returns whether any file belongs to the project itself: a folder without memory gets no index file.
    pub(crate) fn include_project_files(&self) -> bool {
        self.0.iter().any(|found| !found.store().is_users_own())
    }
}

fn stat_file(project: &Project, source: usize, path: PathBuf) -> Option<StoreFile> {
    // Whether a link may be followed is decided when the file is read.
    let metadata = fs::metadata(&path).ok()?;
    metadata.is_file().then(|| StoreFile {
        source,
        name: name(project.relative(&path)),
        stamp: stamp(&metadata),
        size: metadata.len(),
        modified: metadata.modified().ok(),
        path,
    })
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Size and times, including two values that programs cannot set freely: inode number and time of last
/// change.
fn stamp(metadata: &Metadata) -> Vec<u8> {
    let mut stamp = metadata.len().to_le_bytes().to_vec();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        for number in [
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
            metadata.ino().cast_signed(),
        ] {
            stamp.extend(number.to_le_bytes());
        }
    }
    #[cfg(not(unix))]
    if let Ok(since) = metadata
        .modified()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).map_err(std::io::Error::other))
    {
        stamp.extend(since.as_nanos().to_le_bytes());
    }
    stamp
}
