//! Signs records with a key that only this user has on this machine, so that foreign ones are recognised.
//!
//! A repository can bring any file, also in `.annals/`. What is acted on there (the records of operations,
//! the answers to requests) carries an HMAC-SHA-256 over its kind, its id and its content. The key is the
//! file `key` in the user's data folder, created at the first write that is recorded, and read only where a
//! signature is needed. So a project can be moved, and a clone, or another user's container, brings nothing
//! that is believed.

use std::fs;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;

use hmac::Hmac;
use hmac::KeyInit;
use hmac::Mac;
use sha2::Sha256;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::dir::Visibility;
use crate::storage::disk;
use crate::storage::folder;
use crate::storage::lock;
use crate::storage::root;
use crate::text::hexadecimal;

/// Length of a key, in bytes.
const LENGTH: usize = 32;

/// Length of a signature, in hexadecimal digits.
pub(crate) const DIGITS: usize = 64;

/// The kind of signed data; a signature of one kind is invalid for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureKind {
    /// The record of an operation.
    Record,
    /// The answer to a request.
    Request,
    /// An export that is not finished.
    Export,
}

impl SignatureKind {
    fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Request => "request",
            Self::Export => "export",
        }
    }
}

/// The location of this user's key, which is read when it is first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signer {
    /// The user's data folder, or `None` if it is unknown.
    folder: Option<PathBuf>,
    key: Arc<OnceLock<SigningKey>>,
}

impl Signer {
    /// Returns the signer of the user whose data folder this is.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            key: Arc::default(),
        }
    }

    /// Returns the key if there is one, and makes none.
    pub(crate) fn existing(&self) -> Option<&SigningKey> {
        if self.key.get().is_none() {
            let found = read(&self.folder.as_ref()?.join("key"))?;
            self.key.set(found).ok();
        }
        self.key.get()
    }

    /// Returns the key, made where there is none; refused where it cannot be.
    pub(crate) fn key(&self) -> Result<&SigningKey> {
        if self.existing().is_none() {
            let made = self.make().map_err(|error| {
                Error::refused(format!(
                    "annals cannot keep the key that signs records: {error}"
                ))
                .hint(
                    "point XDG_DATA_HOME at a writable folder; writes to a single file \
                           work without one, but cannot be undone",
                )
            })?;
            self.key.set(made).ok();
        }
        self.key
            .get()
            .ok_or_else(|| Error::failed("the key that signs records is gone"))
    }

    /// Several processes may come here at once: the lock lets one make the key, and the others read it.
    fn make(&self) -> Result<SigningKey> {
        let Some(folder) = &self.folder else {
            return Err(Error::failed("HOME names no absolute path"));
        };
        let folder = &root::real_path(folder)?;
        folder::create_all(folder, Visibility::Private, Visibility::Shared)?;
        fs::metadata(folder).map(drop).at("open", folder)?;
        let path = folder.join("key");
        let file = disk::open_private(&path).at("open", &path)?;
        lock::wait_for(&file, &path, lock::WAIT)?;
        if let Some(key) = read(&path) {
            return Ok(key);
        }
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::failed(format!("the system has no random bytes: {error}")))?;
        // An incomplete key was never used: the process that created it was killed before it could sign.
        let text = hexadecimal(&bytes) + "\n";
        disk::set_len(&file, 0)
            .and_then(|()| disk::write_at(&file, 0, text.as_bytes()))
            .and_then(|()| disk::sync(&file))
            .at("write", &path)?;
        disk::sync_directory(folder).at("write", folder)?;
        Ok(SigningKey(bytes))
    }
}

/// The secret of one user on one machine.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SigningKey([u8; LENGTH]);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl SigningKey {
    /// Signs parts under an id, as hexadecimal digits.
    pub(crate) fn sign(&self, kind: SignatureKind, id: &str, parts: &[&[u8]]) -> Result<String> {
        let mac = self.mac(kind, id, parts)?;
        Ok(hexadecimal(&mac.finalize().into_bytes()))
    }

    /// Returns whether this key signed these parts under this id.
    pub(crate) fn has_signed(
        &self,
        kind: SignatureKind,
        id: &str,
        parts: &[&[u8]],
        signature: &[u8],
    ) -> bool {
        let (Ok(mac), Some(signature)) = (self.mac(kind, id, parts), bytes_of(signature)) else {
            return false;
        };
        mac.verify_slice(&signature).is_ok()
    }

    fn mac(&self, kind: SignatureKind, id: &str, parts: &[&[u8]]) -> Result<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .map_err(|error| Error::failed(format!("the key cannot sign: {error}")))?;
        for part in [kind.name().as_bytes(), id.as_bytes()].iter().chain(parts) {
            // With its length before it, so that no two lists of parts are the same bytes.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        Ok(mac)
    }
}

/// Reads a key that is whole.
fn read(path: &Path) -> Option<SigningKey> {
    let file = File::open(path).ok()?;
    let mut text = Vec::with_capacity(2 * LENGTH + 2);
    file.take(2 * LENGTH as u64 + 2)
        .read_to_end(&mut text)
        .ok()?;
    let bytes = bytes_of(text.strip_suffix(b"\n")?)?;
    Some(SigningKey(bytes.try_into().ok()?))
}

fn bytes_of(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_its_kind_id_and_parts_alone() {
        let folder = tempfile::tempdir().unwrap();
        let signer = Signer::new(Some(folder.path().join("a/annals")));
        assert!(signer.existing().is_none());
        let key = signer.key().unwrap();
        let signature = key
            .sign(SignatureKind::Record, "1", &[b"ab", b"c"])
            .unwrap();
        assert_eq!(signature.len(), DIGITS);
        let holds =
            |kind, id, parts: &[&[u8]]| key.has_signed(kind, id, parts, signature.as_bytes());
        assert!(holds(SignatureKind::Record, "1", &[b"ab", b"c"]));
        assert!(!holds(SignatureKind::Request, "1", &[b"ab", b"c"]));
        assert!(!holds(SignatureKind::Record, "2", &[b"ab", b"c"]));
        assert!(!holds(SignatureKind::Record, "1", &[b"a", b"bc"]));
        let again = Signer::new(Some(folder.path().join("a/annals")));
        assert_eq!(again.existing(), Some(key));
        let other = Signer::new(Some(folder.path().join("b")));
        let parts: [&[u8]; 2] = [b"ab", b"c"];
        let other = other.key().unwrap();
        assert!(!other.has_signed(SignatureKind::Record, "1", &parts, signature.as_bytes()));
        assert!(!other.has_signed(SignatureKind::Record, "1", &parts, b"no digits"));
    }

    #[test]
    fn many_processes_at_once_make_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("annals");
        let keys: Vec<SigningKey> = std::thread::scope(|scope| {
            let made = || Signer::new(Some(place.clone())).key().unwrap().clone();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(made)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_the_key_and_one_that_is_torn_is_made_anew() {
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
    fn a_home_that_cannot_be_written_is_refused_with_a_next_step() {
        for folder in [None, Some(PathBuf::from("/dev/null/annals"))] {
            let error = Signer::new(folder).key().unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Refused);
            assert!(error.hint.unwrap().contains("XDG_DATA_HOME"));
        }
    }
}
