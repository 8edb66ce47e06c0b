//! What a session was told already, and what still waits for its main conversation, so that each is said once.
//!
//! ```text
//! .annals/notices.json   [{"session": "7f3c…", "what": "phase 4 of 3 plans", "at": 1772366400, "waits": "annals: …"}]
//! ```

use serde::Deserialize;
use serde::Serialize;

use crate::error::Result;
use crate::hooks::input::Input;
use crate::project::Project;

const FILE: &str = "notices.json";

/// How many are kept: those of the last sessions.
const MAX_NOTICES: usize = 64;

/// One thing that a session was told, or is to be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Notice {
    session: String,
    what: String,
    /// When, in seconds since 1970.
    at: i64,
    /// The text, while it waits for the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<String>,
}

/// Returns whether this is the first time that a session is told something; within some seconds, where only those count.
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
            // What waited is said now.
            Some(earlier) => is_first = earlier.waits.take().is_some(),
            None => all.push(Notice::new(session, what, now, None)),
        }
        is_first
    })?;
    Ok(is_first)
}

/// Leaves a text for the main conversation of a session, unless that was told the same before.
pub(crate) fn leave(project: &Project, input: &Input, what: &str, text: &str) -> Result<()> {
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

/// Returns what waits for the main conversation of a session; it waits no longer.
pub(crate) fn take_waiting(project: &Project, input: &Input) -> Result<Vec<String>> {
    let Some(session) = input.session() else {
        return Ok(Vec::new());
    };
    let is_waiting = |notice: &Notice| notice.session == session && notice.waits.is_some();
    // Nearly always there is nothing, and then nothing is made or locked.
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
        Self {
            session: session.to_owned(),
            what: what.to_owned(),
            at,
            waits,
        }
    }

    fn is(&self, session: &str, what: &str) -> bool {
        self.session == session && self.what == what
    }
}

/// Changes the list, one process at a time; `change` says whether it did.
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

/// Reads the list; one that is damaged is as good as none.
fn read(bytes: &[u8]) -> Vec<Notice> {
    serde_json::from_slice(bytes).unwrap_or_default()
}
