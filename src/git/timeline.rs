//! Reads the first-parent history of the checked-out commit, with times.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};

use crate::error::Result;
use crate::git::hash::is_hash_prefix;
use crate::git::program::Program;

/// Maximum number of commits read; older ones count as unknown.
const MAX_COUNT_ARG: &str = "--max-count=200000";

/// The full hash of a commit and its committer time, when it was added to this history.
pub(crate) type TimedCommit = (String, DateTime<Utc>);

/// The first-parent history of the checked-out commit: merged commits count as part of their merge.
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

    /// Returns the hash of a commit by its index, counted from the newest.
    pub fn hash(&self, index: usize) -> Option<&str> {
        self.commits.get(index).map(|(hash, _)| hash.as_str())
    }

    /// Returns the day of a commit, in UTC.
    pub fn date(&self, index: usize) -> Option<NaiveDate> {
        self.commits.get(index).map(|(_, time)| time.date_naive())
    }

    /// Returns the index of a commit, given by its hash or a prefix of it.
    pub fn index_of(&self, hash: &str) -> Option<usize> {
        if !is_hash_prefix(hash) {
            return None;
        }
        let hash = hash.to_ascii_lowercase();
        let mut commits = self.commits.iter();
        commits.position(|(full, _)| full.starts_with(&hash))
    }

    /// Returns the index of the last commit before a time.
    pub fn before(&self, moment: DateTime<Utc>) -> Option<usize> {
        self.commits.iter().position(|(_, time)| *time < moment)
    }

    /// Returns the index of the last commit on or before a day, in UTC.
    pub fn at_end_of(&self, day: NaiveDate) -> Option<usize> {
        let next = day.checked_add_days(Days::new(1))?;
        self.before(next.and_time(NaiveTime::MIN).and_utc())
    }
}

/// Reads the commits with their times.
pub(crate) fn commits(program: &Program<'_>, head: &str) -> Result<Option<Vec<TimedCommit>>> {
    let arguments = ["rev-list", "--first-parent", "--timestamp", MAX_COUNT_ARG, head, "--"];
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
