//! Goes through all entries of the store.

use std::path::PathBuf;

use crate::error::At;
use crate::error::Result;
use crate::knowledge::KnowledgeDir;
use crate::knowledge::dir::stem;
use crate::knowledge::read::leads_out;
use crate::storage::listing::Kind;
use crate::storage::listing::Listing;
use crate::storage::listing::Stat;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// One entry's file.
pub(crate) struct EntryFile<'a> {
    pub(crate) key: &'a str,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Hands every entry to `visit`, and returns what it made of them in the order of the files' names.
///
/// A file that cannot be read, or is a link out of the store, becomes a warning.
pub(crate) fn scan<T>(
    place: &KnowledgeDir,
    visit: impl Fn(&EntryFile<'_>) -> Option<T>,
) -> Result<Parsed<Vec<T>>> {
    let folder = place.memory();
    let listing = match Listing::of(&folder) {
        Err(error) if read::is_absent(&error) => return Ok(Parsed::clean(Vec::new())),
        listing => listing.at("list", &folder)?,
    };
    let Some(listing) = listing else {
        return Ok(Parsed::clean(Vec::new()));
    };
    let names = listing.next(usize::MAX, |name| stem(name).is_some());
    let mut names = names.at("list", &folder)?;
    names.sort_unstable();
    let (mut made, mut warnings) = (Vec::new(), Vec::new());
    for name in &names {
        match found(place, &listing, name, &mut warnings) {
            Ok(found) => made.extend(found.and_then(|found| visit(&found))),
            Err(error) => {
                let warning = Warning::file(&listing.path_of(name), error.reason());
                warnings.push(warning);
            }
        }
    }
    Ok(Parsed {
        value: made,
        warnings,
    })
}

/// Reads an entry's file; returns `None` if it is no entry, or is gone.
fn found<'a>(
    place: &KnowledgeDir,
    listing: &Listing,
    name: &'a str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<EntryFile<'a>>> {
    let Some(key) = stem(name) else {
        return Ok(None);
    };
    let path = listing.path_of(name);
    let stat = match listing.stat(name) {
        Err(error) if read::is_absent(&error) => return Ok(None),
        stat => stat.at("read", &path)?,
    };
    match stat.kind {
        Kind::Folder => return Ok(None),
        Kind::Link if leads_out(place, &path)? => {
            let warning = "is a symbolic link out of the store, which is not followed";
            warnings.push(Warning::file(&path, warning));
            return Ok(None);
        }
        // Of one that leads nowhere, the error tells.
        Kind::Link => {
            Stat::of(&path).at("read", &path)?;
        }
        Kind::File | Kind::Other => {}
    }
    let bytes = read::bytes(&path)?;
    Ok(bytes.map(|bytes| EntryFile { key, path, bytes }))
}
