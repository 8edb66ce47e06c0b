//! Looks up what texts name, follows what is missing, and compares the trees.

use std::path::Path;
use std::thread;

use chrono::NaiveDate;

use crate::error::Error;
use crate::error::Result;
use crate::git::Git;
use crate::patterns::Certainty;
use crate::patterns::Mention;
use crate::patterns::PathForm;
use crate::patterns::mentions;
use crate::patterns::staleness::missing_paths;
use crate::patterns::staleness::missing_paths::MissingPath;
use crate::patterns::staleness::removal;
use crate::patterns::staleness::report::Freshness;
use crate::patterns::staleness::report::PathReport;
use crate::patterns::staleness::report::PathStatus;
use crate::patterns::staleness::report::Staleness;
use crate::patterns::staleness::structure;
use crate::patterns::staleness::structure::Compared;
use crate::patterns::staleness::structure::Today;
use crate::patterns::staleness::tree::Resolution;
use crate::patterns::staleness::tree::Tree;
use crate::patterns::staleness::tree_history::CandidateCommits;
use crate::patterns::staleness::tree_history::TreeHistory;
use crate::project::LayoutName;
use crate::storage::read;

/// A text that may have become stale.
#[derive(Clone, Copy, Debug)]
pub struct DatedText<'a> {
    /// What it is known by.
    pub id: &'a str,
    /// The line at which it begins, counted from 1.
    pub line: usize,
    /// The text.
    pub text: &'a str,
    /// The commit that was checked out when it was written, where that is known.
    pub commit: Option<&'a str>,
    /// The day on which it was written.
    pub date: Option<NaiveDate>,
}

/// What a text names, and where that leads.
type Open = Vec<(Mention, Resolution)>;

/// A mention that leads nowhere: of which text, and which of its reports waits for an answer.
struct Missing {
    text: usize,
    report: usize,
    lost: MissingPath,
}

/// What a mention that leads nowhere is.
enum MissingKind {
    /// No path.
    NoPath,
    /// A path, of which no more can be known.
    Unknown,
    /// A path that history can follow.
    Followable(MissingPath),
}

impl Staleness {
    /// Checks texts against a project.
    pub fn check(texts: &[DatedText<'_>], root: &Path, git: &Git) -> Result<Self> {
        let tree = Tree::new(root, git);
        let objects = git.objects()?;
        // The two slowest questions at once.
        let (timeline, found) = thread::scope(|scope| {
            let timeline = scope.spawn(|| git.timeline());
            let found = looked_up(texts, &tree);
            (timeline.join(), found)
        });
        let timeline =
            timeline.map_err(|_| Error::failed("reading the git history panicked"))??;
        let past = TreeHistory::new(timeline, objects);
        let read = |path: &str| {
            let text = read::text(&git.top()?.join(path));
            text.ok()?.map(|text| text.value)
        };
        CheckContext { git, tree, past }.all(texts, found?, read)
    }

    /// Checks texts against a listing of files, without history.
    pub fn check_listing(texts: &[DatedText<'_>], tree: Tree) -> Result<Self> {
        let git = &Git::discover(Path::new(""));
        let found = looked_up(texts, &tree)?;
        let past = None;
        CheckContext { git, tree, past }.all(texts, found, |_| None)
    }
}

/// What texts are checked against.
struct CheckContext<'a> {
    git: &'a Git,
    tree: Tree,
    past: Option<TreeHistory>,
}

impl CheckContext<'_> {
    fn all(
        mut self,
        texts: &[DatedText<'_>],
        open: Vec<Open>,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<Staleness> {
        let epochs: Vec<CandidateCommits> = texts.iter().map(|text| self.epoch(text)).collect();
        self.list_the_past(&open, &epochs)?;
        let mut missing = Vec::new();
        let mut entries = Vec::new();
        for ((text, open), epoch) in texts.iter().zip(open).zip(&epochs) {
            let paths = self.decide(text.text, open, epoch, entries.len(), &mut missing)?;
            entries.push(Freshness {
                id: text.id.to_owned(),
                line: text.line,
                is_stale: false,
                reasons: Vec::new(),
                paths,
                structure: None,
            });
        }
        self.answer(missing, &mut entries)?;
        self.compare(texts, &mut entries, read)?;
        for entry in &mut entries {
            entry.reasons = entry.reasons();
            entry.is_stale = !entry.reasons.is_empty();
        }
        let skipped = self.past.is_none().then(|| {
            "no git history here: paths are checked against the files alone, the structure is not"
                .to_owned()
        });
        Ok(Staleness { entries, skipped })
    }

    fn epoch(&self, text: &DatedText<'_>) -> CandidateCommits {
        match &self.past {
            Some(past) => past.epoch(text.commit, text.date),
            None => CandidateCommits::Unknown,
        }
    }

    /// Lists the past where a path that leads nowhere may be known by its end only.
    fn list_the_past(&mut self, open: &[Open], epochs: &[CandidateCommits]) -> Result<()> {
        let Some(past) = &mut self.past else {
            return Ok(());
        };
        let is_open = |(mention, location): &(Mention, Resolution)| {
            *location == Resolution::Missing && mention.certainty > Certainty::Unsure
        };
        let waiting = open.iter().zip(epochs);
        let epochs: Vec<CandidateCommits> = waiting
            .filter(|(open, _)| open.iter().any(is_open))
            .map(|(_, epoch)| epoch.clone())
            .collect();
        if epochs.is_empty() {
            return Ok(());
        }
        past.list(&epochs, self.tree.listing()?.files().len())
    }

    /// Returns the reports on the paths of a text; those that have to be followed wait as `gone`.
    fn decide(
        &mut self,
        words: &str,
        open: Open,
        epoch: &CandidateCommits,
        text: usize,
        missing: &mut Vec<Missing>,
    ) -> Result<Vec<PathReport>> {
        let mut reports: Vec<PathReport> = Vec::new();
        for (mention, location) in open {
            let mut report = PathReport::new(&mention, PathStatus::Ok);
            match location {
                Resolution::Exists => {}
                Resolution::Ambiguous(homes) => {
                    report.status = PathStatus::Ambiguous;
                    report.homes = homes;
                }
                Resolution::Submodule => report.status = PathStatus::Outside,
                Resolution::Missing => {
                    report.status = PathStatus::Gone;
                    match self.lost(words, &mention, epoch)? {
                        MissingKind::NoPath => continue,
                        MissingKind::Unknown => {}
                        MissingKind::Followable(lost) => missing.push(Missing {
                            text,
                            report: reports.len(),
                            lost,
                        }),
                    }
                }
            }
            reports.push(report);
        }
        Ok(reports)
    }

    /// Returns whether what leads nowhere was a path at all, when the text was written or just before.
    fn lost(
        &mut self,
        text: &str,
        mention: &Mention,
        epoch: &CandidateCommits,
    ) -> Result<MissingKind> {
        let Some(past) = &mut self.past else {
            return self.unfollowed(mention);
        };
        let mut lost = missing_paths::lost(mention, epoch, &self.tree, past)?;
        if let (None, Some(before)) = (&lost, epoch.before()) {
            lost = missing_paths::lost(mention, &before, &self.tree, past)?
                .filter(|_| !removal::is_told(text, &mention.path));
        }
        if let Some(lost) = lost {
            return Ok(if is_planning(lost.path()) {
                MissingKind::NoPath
            } else {
                MissingKind::Followable(lost)
            });
        }
        // Part of a history proves nothing about what it does not show.
        if self.git.is_shallow() && !removal::is_told(text, &mention.path) {
            return self.unfollowed(mention);
        }
        Ok(MissingKind::NoPath)
    }

    /// Returns what a mention that leads nowhere is, where no history tells.
    fn unfollowed(&self, mention: &Mention) -> Result<MissingKind> {
        Ok(if self.is_gone_for_sure(mention)? {
            MissingKind::Unknown
        } else {
            MissingKind::NoPath
        })
    }

    /// Returns whether a path is missing, where no history can tell that it was ever there.
    fn is_gone_for_sure(&self, mention: &Mention) -> Result<bool> {
        let path = mention.path.as_str();
        Ok(mention.certainty == Certainty::Sure
            && !Tree::is_generated(path)
            && self.tree.knows_start_of(path)?
            && !self.tree.has_like(path)?)
    }

    /// Follows what is missing, all of it at once, and writes the answers into the reports.
    fn answer(&mut self, mut missing: Vec<Missing>, entries: &mut [Freshness]) -> Result<()> {
        let Some(past) = self.past.as_mut().filter(|_| !missing.is_empty()) else {
            return Ok(());
        };
        let mut lost: Vec<MissingPath> = missing.iter().map(|one| one.lost.clone()).collect();
        missing_paths::follow(&mut lost, self.git, &self.tree, past)?;
        for (one, lost) in missing.iter_mut().zip(lost) {
            let report = &mut entries[one.text].paths[one.report];
            report.since = lost.removed.and_then(|place| {
                let hash = past.timeline().hash(place)?;
                Some(structure::since(past, place, hash))
            });
            if let Some(now) = lost.now {
                report.status = PathStatus::Moved;
                report.to = Some(self.tree.in_project(&now).to_owned());
            }
        }
        Ok(())
    }

    /// Compares the tree of each text's commit with today's.
    fn compare(
        &mut self,
        texts: &[DatedText<'_>],
        entries: &mut [Freshness],
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<()> {
        let Some(past) = &mut self.past else {
            return Ok(());
        };
        let places: Vec<Option<usize>> = texts
            .iter()
            .map(|text| past.written_at(text.commit, text.date))
            .collect();
        let mut compared = Compared::new();
        compared.extend(places.iter().flatten().map(|place| (*place, None)));
        if compared.is_empty() {
            return Ok(());
        }
        let today = Today::new(self.tree.listing()?, read);
        let count = compared.len();
        for (place, structure) in &mut compared {
            *structure = structure::structure(&today, past, *place, count)?;
        }
        for (entry, place) in entries.iter_mut().zip(places) {
            entry.structure = place.and_then(|place| compared.get(&place)?.clone());
        }
        Ok(())
    }
}

/// Looks up what each text names.
fn looked_up(texts: &[DatedText<'_>], tree: &Tree) -> Result<Vec<Open>> {
    let locate = |mention: Mention| {
        let mention = tree.inside(mention);
        let location = match mention.form {
            PathForm::Outside => Resolution::Submodule,
            _ => tree.locate(&mention)?,
        };
        Ok((mention, location))
    };
    let look_up = |text: &DatedText<'_>| mentions(text.text).into_iter().map(locate).collect();
    texts.iter().map(look_up).collect()
}

/// Returns whether a path is in a planning folder, where shipping moves everything.
fn is_planning(path: &str) -> bool {
    path.split('/')
        .any(|part| LayoutName::from_dir(Path::new(part)).is_some())
}
