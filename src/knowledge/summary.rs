//! Summarises active entries in a line each, for the start of a session, and lists all with their links.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::knowledge::entry::{links, title_line};
use crate::knowledge::store::scan;
use crate::knowledge::{Confidence, Entry, KnowledgeDir};
use crate::project::Project;
use crate::storage::read;
use crate::text::one_line;
use crate::warning::Parsed;

/// Number of days by which each link to an entry makes it count as newer.
const DAYS_PER_LINK: i64 = 30;

/// An active entry in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntrySummary {
    /// Its key.
    pub key: String,
    /// Its title.
    pub title: Option<String>,
    /// The text below the title, on one line.
    pub text: String,
    /// How certain its author was.
    pub confidence: Option<Confidence>,
    /// The day from which its age is counted.
    pub dated: Option<NaiveDate>,
    /// Number of active entries that link to it.
    pub cited: usize,
}

impl EntrySummary {
    /// Returns the entry as a reference: its key, its title and its first sentence, or with `whole` its text.
    pub fn line(&self, whole: bool) -> String {
        let said = if whole { self.text.as_str() } else { first_sentence(&self.text) };
        let title = self.title.as_deref().unwrap_or_default();
        let same = |text: &str| text.trim_end_matches('.').to_lowercase();
        // A title made of the text itself would only repeat it.
        let begins = same(title.trim_end_matches('…'));
        let parts = match (title, said) {
            (title, "") => title.to_owned(),
            (_, said) if same(said).starts_with(&begins) => said.to_owned(),
            (title, said) => format!("{title}: {said}"),
        };
        let doubt = match self.confidence {
            Some(Confidence::Low) => " (unconfirmed)",
            _ => "",
        };
        format!("[[{}]] {parts}{doubt}", self.key)
    }
}

/// Returns the active entries, the newest and most cited first.
pub fn summaries(project: &Project) -> Result<Parsed<Vec<EntrySummary>>> {
    let place = KnowledgeDir::in_project(project);
    let found = scan(&place, |file| {
        let text = String::from_utf8_lossy(&file.bytes);
        let entry = Entry::parse(&text, &file.path).value;
        if !entry.is_active() {
            return None;
        }
        let body = &text[entry.body.clone()];
        let linked: Vec<String> = links(body, 1).map(|(to, _)| to.to_owned()).collect();
        let below = &body[title_line(body).map_or(0, |line| line.end)..];
        let dated = entry.dated();
        let summary = EntrySummary {
            key: entry.key,
            title: entry.title,
            text: prose(below),
            confidence: entry.confidence,
            dated,
            cited: 0,
        };
        Some((summary, linked))
    })?;
    Ok(found.map(|found| {
        let mut cited: HashMap<String, usize> = HashMap::new();
        for (summary, linked) in &found {
            for key in linked.iter().filter(|key| **key != summary.key) {
                *cited.entry(key.clone()).or_default() += 1;
            }
        }
        let mut all: Vec<EntrySummary> = found.into_iter().map(|(summary, _)| summary).collect();
        for summary in &mut all {
            summary.cited = cited.get(&summary.key).copied().unwrap_or_default();
        }
        all.sort_by_key(|one| {
            let days = one.dated.map(|day| i64::from(chrono::Datelike::num_days_from_ce(&day)));
            let links = i64::try_from(one.cited).unwrap_or(i64::MAX);
            Reverse(days.unwrap_or_default().saturating_add(links.saturating_mul(DAYS_PER_LINK)))
        });
        all
    }))
}

/// Returns the prose of a body on one line: without headings.
fn prose(body: &str) -> String {
    let lines = body.lines().filter(|line| !line.trim_start().starts_with('#'));
    one_line(&lines.collect::<Vec<_>>().join(" "))
}

fn first_sentence(text: &str) -> &str {
    let end = text.match_indices(['.', '!', '?', '。']).find_map(|(at, mark)| {
        let end = at + mark.len();
        // `The 7. door` and `e.g. a door` go on.
        let after = text[end..].strip_prefix(' ')?;
        (!after.starts_with(char::is_lowercase)).then_some(end)
    });
    &text[..end.unwrap_or(text.len())]
}

/// An entry with its links.
#[derive(Clone, Debug)]
pub struct LinkedEntry {
    /// The entry.
    pub entry: Entry,
    /// The keys in `[[…]]` and `supersedes`, sorted and without duplicates; the entries may not exist.
    pub links: Vec<String>,
}

/// Returns all entries with their links, sorted by key.
pub fn linked(project: &Project) -> Result<Parsed<Vec<LinkedEntry>>> {
    let place = KnowledgeDir::in_project(project);
    let mut found = scan(&place, |file| {
        let text = read::decode(file.bytes.clone(), &file.path).value;
        let entry = Entry::parse(&text, &file.path).value;
        let named = links(&text[entry.body.clone()], 1);
        let named = named.map(|(to, _)| to.to_owned());
        let named: BTreeSet<String> = named.chain(entry.supersedes.iter().cloned()).collect();
        let links = named.into_iter().filter(|key| *key != entry.key).collect();
        Some(LinkedEntry { entry, links })
    })?;
    found.value.sort_by(|a, b| a.entry.key.cmp(&b.entry.key));
    Ok(found)
}
