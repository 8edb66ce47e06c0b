//! Compares CONSTRAINTS.md and DECISIONS.md with the last commit: nothing may be removed, and no entry
//! changed.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::git::Object;
use crate::ledger::check::findings::Findings;
use crate::ledger::constraints::{Bullet, Constraints};
use crate::ledger::decisions::{DecisionEntry, Decisions};
use crate::ledger::files::{CONSTRAINTS, DECISIONS, LedgerFolder};
use crate::ledger::similarity::{bullet_words, without_note};
use crate::ledger::state::is_filled;
use crate::project::Project;
use crate::ranking::WordSet;
use crate::text::clip;

/// Maximum number of characters of a bullet or title in a message.
const MAX_SHOWN_CHARS: usize = 60;

/// The merge-only and the append-only file of the last commit; empty if it does not contain them.
#[derive(Debug, Default)]
pub(crate) struct CommittedFiles {
    pub(crate) constraints: String,
    pub(crate) decisions: String,
}

impl CommittedFiles {
    pub(crate) fn read(project: &Project, folder: &LedgerFolder) -> Result<Self> {
        let names = [CONSTRAINTS, DECISIONS].map(|name| folder.git_path(name));
        let [Some(constraints), Some(decisions)] = names else {
            return Ok(Self::default());
        };
        if project.git.head()?.is_none() {
            return Ok(Self::default());
        }
        let Some(objects) = project.git.objects()? else {
            return Ok(Self::default());
        };
        let names = [constraints, decisions].map(|path| format!("HEAD:{path}"));
        let mut found = objects.read(&names)?.into_iter().map(text);
        Ok(Self {
            constraints: found.next().unwrap_or_default(),
            decisions: found.next().unwrap_or_default(),
        })
    }
}

/// Returns the text of a committed file; an empty one if it is not UTF-8 or too large.
fn text(object: Option<Object>) -> String {
    match object {
        Some(Object::Blob(bytes)) => String::from_utf8(bytes).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Reports the bullets of the last commit that are missing, unless edited in place or moved to Superseded.
pub(crate) fn check_constraints(before: &str, now: &str, findings: &mut Findings<'_>) {
    let (before, now) = (Constraints::parse(before), Constraints::parse(now));
    let old_texts: HashSet<&str> = before.bullets.iter().map(|old| &*old.text).collect();
    let mut edits: Vec<WordSet> = now
        .active()
        .filter(|bullet| has_note(bullet) && !old_texts.contains(&*bullet.text))
        .map(|bullet| bullet_words(&bullet.text))
        .collect();
    let new_texts: HashSet<&str> =
        now.bullets.iter().map(|bullet| without_note(&bullet.text)).collect();
    let superseded: Vec<&Bullet> =
        now.bullets.iter().filter(|bullet| now.is_superseded(bullet)).collect();
    let gone = before.bullets.iter().filter(|old| {
        let text = without_note(&old.text);
        let is_kept =
            new_texts.contains(text) || superseded.iter().any(|bullet| bullet.text.contains(text));
        is_filled(&old.text) && !is_kept
    });
    for old in gone {
        let words = bullet_words(&old.text);
        let edit = edits.iter().position(|new| !new.is_disjoint(&words));
        if let Some(edit) = edit {
            edits.remove(edit);
            continue;
        }
        let message = format!(
            "no longer contains {:?}, which is in the last commit: move a bullet to Superseded, \
             or edit it in place with `(updated YYYY-MM-DD)`",
            clip(&old.text, MAX_SHOWN_CHARS)
        );
        findings.add("merge-only", None, message);
    }
}

fn has_note(bullet: &Bullet) -> bool {
    without_note(&bullet.text) != bullet.text.trim_end()
}

/// Reports the entries of the last commit that are missing or changed.
pub(crate) fn check_decisions(before: &str, now: &str, findings: &mut Findings<'_>) {
    let (found, current) = (Decisions::parse(before), Decisions::parse(now));
    let mut by_title: HashMap<_, Vec<&DecisionEntry>> = HashMap::new();
    for entry in &current.entries {
        let key = (entry.date, entry.title.as_str());
        by_title.entry(key).or_default().push(entry);
    }
    for old in &found.entries {
        let candidates = by_title.get(&(old.date, old.title.as_str()));
        let Some((candidates, first)) = candidates.and_then(|all| Some((all, all.first()?.line)))
        else {
            let day = old.date.map(|date| format!("{date} ")).unwrap_or_default();
            let title = clip(&old.title, MAX_SHOWN_CHARS);
            let message =
                format!("no longer contains the entry {day}{title:?}, which is in the last commit");
            findings.add("append-only", None, message);
            continue;
        };
        let old = lines(before, old);
        if !candidates.iter().any(|entry| lines(now, entry) == old) {
            let message = "differs from the last commit: entries are never edited; add a new entry about the change";
            findings.add("append-only", first, message);
        }
    }
}

fn lines<'a>(text: &'a str, entry: &DecisionEntry) -> Vec<&'a str> {
    let written = text.get(entry.range.clone()).unwrap_or_default();
    written.trim_end().lines().map(str::trim_end).collect()
}
