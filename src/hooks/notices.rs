//! Tracks what a session was told and what is pending for its main conversation, so that each is said only
//! once.
//!
//! ```text
//! .annals/notices.json   [{"session": "7f3c…", "what": "phase 4 of 3 plans", "at": 1772366400, "waits": "annals: …"}]
//! ```

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::hooks::input::Input;
use crate::project::Project;

const FILE: &str = "notices.json";

/// Maximum number of notices that are kept, the latest.
const MAX_NOTICES: usize = 64;

/// A notice that a session was given, or that is pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Notice {
    session: String,
    what: String,
    /// The time, in seconds since 1970.
    at: i64,
    /// The text, while it is pending for the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<String>,
}

/// Returns whether a session is given a notice for the first time, or the first time within some seconds.
pub(crate) fn is_first(
    project: &Project,
    input: &Input,
    what: &str,
    seconds: Option<i64>,
) -> Result<bool> {
    let Some(session) = input.session() else {
        return Ok(true);
    };
    let now = project.clock.now().timestamp();
    let mut is_first = true;
    change(project, |all| {
        let counts = |notice: &Notice| seconds.is_none_or(|seconds| now - notice.at < seconds);
        let earlier = all.iter_mut().rev().find(|notice| notice.is(session, what));
        match earlier.filter(|notice| counts(notice)) {
            // A pending text is delivered now.
            Some(earlier) => is_first = earlier.waits.take().is_some(),
            None => all.push(Notice::new(session, what, now, None)),
        }
        is_first
    })?;
    Ok(is_first)
}

/// Queues a text for the main conversation of a session, unless the session already had the same notice.
pub(crate) fn queue(project: &Project, input: &Input, what: &str, text: &str) -> Result<()> {
    let Some(session) = input.session() else {
        return Ok(());
    };
    let now = project.clock.now().timestamp();
    change(project, |all| {
        let is_new = !all.iter().any(|notice| notice.is(session, what));
        if is_new {
            all.push(Notice::new(session, what, now, Some(text.to_owned())));
        }
        is_new
    })
}

/// Removes and returns the texts that are pending for the main conversation of a session.
pub(crate) fn take_waiting(project: &Project, input: &Input) -> Result<Vec<String>> {
    let Some(session) = input.session() else {
        return Ok(Vec::new());
    };
    let is_waiting = |notice: &Notice| notice.session == session && notice.waits.is_some();
    // There is usually nothing pending; then no file is created or locked.
    let bytes = project.storage().cache(FILE)?;
    if !bytes.is_some_and(|bytes| read(&bytes).iter().any(is_waiting)) {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    change(project, |all| {
        let waiting = all.iter_mut().filter(|notice| is_waiting(notice));
        texts.extend(waiting.filter_map(|notice| notice.waits.take()));
        !texts.is_empty()
    })?;
    Ok(texts)
}

impl Notice {
    fn new(session: &str, what: &str, at: i64, waits: Option<String>) -> Self {
        Self { session: session.to_owned(), what: what.to_owned(), at, waits }
    }

    fn is(&self, session: &str, what: &str) -> bool {
        self.session == session && self.what == what
    }
}

/// Updates the list under a lock; `change` returns whether it changed anything.
fn change(project: &Project, change: impl FnOnce(&mut Vec<Notice>) -> bool) -> Result<()> {
    project.storage().update_cache(FILE, |bytes| {
        let mut all = read(bytes);
        if !change(&mut all) {
            return None;
        }
        let surplus = all.len().saturating_sub(MAX_NOTICES);
        all.drain(..surplus);
        serde_json::to_vec(&all).ok()
    })
}

/// Parses the list; a corrupt one counts as empty.
fn read(bytes: &[u8]) -> Vec<Notice> {
    serde_json::from_slice(bytes).unwrap_or_default()
}
