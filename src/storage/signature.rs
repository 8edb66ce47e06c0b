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

/// This user's key, which is read when it is first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signer {
    /// The user's data folder, or `None` if it is unknown.
    folder: Option<PathBuf>,
    key: Arc<OnceLock<SigningKey>>,
}

impl Signer {
    /// Returns the signer of the user whose data folder this is.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, key: Arc::default() }
    }

    /// Returns the key if it exists.
    pub(crate) fn existing(&self) -> Option<&SigningKey> {
        if self.key.get().is_none() {
            let key = read(&self.folder.as_ref()?.join("key"))?;
            self.key.set(key).ok();
        }
        self.key.get()
    }

    /// Returns the key, and creates it if it is missing.
    pub(crate) fn key(&self) -> Result<&SigningKey> {
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
    fn create(&self) -> Result<SigningKey> {
        let Some(folder) = &self.folder else {
            return Err(Error::failed("HOME is not an absolute path"));
        };
        let folder = &root::real_path(folder)?;
        disk::create_all(folder, Visibility::Private, Visibility::Shared).at("create", folder)?;
        let path = folder.join("key");
        let file = Spot::new(&path)
            .and_then(|key| key.open_users(Access::Write, Create::IfMissing(Visibility::Private)))
            .at("open", &path)?;
        lock::wait_for(&file, &path, lock::WAIT)?;
        if let Some(key) = read(&path) {
            return Ok(key);
        }
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::failed(format!("the system has no random bytes: {error}")))?;
        // An incomplete key was never used, because its process was killed before it could sign.
        let text = hexadecimal(&bytes) + "\n";
        disk::set_len(&file, 0)
            .and_then(|()| disk::write_at(&file, 0, text.as_bytes()))
            .and_then(|()| disk::sync(&file))
            .at("write", &path)?;
        disk::sync_directory(folder).at("write", folder)?;
        Ok(SigningKey(bytes))
    }
}

/// The secret key of one user on one machine.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SigningKey([u8; LENGTH]);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl SigningKey {
    /// Returns the signature of a record's line as hexadecimal digits.
    pub(crate) fn sign(&self, id: u64, line: &[u8]) -> Result<String> {
        Ok(hexadecimal(&self.mac(id, line)?.finalize().into_bytes()))
    }

    /// Returns whether this key signed this line as the record with this id.
    pub(crate) fn has_signed(&self, id: u64, line: &[u8], signature: &[u8]) -> bool {
        let (Ok(mac), Some(signature)) = (self.mac(id, line), decode(signature)) else {
            return false;
        };
        mac.verify_slice(&signature).is_ok()
    }

    fn mac(&self, id: u64, line: &[u8]) -> Result<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .map_err(|error| Error::failed(format!("the key cannot sign: {error}")))?;
        for part in [b"record", id.to_string().as_bytes(), line] {
            // The length before each part makes different parts different bytes.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        Ok(mac)
    }
}

/// Reads a complete key.
fn read(path: &Path) -> Option<SigningKey> {
    let file = File::open(path).ok()?;
    let mut text = Vec::with_capacity(2 * LENGTH + 2);
    file.take(2 * LENGTH as u64 + 2).read_to_end(&mut text).ok()?;
    let bytes = decode(text.strip_suffix(b"\n")?)?;
    Some(SigningKey(bytes.try_into().ok()?))
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
        let keys: Vec<SigningKey> = std::thread::scope(|scope| {
            let key = || Signer::new(Some(place.clone())).key().unwrap().clone();
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
        let key = Signer::new(Some(place.clone())).key().unwrap().clone();
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
