//! Turns the reading of transcripts on and off in the user's own settings, and removes its indexes.

use std::path::PathBuf;

use sha2::{Digest, Sha256};
use toml_edit::{Array, DocumentMut, value};

use crate::error::{Error, Result};
use crate::project::{Origin, Project};
use crate::sessions::client::Client;
use crate::storage::{Changes, Storage, Store, read};
use crate::text::hexadecimal;

/// The key in the user's settings.
const KEY: &str = "sessions";

/// Sets whose transcripts are read, in the user's own settings; returns the file if it was changed.
pub fn switch(project: &Project, clients: &[Client]) -> Result<Option<PathBuf>> {
    if let Origin::Environment { variable } = project.settings.origin(KEY) {
        let message =
            format!("{variable} says whose transcripts are read, and comes before the file");
        return Err(Error::usage(message).hint(format!("unset {variable}")));
    }
    let folder = project.environment.config_dir();
    let folder = folder.ok_or_else(|| Error::failed("HOME is not set to an absolute path"))?;
    let path = folder.join("config.toml");
    let storage = project.storage_of_user(&folder)?;
    let ((), applied) = storage.transact("sessions", &[Store::Context], || {
        let mut changes = Changes::new();
        let old = read::users_text(&path)?.map(|text| text.value);
        let text = old.clone().unwrap_or_default();
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            Error::refused(format!("is not valid TOML: {}", error.message())).at(&path, None)
        })?;
        if clients.is_empty() {
            document.remove(KEY);
        } else {
            document[KEY] = value(clients.iter().map(|client| client.as_str()).collect::<Array>());
        }
        let new = document.to_string();
        match old {
            Some(old) if old == new => {}
            None if clients.is_empty() => {}
            _ if new.trim().is_empty() => changes.delete(&path)?,
            old => changes.edit(&path, old.map(String::into_bytes), new.into_bytes())?,
        }
        Ok(((), changes))
    })?;
    Ok(applied.changed.into_iter().next().map(|_| path))
}

/// Returns the storage of a project's index in the user's cache folder; `None` without such a folder.
pub(crate) fn index_storage(project: &Project) -> Option<Storage> {
    let digest = Sha256::digest(project.root.as_os_str().as_encoded_bytes());
    storage_in(project, &hexadecimal(&digest[..8]))
}

/// Removes the index of this project, or those of all projects; returns whether there was one.
pub fn forget(project: &Project, all: bool) -> Result<bool> {
    let storage = if all { storage_in(project, "") } else { index_storage(project) };
    storage.map_or(Ok(false), |storage| storage.remove_caches())
}

fn storage_in(project: &Project, name: &str) -> Option<Storage> {
    let folder = project.environment.cache_dir()?.join("sessions").join(name);
    Some(Storage::new(&project.root, project.clock).with_folder(&folder).dry_run(project.dry_run))
}
