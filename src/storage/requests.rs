//! Stores the answers to requests, so that a repeated request is answered but not executed again.
//!
//! `requests-<store>.jsonl` in `.annals/` has one line per request. The line is one of the transaction's
//! changes, so it is written if and only if the others are; it is an append, which `undo` does not remove.
//! Each line is signed; lines that this user did not sign are ignored.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{At, Error, Result};
use crate::storage::change::Change;
use crate::storage::signature::{SignatureKind, Signer};
use crate::storage::{Applied, Changes, Storage, Store, disk, foreign};
use crate::warning::Warning;

/// Minimum number of requests stored; the oldest are deleted at twice that number.
const MIN_REQUESTS: usize = 1_000;

const MAX_ID: usize = 200;

/// The caller's id of one write, which it may repeat if it did not receive the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    id: String,
    command: &'static str,
}

impl WriteRequest {
    /// Returns the request of a command, such as `WriteRequest::new("4f1c", "entry write")`.
    pub fn new(id: &str, command: &'static str) -> Result<Self> {
        let is_name = !id.trim().is_empty() && !id.chars().any(char::is_control);
        if !is_name || id.chars().count() > MAX_ID {
            return Err(Error::usage(format!("a request id has 1 to {MAX_ID} visible characters"))
                .hint("use a UUID, or a hash of the request"));
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
    /// Runs [`Storage::transact`], unless this request was executed before: then returns the stored answer.
    ///
    /// The answer is stored together with the changes. [`Applied::repeated`] tells that nothing was done. A
    /// request must be repeated with the same stores.
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
            if let Some(answer) = self.stored_answer(&name, request)? {
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

    /// Deletes the oldest requests beyond the limit, under the lock of their store.
    pub(crate) fn trim_requests(&self, answer: &Change<Vec<u8>>) -> Result<()> {
        let Some(name) = answer.path().file_name().and_then(|name| name.to_str()) else {
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
        let newest = lines[lines.len() - MIN_REQUESTS..].concat();
        let temporary = self.own_file(&format!("{name}.tmp"));
        disk::remove_file(&temporary).at("remove", &temporary)?;
        let file = disk::create_new(&temporary).at("create", &temporary)?;
        disk::write(&file, &newest).and_then(|()| disk::sync(&file)).at("write", &temporary)?;
        disk::rename(&temporary, &path).at("replace", &path)
    }

    /// Sets the file aside if this user wrote none of its lines: a link, or from a clone or an older version.
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

    fn stored_answer<T: DeserializeOwned>(
        &self,
        name: &str,
        request: &WriteRequest,
    ) -> Result<Option<T>> {
        let Some(bytes) = self.cache(name)? else {
            return Ok(None);
        };
        for line in bytes.split(|byte| *byte == b'\n').rev() {
            // A power failure can leave an invalid line.
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
        let unwritable = |error| Error::failed(format!("cannot store the answer: {error}"));
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
                return Err(Error::failed("answers are only stored in projects"));
            }
        };
        let path = folder.join(name);
        Ok(Change::Append { path, lines })
    }
}
