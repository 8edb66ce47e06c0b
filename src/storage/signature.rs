//! Signs records with a key that only this user has on this machine, so that foreign ones are recognised.
//!
//! A repository can contain any file, even in `.annals/`. The records of operations there, which annals trusts,
//! carry an HMAC-SHA-256 over their id and content. The key is the file `key` in the user's data folder. It is
//! created by the first recorded write, and read only when a signature is needed. So a project can be moved, but
//! records from a clone or another user are not trusted.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::{At, Error, Result};
use crate::storage::disk::{Access, Create, Spot, Visibility};
use crate::storage::{disk, lock, root};
use crate::text::hexadecimal;

/// Length of a key, in bytes.
const LENGTH: usize = 32;

/// Length of a signature, in hexadecimal digits.
pub(crate) const DIGITS: usize = 64;

type Key = [u8; LENGTH];

/// This user's key, which is read when it is first needed.
#[derive(Clone, Default)]
pub(crate) struct Signer {
    /// The user's data folder, or `None` if it is unknown.
    folder: Option<PathBuf>,
    key: Arc<OnceLock<Key>>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer")
    }
}

impl Signer {
    /// Returns the signer of the user whose data folder this is.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, key: Arc::default() }
    }

    /// Returns the signature of a record's line as hexadecimal digits; creates the key if it is missing.
    pub(crate) fn sign(&self, id: u64, line: &[u8]) -> Result<String> {
        Ok(hexadecimal(&mac(self.key()?, id, line)?.finalize().into_bytes()))
    }

    /// Returns whether this user signed this line as the record with this id.
    pub(crate) fn has_signed(&self, id: u64, line: &[u8], signature: &[u8]) -> bool {
        let mac = self.existing().and_then(|key| mac(key, id, line).ok());
        let signature = decode(signature);
        mac.zip(signature).is_some_and(|(mac, signature)| mac.verify_slice(&signature).is_ok())
    }

    fn existing(&self) -> Option<&Key> {
        if self.key.get().is_none() {
            let key = read(&self.folder.as_ref()?.join("key"))?;
            self.key.set(key).ok();
        }
        self.key.get()
    }

    /// Returns the key, and creates it if it is missing.
    pub(crate) fn key(&self) -> Result<&Key> {
        if self.existing().is_none() {
            let key = self.create().map_err(|error| {
                Error::refused(format!("annals cannot keep the key that signs records: {error}"))
                    .hint(
                        "set XDG_DATA_HOME to a writable folder; without one, a single file \
                     can be written, but not undone",
                    )
            })?;
            self.key.set(key).ok();
        }
        self.key.get().ok_or_else(|| Error::failed("the key that signs records is gone"))
    }

    /// Creates the key under a lock; if another process has created it meanwhile, returns that one.
    fn create(&self) -> Result<Key> {
        let Some(folder) = &self.folder else {
            return Err(Error::failed("HOME is not an absolute path"));
        };
        let folder = root::real_path(folder)?;
        disk::create_all(&folder, Visibility::Private, Visibility::Shared).at("create", &folder)?;
        let path = root::real_path(&folder.join("key"))?;
        let file = Spot::new(&path)
            .and_then(|key| key.open(Access::Write, Create::IfMissing(Visibility::Private)))
            .at("open", &path)?;
        lock::wait_for(&file, &path, lock::WAIT)?;
        if let Some(key) = read(&path) {
            return Ok(key);
        }
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key)
            .map_err(|error| Error::failed(format!("the system has no random bytes: {error}")))?;
        // An incomplete key was never used, because its process was killed before it could sign.
        let text = hexadecimal(&key) + "\n";
        disk::set_len(&file, 0)
            .and_then(|()| disk::write_at(&file, 0, text.as_bytes()))
            .and_then(|()| disk::sync(&file))
            .and_then(|()| disk::sync_directory(root::folder_of(&path)))
            .at("write", &path)?;
        Ok(key)
    }
}

fn mac(key: &Key, id: u64, line: &[u8]) -> Result<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .map_err(|error| Error::failed(format!("the key cannot sign: {error}")))?;
    for part in [b"record", id.to_string().as_bytes(), line] {
        // The length before each part makes different parts different bytes.
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    Ok(mac)
}

/// Reads a complete key.
fn read(path: &Path) -> Option<Key> {
    let file = File::open(path).ok()?;
    let mut text = Vec::with_capacity(2 * LENGTH + 2);
    file.take(2 * LENGTH as u64 + 2).read_to_end(&mut text).ok()?;
    decode(text.strip_suffix(b"\n")?)?.try_into().ok()
}

/// Decodes hexadecimal digits.
fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn concurrent_processes_create_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("annals");
        let keys: Vec<Key> = std::thread::scope(|scope| {
            let key = || Signer::new(Some(place.clone())).key().copied().unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(key)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[cfg(unix)]
    #[test]
    fn the_key_is_private_and_an_incomplete_one_is_replaced() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("annals");
        let key = Signer::new(Some(place.clone())).key().copied().unwrap();
        let file = place.join("key");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&place)), (0o600, 0o700));
        disk::set_len(&fs::OpenOptions::new().write(true).open(&file).unwrap(), 40).unwrap();
        let signer = Signer::new(Some(place));
        assert_eq!(signer.existing(), None);
        assert_ne!(signer.key().unwrap(), &key);
    }

    #[test]
    fn an_unwritable_home_is_refused_with_a_hint() {
        for folder in [None, Some(PathBuf::from("/dev/null/annals"))] {
            let error = Signer::new(folder).key().unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Refused);
            assert!(error.hint.unwrap().contains("XDG_DATA_HOME"));
        }
    }
}
