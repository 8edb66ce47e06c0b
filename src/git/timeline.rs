//! The commits that led to what is checked out.

use chrono::DateTime;
use chrono::Days;
use chrono::NaiveDate;
use chrono::NaiveTime;
use chrono::Utc;

use crate::error::Result;
use crate::git::hash::is_hash_prefix;
use crate::git::program::Program;

/// As many commits are looked at; what came before is taken as unknown.
const MAX_COUNT_ARG: &str = "--max-count=200000";

/// A commit by its full hash, and its time: that of the commit, not of the authorship, since it came here then.
pub(crate) type TimedCommit = (String, DateTime<Utc>);

/// The commits that led to what is checked out by first parents: what was merged came with its merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Newest first.
    commits: Vec<TimedCommit>,
}

impl Timeline {
    pub(crate) fn new(commits: Vec<TimedCommit>) -> Self {
        Self { commits }
    }

    /// Returns the number of commits.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Returns whether there is no commit, and perhaps no repository.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Returns the hash of a commit by its place, counted from the newest.
    pub fn hash(&self, index: usize) -> Option<&str> {
        self.commits.get(index).map(|(hash, _)| hash.as_str())
    }

    /// Returns the day of a commit, in UTC.
    pub fn date(&self, index: usize) -> Option<NaiveDate> {
        self.commits.get(index).map(|(_, time)| time.date_naive())
    }

    /// Returns the index of a commit that is named by its hash or the start of it.
    pub fn index_of(&self, hash: &str) -> Option<usize> {
        if !is_hash_prefix(hash) {
            return None;
        }
        let hash = hash.to_ascii_lowercase();
        let mut commits = self.commits.iter();
        commits.position(|(full, _)| full.starts_with(&hash))
    }

    /// Returns the place of the last commit before this moment.
    pub fn before(&self, moment: DateTime<Utc>) -> Option<usize> {
        self.commits.iter().position(|(_, time)| *time < moment)
    }

    /// Returns the place of the last commit of a day or before it, in UTC.
    pub fn at_end_of(&self, day: NaiveDate) -> Option<usize> {
        let next = day.checked_add_days(Days::new(1))?;
        self.before(next.and_time(NaiveTime::MIN).and_utc())
    }
}

/// Reads the commits with their times.
pub(crate) fn commits(program: &Program<'_>, head: &str) -> Result<Option<Vec<TimedCommit>>> {
    let arguments = [
        "rev-list",
        "--first-parent",
        "--timestamp",
        MAX_COUNT_ARG,
        head,
        "--",
    ];
    let output = program.run(&arguments)?;
    Ok(output.map(|output| {
        let commits = output.lines().filter_map(|line| {
            let (seconds, hash) = line.split_once(' ')?;
            let time = DateTime::from_timestamp(seconds.parse().ok()?, 0)?;
            Some((hash.to_owned(), time))
        });
        commits.collect()
    }))
}
