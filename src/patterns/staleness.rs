//! Finds recorded patterns about files that no longer exist or a structure that has changed.
//!
//! A path that is clearly meant as one is stale if the project has no such file and `.gitignore` does not cover it,
//! unless the text itself reports the removal. That is the same with and without git: history only tells where it moved,
//! by one diff between the commit of the text and the current tree.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::git::{ChangedFile, Git, Timeline};
use crate::patterns;
use crate::patterns::tree::{Tree, ends_in, folders, manifests};
use crate::patterns::{Mention, Patterns, Rate, mentions};
use crate::plan::read::vocabulary::{has, words};
use crate::project::{Project, manifest};
use crate::storage::{Changes, read};
use crate::text::{negates, one_line, sentences, sha256};
use crate::warning::{Parsed, Warning};

/// Name of the cache file in `.annals/`.
const CACHE: &str = "freshness.json";

/// The results of a staleness check. It is the document of `annals patterns check --json`.
#[derive(Debug, Serialize)]
pub struct Staleness {
    /// The result for each entry, in input order.
    pub entries: Vec<Freshness>,
    /// The parts that were not checked, and why.
    pub skipped: Option<String>,
}

/// The result of checking one entry.
#[derive(Debug, Default, Serialize)]
pub struct Freshness {
    /// The entry's identifier.
    pub id: String,
    /// Line number of its start, from 1.
    pub line: usize,
    /// Whether a path it mentions was moved or removed, or the structure has changed.
    pub is_stale: bool,
    /// The reasons, one line each.
    pub reasons: Vec<String>,
    /// The paths it mentions, in order.
    pub paths: Vec<PathReport>,
    /// Why each of its texts may be out of date, because of its own paths or of the structure.
    #[serde(skip)]
    stale_texts: BTreeMap<String, String>,
}

/// A path that a text mentions, with its status.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PathReport {
    /// The path, relative to the project.
    pub path: String,
    /// Its status.
    pub status: PathStatus,
    /// Its new path, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// The status of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PathStatus {
    /// It exists.
    Ok,
    /// It was moved.
    Moved,
    /// It does not exist.
    Gone,
}

impl PathReport {
    /// Returns why this path makes a text stale; `None` if it does not.
    fn reason(&self) -> Option<String> {
        match (&self.to, self.status) {
            (Some(to), _) => Some(format!("`{}` moved to `{to}`", self.path)),
            (None, PathStatus::Gone) => Some(format!("`{}` no longer exists", self.path)),
            _ => None,
        }
    }

    /// Notes where a missing path moved to.
    fn follow(&mut self, renames: &Renames, tree: &Tree) {
        let moved = renames.new_path(&self.path).filter(|to| tree.has(to));
        if let Some(to) = moved.map(|to| tree.in_project(to)) {
            let slash = if self.path.ends_with('/') { "/" } else { "" };
            self.status = PathStatus::Moved;
            self.to = Some(format!("{to}{slash}"));
        }
    }
}

impl Staleness {
    /// Checks all of PATTERNS.md against a project, in file order, entries first.
    pub fn check(patterns: &Patterns, root: &Path, git: &Git) -> Result<Self> {
        let tree = Tree::new(root, git)?;
        let timeline = git.timeline()?;
        let mut diffs: BTreeMap<usize, Diff> = BTreeMap::new();
        let mut found = Vec::new();
        for entry in &patterns.entries {
            // The commit that the entry states, or else the last of its day.
            let stated = entry.trace.as_ref().and_then(|trace| trace.commit.as_deref());
            let stated = stated.and_then(|commit| timeline.index_of(commit));
            let base = stated.or_else(|| timeline.at_end_of(entry.date?));
            if let Some(at) = base.filter(|at| !diffs.contains_key(at)) {
                let hash = timeline.hash(at).unwrap_or_default();
                diffs.insert(at, Diff::new(hash, timeline.date(at), git, &tree)?);
            }
            let diff = base.and_then(|at| diffs.get(&at));
            found.push(Freshness::new(entry.title(), entry.line, entry.all_texts(), &tree, diff));
        }
        for loose in &patterns.loose {
            let id = loose.section.as_deref().unwrap_or("PATTERNS.md").to_owned();
            let texts = std::iter::once(loose.text.as_str());
            found.push(Freshness::new(id, loose.line, texts, &tree, None));
        }
        let skipped = timeline.is_empty().then(|| {
            "no git history: paths are only checked against the current files, and the structure is not checked".to_owned()
        });
        Ok(Self { entries: found, skipped })
    }
}

impl Freshness {
    fn new<'a>(
        id: String,
        line: usize,
        texts: impl Iterator<Item = &'a str>,
        tree: &Tree,
        diff: Option<&Diff>,
    ) -> Self {
        let changed = diff.and_then(|diff| diff.structure.clone());
        let mut found = Self { id, line, ..Self::default() };
        let mut known = HashSet::new();
        for text in texts {
            let reports = report_paths(text, tree, diff);
            let reason = reports.iter().find_map(PathReport::reason).or_else(|| changed.clone());
            found.stale_texts.extend(reason.map(|reason| (text.to_owned(), reason)));
            found.paths.extend(reports.into_iter().filter(|report| known.insert(report.clone())));
        }
        found.reasons = found.paths.iter().filter_map(PathReport::reason).chain(changed).collect();
        found.is_stale = !found.reasons.is_empty();
        found
    }
}

/// Returns the reports on the paths of a text. A missing path that may be none is left out, and so is one whose removal
/// the text itself reports.
fn report_paths(text: &str, tree: &Tree, diff: Option<&Diff>) -> Vec<PathReport> {
    let mut removed = None;
    let mut reports = Vec::new();
    for mention in mentions(text) {
        let Some(status) = tree.look_up(&mention) else { continue };
        let slash = if mention.is_folder { "/" } else { "" };
        let path = format!("{}{slash}", mention.path);
        let mut report = PathReport { path, status, to: None };
        if status == PathStatus::Gone {
            if removed.get_or_insert_with(|| removed_paths(text)).contains(&mention.path) {
                continue;
            }
            if let Some(diff) = diff {
                report.follow(&diff.renames, tree);
            }
        }
        reports.push(report);
    }
    reports
}

/// Returns the paths mentioned in sentences that report a removal or a move.
fn removed_paths(text: &str) -> HashSet<String> {
    let line = one_line(text);
    let removals = sentences(&line).into_iter().filter(|sentence| speaks_of_removal(sentence));
    removals.flat_map(mentions).map(|mention| mention.path).collect()
}

fn speaks_of_removal(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let removes = words.iter().enumerate().any(|(at, word)| {
        let before = words[at.saturating_sub(2)..at].iter().rev();
        // A clause before this one negates something else: `No need, dropped it`.
        let mut before = before.take_while(|word| !word.ends_with([',', ':', ';']));
        has("removal of a file", bare(word)) && !before.any(|word| negates(bare(word)))
    });
    removes || lower.contains("no longer")
}

/// Returns a word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// What changed since a commit.
struct Diff {
    /// Why the structure makes texts stale, with figures; `None` if it has not changed enough.
    structure: Option<String>,
    renames: Renames,
}

impl Diff {
    fn new(hash: &str, date: Option<NaiveDate>, git: &Git, tree: &Tree) -> Result<Self> {
        let changed = git.changes_since(hash)?;
        let changes = structure_changes(hash, &changed, git, tree)?.join(", ");
        let structure = (!changes.is_empty()).then(|| {
            let (since, _) = hash.split_at(hash.len().min(7));
            let date = date.map(|date| format!(", {date}")).unwrap_or_default();
            format!("structure changed since {since}{date}: {changes}")
        });
        Ok(Self { structure, renames: Renames::among(changed) })
    }
}

/// The old and the new path of every file that moved.
struct Renames(Vec<(String, String)>);

impl Renames {
    fn among(changed: Vec<ChangedFile>) -> Self {
        Self(changed.into_iter().filter_map(|file| Some((file.from?, file.path))).collect())
    }

    /// Returns the new path of a file, or of a folder, which ends with a slash, whose files all moved to one.
    fn new_path(&self, path: &str) -> Option<&str> {
        let Some(path) = path.strip_suffix('/') else {
            let moved = self.0.iter().find(|(from, _)| ends_in(from, path));
            return moved.map(|(_, to)| to.as_str());
        };
        let mut homes = self.0.iter().filter_map(|(from, to)| {
            let inner = folders(from).find(|folder| ends_in(folder, path));
            inner.map(|folder| to.strip_suffix(&from[folder.len()..]))
        });
        let first = homes.next()?;
        first.filter(|_| homes.all(|home| home == first))
    }
}

/// The same check of paths for other texts than patterns. What git knows is read once a path is not on disk.
pub struct PathCheck<'p> {
    project: &'p Project,
    tree: Option<Tree>,
    timeline: Option<Timeline>,
    renames: BTreeMap<usize, Renames>,
}

impl<'p> PathCheck<'p> {
    /// Returns a check that has read nothing yet.
    pub fn new(project: &'p Project) -> Self {
        Self { project, tree: None, timeline: None, renames: BTreeMap::new() }
    }

    /// Returns the paths of a text that were moved or removed; their new names are those since the end of one of these
    /// days, or since the first commit.
    pub fn missing(&mut self, text: &str, days: &[NaiveDate]) -> Result<Vec<PathReport>> {
        let (root, git) = (&self.project.root, &self.project.git);
        let may_miss = |one: &Mention| one.is_sure && !read::exists(&root.join(&one.path));
        if !mentions(text).iter().any(may_miss) {
            return Ok(Vec::new());
        }
        let tree = match &mut self.tree {
            Some(tree) => tree,
            None => self.tree.insert(Tree::new(root, git)?),
        };
        let mut reports = report_paths(text, tree, None);
        reports.retain(|report| report.status == PathStatus::Gone);
        for day in days {
            let timeline = match &mut self.timeline {
                Some(timeline) => timeline,
                None => self.timeline.insert(git.timeline()?),
            };
            let base = timeline.at_end_of(*day).or(timeline.first());
            let Some((at, hash)) = base.and_then(|at| Some((at, timeline.hash(at)?))) else {
                break;
            };
            for report in reports.iter_mut().filter(|report| report.to.is_none()) {
                let renames = match self.renames.entry(at) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(Renames::among(git.changes_since(hash)?)),
                };
                report.follow(renames, tree);
            }
        }
        Ok(reports)
    }
}

/// Returns what has changed in a project's tree since a commit, with figures: whether less than half of the files survives
/// under the same path, and the frameworks that were added or removed. Top-level files and folders whose names begin with a
/// dot are ignored.
fn structure_changes(
    hash: &str,
    changed: &[ChangedFile],
    git: &Git,
    tree: &Tree,
) -> Result<Vec<String>> {
    let is_counted = |path: &&str| !path.starts_with('.');
    let came: HashSet<&str> = changed
        .iter()
        .filter(|file| "ARC".contains(file.status))
        .map(|file| file.path.as_str())
        .collect();
    let went = changed.iter().filter_map(|file| match file.status {
        'D' => Some(file.path.as_str()),
        'R' => file.from.as_deref(),
        _ => None,
    });
    let now: Vec<&str> = tree.files().iter().map(String::as_str).filter(is_counted).collect();
    let kept = now.iter().copied().filter(|path| !came.contains(path));
    let then: HashSet<&str> = kept.clone().chain(went.filter(is_counted)).collect();
    let files = Rate { count: kept.count(), of: then.len() };
    // A project's first manifest does not count as a change.
    let (mut has, mut had) = (BTreeSet::new(), BTreeSet::new());
    let now: HashSet<&str> = now.into_iter().collect();
    let all = manifests(now.union(&then).copied());
    let earlier: Vec<&str> = all.iter().copied().filter(|path| then.contains(path)).collect();
    if !earlier.is_empty() {
        let names: Vec<String> = earlier.iter().map(|path| format!("{hash}:{path}")).collect();
        for bytes in git.contents(&names)?.into_iter().flatten() {
            had.extend(frameworks(&String::from_utf8_lossy(&bytes)));
        }
        for path in all.into_iter().filter(|path| now.contains(path)) {
            let text = read::text(&tree.top.join(path)).ok().flatten();
            has.extend(text.iter().flat_map(|text| frameworks(&text.value)));
        }
    }
    let mut changes = Vec::new();
    if files.count * 2 < files.of {
        let (Rate { count, of }, percent) = (files, files.percent().unwrap_or_default());
        changes.push(format!("{count} of {of} files ({percent} %) remain"));
    }
    changes.extend(has.difference(&had).map(|name| format!("{name} added")));
    changes.extend(had.difference(&has).map(|name| format!("{name} removed")));
    Ok(changes)
}

/// Returns the frameworks that a manifest names.
fn frameworks(text: &str) -> impl Iterator<Item = &'static str> {
    let lines = manifest::lines(text);
    words("framework").filter(move |name| lines.iter().any(|line| manifest::lists(line, name)))
}

/// Why patterns may be out of date, by line and text; a pattern that is not listed is fresh.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StaleReasons(BTreeMap<usize, BTreeMap<String, String>>);

impl StaleReasons {
    /// Returns why a bullet may be out of date: because of its own paths, or the structure since its entry.
    ///
    /// `line` is the line of the entry's heading, or of the bullet itself if it is outside all entries.
    pub(crate) fn about(&self, line: usize, text: &str) -> Option<String> {
        self.0.get(&line)?.get(text).cloned()
    }

    /// Checks every pattern against the working tree and the git history.
    pub(crate) fn check(project: &Project, patterns: &Patterns) -> Result<Self> {
        let staleness = Staleness::check(patterns, &project.root, &project.git)?;
        let by_line = staleness.entries.into_iter().map(|found| (found.line, found.stale_texts));
        Ok(Self(by_line.filter(|(_, texts)| !texts.is_empty()).collect()))
    }

    /// Returns the cached reasons if nothing was committed or recorded since the last check, or else checks.
    ///
    /// A project without git is always checked. A git error becomes a warning, and the patterns count as
    /// fresh.
    pub(crate) fn cached_or_checked(
        project: &Project,
        patterns: &Patterns,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        if patterns.is_empty() {
            return Self::default();
        }
        let storage = project.storage();
        let head = project.git.head().ok().flatten();
        let fingerprint = head.map(|head| sha256(format!("{head} {patterns:?}")));
        if let Some(reasons) = fingerprint.as_ref().and_then(|print| storage.derived(CACHE, print))
        {
            return reasons;
        }
        match Self::check(project, patterns) {
            Ok(reasons) => {
                if let Some(fingerprint) = fingerprint {
                    storage.write_derived(CACHE, &fingerprint, &reasons);
                }
                reasons
            }
            Err(error) => {
                let message = format!("recorded patterns are not checked: {error}");
                warnings.push(Warning::file(&project.root, message));
                Self::default()
            }
        }
    }
}

/// Checks all recorded patterns, and returns the results with every path they mention.
pub fn check(project: &Project) -> Result<Parsed<Staleness>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let recent = patterns::with_changes(project, &Changes::new(), &mut warnings)?;
    let value = Staleness::check(&recent, &project.root, &project.git)?;
    Ok(Parsed { value, warnings })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use assert_fs::prelude::*;

    use super::*;
    use crate::clock::parse_date;
    use crate::git::Git;
    use crate::git::tests::Sandbox;
    use crate::patterns::{PatternEntry, Trace};

    /// Writes a file with unique content, so that git does not detect unrelated files as renames.
    fn put(sandbox: &Sandbox, path: &str) {
        let text = format!("{path}\n").repeat(20);
        sandbox.0.child(path).write_str(&text).unwrap();
    }

    fn commit(sandbox: &Sandbox, day: &str) -> String {
        sandbox.git(&["add", "-A"]);
        sandbox.commit_at(&format!("{day}T12:00:00Z"));
        sandbox.git(&["rev-parse", "HEAD"])
    }

    /// Returns an entry with one text, recorded at a commit or on a day.
    fn recorded(text: &str, commit: Option<&str>, date: Option<&str>) -> Patterns {
        let trace = Trace { commit: commit.map(str::to_owned), ..Trace::default() };
        let entry = PatternEntry {
            notes: vec![text.to_owned()],
            date: date.and_then(parse_date),
            trace: Some(trace),
            ..PatternEntry::default()
        };
        Patterns { entries: vec![entry], loose: Vec::new() }
    }

    fn check(
        sandbox: &Sandbox,
        git: &Git,
        text: &str,
        commit: Option<&str>,
        date: Option<&str>,
    ) -> Freshness {
        let recorded = recorded(text, commit, date);
        let found = Staleness::check(&recorded, sandbox.0.path(), git).unwrap();
        found.entries.into_iter().next().unwrap()
    }

    fn shown(freshness: &Freshness) -> String {
        let shown = freshness.paths.iter().map(|report| {
            let status = format!("{:?}", report.status).to_lowercase();
            let to: String = report.to.iter().map(|to| format!(" → {to}")).collect();
            format!("{} {status}{to}", report.path)
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Returns a repository in which files moved and went after the returned commit.
    fn changed() -> (Sandbox, String) {
        let sandbox = Sandbox::empty();
        for path in [
            "src/main.rs",
            "src/api/mod.rs",
            "src/web/mod.rs",
            "src/login.rs",
            "src/removed.rs",
            "src/one.rs",
            "web/components/One.tsx",
            "web/components/two/Two.tsx",
            "web/Button.tsx",
            "docs/old name.md",
            "docs/guide.md",
            "src/before.rs",
            "src/staged.rs",
            "old/deep/a.rs",
            ".github/workflows/ci.yml",
        ] {
            put(&sandbox, path);
        }
        sandbox.0.child(".gitignore").write_str("generated/\n*.log\n").unwrap();
        let manifest = r#"{"scripts": {"left": "a"}, "dependencies": {"lodash": "^4"}}"#;
        sandbox.0.child("web/package.json").write_str(manifest).unwrap();
        commit(&sandbox, "2026-01-05");
        sandbox.git(&["rm", "-q", "src/before.rs"]);
        let written = commit(&sandbox, "2026-01-10");
        sandbox.0.child("src/auth").create_dir_all().unwrap();
        sandbox.0.child("ui").create_dir_all().unwrap();
        sandbox.git(&["mv", "src/login.rs", "src/auth/login.rs"]);
        sandbox.git(&["mv", "src/one.rs", "src/two.rs"]);
        commit(&sandbox, "2026-02-01");
        sandbox.git(&["mv", "src/two.rs", "src/three.rs"]);
        sandbox.git(&["mv", "web/components", "ui/parts"]);
        sandbox.git(&["rm", "-qr", "src/removed.rs", "docs/old name.md", "old"]);
        commit(&sandbox, "2026-02-02");
        (sandbox, written)
    }

    /// A text, and what is said of its paths with git and without.
    const EXPECTED: &[(&str, &str, &str)] = &[
        ("`src/main.rs:12-40`", "src/main.rs ok", "src/main.rs ok"),
        ("`src/**/*.rs`, `Button.tsx`", "Button.tsx ok", "Button.tsx ok"),
        ("`mod.rs`", "mod.rs ok", "mod.rs ok"),
        ("`/etc/hosts`, `../a/b.rs`", "", ""),
        ("`src/login.rs:7`", "src/login.rs moved → src/auth/login.rs", "src/login.rs gone"),
        ("`src/one.rs`", "src/one.rs moved → src/three.rs", "src/one.rs gone"),
        ("`web/components/`", "web/components/ moved → ui/parts/", "web/components/ gone"),
        (
            "`components/One.tsx`",
            "components/One.tsx moved → ui/parts/One.tsx",
            "components/One.tsx gone",
        ),
        ("src/removed.rs.", "src/removed.rs gone", "src/removed.rs gone"),
        ("`removed.rs`", "removed.rs gone", "removed.rs gone"),
        ("Lock `src/before.rs` first", "src/before.rs gone", "src/before.rs gone"),
        ("`src/never.rs`", "src/never.rs gone", "src/never.rs gone"),
        (
            "`.github/workflows/old.yml`, `.circleci/config.yml`",
            ".github/workflows/old.yml gone",
            ".github/workflows/old.yml gone",
        ),
        // A folder of whose first part nothing is left may be none; nor are globs paths.
        ("`old/deep/`, and/or/, `old/`, `lib/*.zig`, `ghcr/acme/`", "", ""),
        // Names of planning documents, and files of packages.
        (
            "`SUMMARY.md`, `01-02-PLAN.md`, `phases/VERIFICATION.md`, `lodash/merge.js`, `left/pad.js`",
            "left/pad.js gone",
            "left/pad.js gone",
        ),
        // Whose removal the text reports, what is ignored or generated, and what may be no path.
        ("- Removed `src/removed.rs` and `src/never.rs`", "", ""),
        ("- Never remove `src/removed.rs`", "src/removed.rs gone", "src/removed.rs gone"),
        ("- No need, dropped `src/removed.rs` early", "", ""),
        ("Dropped a flag. See `src/removed.rs`.", "src/removed.rs gone", "src/removed.rs gone"),
        ("`generated/a.rs`, `src/debug.log`, `dist/app.js`, `.env`", "", ""),
        (
            "and/or, v1.2.3, std::fs::write, Node.js, origin/main, https://a.b/src/removed.rs",
            "",
            "",
        ),
        ("`docs/old name.md`, `src/never`, `*.never`, `src/<name>.rs`, path/to/file.rs", "", ""),
    ];

    #[test]
    fn a_path_is_as_stale_without_git_as_with_it() {
        let (sandbox, written) = changed();
        let git = sandbox.open_git();
        for (text, with, without) in EXPECTED {
            let found = check(&sandbox, &git, text, Some(&written), None);
            assert_eq!(shown(&found), *with, "{text}");
            let alone = check(&sandbox, &Git::default(), text, Some(&written), None);
            assert_eq!(shown(&alone), *without, "{text}");
            assert_eq!(found.is_stale, alone.is_stale, "{text}");
        }
    }

    #[test]
    fn a_text_without_a_commit_is_compared_with_the_last_commit_of_its_day() {
        let (sandbox, _) = changed();
        let git = sandbox.open_git();
        let moved = "src/login.rs moved → src/auth/login.rs, src/removed.rs gone";
        for (date, expected) in [
            (None, "src/login.rs gone, src/removed.rs gone"),
            (Some("2026-01-12"), moved),
            (Some("2025-12-24"), "src/login.rs gone, src/removed.rs gone"),
        ] {
            let found = check(&sandbox, &git, "`src/login.rs`, `src/removed.rs`", None, date);
            assert_eq!(shown(&found), expected, "{date:?}");
        }
    }

    #[test]
    fn a_project_below_the_top_names_its_files_from_there() {
        let sandbox = Sandbox::empty();
        put(&sandbox, "app/src/old.rs");
        put(&sandbox, "app/src/kept.rs");
        let written = commit(&sandbox, "2026-01-05");
        sandbox.git(&["mv", "app/src/old.rs", "app/src/new.rs"]);
        commit(&sandbox, "2026-02-01");
        let root = sandbox.0.path().join("app");
        let text = recorded("`src/old.rs`, `src/kept.rs`", Some(&written), None);
        let found = Staleness::check(&text, &root, &Git::discover(&root)).unwrap();
        assert_eq!(shown(&found.entries[0]), "src/old.rs moved → src/new.rs, src/kept.rs ok");
    }

    #[test]
    fn structure_changes_when_less_than_half_survives() {
        let sandbox = Sandbox::empty();
        for part in 0..10 {
            put(&sandbox, &format!("old/part_{part}/a.rs"));
        }
        put(&sandbox, ".github/ci.yml");
        put(&sandbox, "kept/a.rs");
        let written = commit(&sandbox, "2026-01-05");
        sandbox.git(&["rm", "-rq", "old/part_0", "old/part_1", "old/part_2", "old/part_3"]);
        commit(&sandbox, "2026-01-06");
        let git = sandbox.open_git();
        let found = check(&sandbox, &git, "no path", Some(&written), None);
        assert!(found.reasons.is_empty(), "7 of 11 files remain");
        sandbox.git(&["rm", "-rq", "old"]);
        put(&sandbox, "new/deep/a.rs");
        commit(&sandbox, "2026-01-07");
        let found = check(&sandbox, &git, "no path", Some(&written), None);
        let since = &written[..7];
        assert_eq!(
            found.reasons,
            [format!("structure changed since {since}, 2026-01-05: 1 of 11 files (9 %) remain")]
        );
    }

    #[test]
    fn structure_changes_when_a_framework_comes_or_goes() {
        let sandbox = Sandbox::empty();
        put(&sandbox, "src/a.js");
        let write = |path: &str, text: &str| sandbox.0.child(path).write_str(text).unwrap();
        let first = commit(&sandbox, "2026-01-04");
        write("package.json", r#"{"dependencies": {"vue": "3", "left-pad": "1"}}"#);
        let written = commit(&sandbox, "2026-01-05");
        write("package.json", r#"{"dependencies": {"react": "19", "left-pad": "1"}}"#);
        commit(&sandbox, "2026-01-06");
        let git = sandbox.open_git();
        let found = check(&sandbox, &git, "no path", Some(&written), None);
        assert!(found.reasons[0].ends_with(": react added, vue removed"));
        // The first manifest of a project is no change of frameworks.
        let found = check(&sandbox, &git, "no path", Some(&first), None);
        assert!(found.reasons.is_empty());
    }

    #[test]
    fn no_bytes_make_the_check_panic() {
        let sandbox = Sandbox::empty();
        let root = Path::new("/nonexistent");
        for text in ["`a/../../b`, `[*`, `{a,b}/`", "`\u{0}/a.rs`", "`//`, `é/`"] {
            check(&sandbox, &Git::default(), text, Some("zz"), Some("2026-13-40"));
            Staleness::check(&recorded(text, None, None), root, &Git::default()).unwrap();
        }
    }
}
