//! Stores the answers to requests, so that a repeated request is answered without being executed twice.
//!
//! `requests-<store>.jsonl` in `.annals/` has one line a request. The line is one of the transaction's
//! own changes, so that it is there if and only if the rest is; it is an append, which `undo` leaves. Each
//! line is signed: one that this user did not write answers nothing.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::Applied;
use crate::storage::Changes;
use crate::storage::Storage;
use crate::storage::Store;
use crate::storage::change::Change;
use crate::storage::disk;
use crate::storage::foreign;
use crate::storage::signature::SignatureKind;
use crate::storage::signature::Signer;
use crate::warning::Warning;

/// Minimum number of requests stored; the oldest are dropped at twice that number.
const MIN_REQUESTS: usize = 1_000;

const MAX_ID: usize = 200;

/// The caller's identifier of one write, which it may repeat if it did not receive the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    id: String,
    command: &'static str,
}

impl WriteRequest {
    /// Returns the request of a command: `Request::new("4f1c", "entry write")`.
    pub fn new(id: &str, command: &'static str) -> Result<Self> {
        let is_name = !id.trim().is_empty() && !id.chars().any(char::is_control);
        if !is_name || id.chars().count() > MAX_ID {
            return Err(
                Error::usage(format!("a request id has 1 to {MAX_ID} visible characters"))
                    .hint("use a UUID, or a hash of the request"),
            );
        }
        let id = id.to_owned();
        Ok(Self { id, command })
    }
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    command: String,
    answer: Box<RawValue>,
    #[serde(default)]
    signature: String,
}

impl Line {
    fn parts(&self) -> [&[u8]; 2] {
        [self.command.as_bytes(), self.answer.get().as_bytes()]
    }

    /// Returns whether this user wrote the line.
    fn is_own(&self, signer: &Signer) -> bool {
        signer.existing().is_some_and(|key| {
            let signature = self.signature.as_bytes();
            key.has_signed(SignatureKind::Request, &self.id, &self.parts(), signature)
        })
    }
}

impl Storage {
    /// Runs [`Storage::transact`], unless it was done for this request already: then the answer is what it was.
    ///
    /// The answer is remembered with the changes, both or neither. [`Applied::repeated`] says that
    /// nothing was done. One request is always asked with the same stores.
    pub fn transact_once<T: Serialize + DeserializeOwned>(
        &self,
        operation: &str,
        stores: &[Store],
        request: Option<&WriteRequest>,
        mut work: impl FnMut() -> Result<(T, Changes)>,
    ) -> Result<(T, Applied)> {
        let (Some(request), Some(store)) = (request, stores.iter().min()) else {
            return self.transact(operation, stores, work);
        };
        let name = format!("requests-{}.jsonl", store.as_str());
        let mut repeated = false;
        let mut aside = None;
        let (answer, mut applied) = self.run(operation, stores, || {
            if aside.is_none() {
                aside = self.set_foreign_aside(&name)?;
            }
            if let Some(answer) = self.answered(&name, request)? {
                repeated = true;
                return Ok((answer, Changes::new(), None));
            }
            let (answer, changes) = work()?;
            let line = self.line(&name, request, &answer)?;
            Ok((answer, changes, Some(line)))
        })?;
        applied.repeated = repeated;
        applied.warnings.extend(aside);
        Ok((answer, applied))
    }

    /// Drops the oldest requests beyond what is kept; under the lock of their store.
    pub(crate) fn trim_requests(&self, remembered: &Change<Vec<u8>>) -> Result<()> {
        let Some(name) = remembered.path().file_name().and_then(|name| name.to_str()) else {
            return Ok(());
        };
        let path = self.own_file(name);
        let Some(bytes) = self.cache(name)? else {
            return Ok(());
        };
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.len() < 2 * MIN_REQUESTS {
            return Ok(());
        }
        let kept = lines[lines.len() - MIN_REQUESTS..].concat();
        let temporary = self.own_file(&format!("{name}.tmp"));
        disk::remove_file(&temporary).at("remove", &temporary)?;
        let file = disk::create_new(&temporary).at("create", &temporary)?;
        disk::write(&file, &kept)
            .and_then(|()| disk::sync(&file))
            .at("write", &temporary)?;
        disk::rename(&temporary, &path).at("replace", &path)
    }

    /// Sets the file aside where not one line in it is this user's: a link, a clone's, an older version's.
    fn set_foreign_aside(&self, name: &str) -> Result<Option<Warning>> {
        let path = self.own_file(name);
        if self.is_dry_run() || path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let bytes = self.cache(name)?;
        let is_foreign = bytes.is_none_or(|bytes| {
            let mut lines = bytes.split(|byte| *byte == b'\n').rev();
            let parsed = |line: &[u8]| serde_json::from_slice::<Line>(line).ok();
            let is_own = |line| parsed(line).is_some_and(|line| line.is_own(self.signer()));
            !bytes.is_empty() && !lines.any(is_own)
        });
        if !is_foreign {
            return Ok(None);
        }
        foreign::set_aside(self.folder(), &[path])
    }

    fn answered<T: DeserializeOwned>(
        &self,
        name: &str,
        request: &WriteRequest,
    ) -> Result<Option<T>> {
        let Some(bytes) = self.cache(name)? else {
            return Ok(None);
        };
        for line in bytes.split(|byte| *byte == b'\n').rev() {
            // An invalid line is the result of a power failure.
            let Ok(line) = serde_json::from_slice::<Line>(line) else {
                continue;
            };
            if line.id != request.id || !line.is_own(self.signer()) {
                continue;
            }
            if line.command != request.command {
                let (id, command) = (&request.id, line.command);
                return Err(Error::refused(format!(
                    "the request id `{id}` was used for `{command}`"
                ))
                .hint("use a new id for each write"));
            }
            let answer = serde_json::from_str(line.answer.get());
            return answer
                .map(Some)
                .map_err(|error| Error::failed(format!("cannot repeat the answer: {error}")));
        }
        Ok(None)
    }

    fn line<T: Serialize>(
        &self,
        name: &str,
        request: &WriteRequest,
        answer: &T,
    ) -> Result<Change<Vec<u8>>> {
        let unwritable = |error| Error::failed(format!("cannot remember the answer: {error}"));
        let mut line = Line {
            id: request.id.clone(),
            command: request.command.to_owned(),
            answer: serde_json::value::to_raw_value(answer).map_err(unwritable)?,
            signature: String::new(),
        };
        if !self.is_dry_run() {
            let key = self.signer().key()?;
            line.signature = key.sign(SignatureKind::Request, &line.id, &line.parts())?;
        }
        let mut lines = serde_json::to_vec(&line).map_err(unwritable)?;
        lines.push(b'\n');
        let folder = self.folder().path();
        let folder: PathBuf = match folder.strip_prefix(self.root()) {
            Ok(below) => below.to_owned(),
            Err(_) => {
                return Err(Error::failed("requests are remembered in projects only"));
            }
        };
        let path = folder.join(name);
        Ok(Change::Append { path, lines })
    }
}
