//! Caches values derived from other files, each valid while the fingerprint of those files is the same.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::storage::Storage;

/// A derived value in its cache.
#[derive(Serialize, Deserialize)]
struct Derived<T> {
    /// The version of annals that derived it, because another version may derive another value.
    version: String,
    fingerprint: String,
    value: T,
}

impl Storage {
    /// Returns the value that this version cached for this fingerprint; an unreadable cache counts as absent.
    pub(crate) fn derived<T: DeserializeOwned>(&self, name: &str, fingerprint: &str) -> Option<T> {
        let bytes = self.cache(name).ok().flatten()?;
        let cached: Derived<T> = serde_json::from_slice(&bytes).ok()?;
        let is_valid =
            cached.fingerprint == fingerprint && cached.version == env!("CARGO_PKG_VERSION");
        is_valid.then_some(cached.value)
    }

    /// Caches a value for a fingerprint of the files it is derived from.
    pub(crate) fn write_derived<T: Serialize>(&self, name: &str, fingerprint: String, value: &T) {
        let derived = Derived { version: env!("CARGO_PKG_VERSION").to_owned(), fingerprint, value };
        if let Ok(bytes) = serde_json::to_vec(&derived) {
            // If the cache cannot be written, the next run derives the value again.
            self.write_cache(name, &bytes).ok();
        }
    }
}
