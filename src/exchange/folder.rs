//! Lists the markdown files of a folder, sorted by name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::exchange::source::MAX_NOTES;
use crate::storage::listing;
use crate::storage::stat::PathKind;
use crate::text::slashed;
use crate::warning::Warning;

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 16;

/// The files of a source, with warnings about skipped ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// The folder that file names are relative to.
    pub(crate) root: PathBuf,
    /// The paths of the files, sorted.
    pub(crate) paths: Vec<PathBuf>,
    /// Paths that were not followed or not read.
    pub(crate) warnings: Vec<Warning>,
}

impl Files {
    /// Returns a file's path relative to the root, with `/` as the separator.
    pub(crate) fn name(&self, path: &Path) -> String {
        slashed(path.strip_prefix(&self.root).unwrap_or(path))
    }
}

/// Lists the markdown files of a folder at any depth, or returns a single file; links are not followed.
pub(crate) fn markdown(path: &Path) -> Result<Files> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::not_found("no such file or folder").at(path, None));
        }
        metadata => metadata.at("read", path)?,
    };
    if metadata.is_file() {
        let root = path.parent().unwrap_or(path).to_owned();
        let paths = vec![path.to_owned()];
        return Ok(Files { root, paths, warnings: Vec::new() });
    }
    let mut files = Files { root: path.to_owned(), ..Files::default() };
    collect(path, 0, &mut files)?;
    files.paths.sort();
    if files.paths.len() > MAX_NOTES {
        return Err(Error::failed(format!("contains more than {MAX_NOTES} notes"))
            .at(path, None)
            .hint("import its folders one by one"));
    }
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Files) -> Result<()> {
    for (name, kind) in listing::entries(folder).at("list", folder)? {
        let path = folder.join(&name);
        let is_hidden = name.starts_with('.');
        let is_markdown = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
        if kind == PathKind::Link {
            let warning = "is a symbolic link, which is not followed";
            files.warnings.push(Warning::file(&path, warning));
        } else if kind == PathKind::Folder && !is_hidden {
            if depth == MAX_DEPTH {
                let warning = format!("is more than {MAX_DEPTH} folders deep, so it is not read");
                files.warnings.push(Warning::file(&path, warning));
            } else {
                collect(&path, depth + 1, files)?;
            }
        } else if kind == PathKind::File && is_markdown && !is_hidden {
            files.paths.push(path);
        } else if kind != PathKind::Folder && !is_hidden {
            let warning = "is not a markdown file";
            files.warnings.push(Warning::file(&path, warning));
        }
    }
    Ok(())
}
