//! Reads the ledger's folder and its three files, creates those that are missing, and implements what they share: bullets,
//! placeholders, and insertions between blank lines.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::ledger::state;
use crate::ledger::state::{INIT_NOTE, NO_HASH};
use crate::markdown::edit::Edit;
use crate::markdown::{FrontMatter, Outline, edit, item_end, line_start};
use crate::project::{Project, confine};
use crate::storage::{Changes, Store, read};
use crate::templates::Template;
use crate::text::{Pattern, is_absent, line_end, shell_word};
use crate::warning::Warning;

/// The files about the present, about what must not change, and about how it came about.
const NAMES: [&str; 3] = ["STATE.md", "CONSTRAINTS.md", "DECISIONS.md"];

/// A file of the ledger.
pub(crate) struct LedgerFile {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its bytes, or `None` if there is no file.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Its text; empty if there is no file.
    pub(crate) text: String,
}

/// The three files.
pub(crate) struct LedgerFiles {
    /// Their folder.
    folder: PathBuf,
    /// Its path relative to the top of the repository, if there is one.
    pub(crate) repo_path: Option<String>,
    /// STATE.md.
    pub(crate) state: LedgerFile,
    /// CONSTRAINTS.md.
    pub(crate) constraints: LedgerFile,
    /// DECISIONS.md.
    pub(crate) decisions: LedgerFile,
    /// What was read only in part.
    pub(crate) warnings: Vec<Warning>,
}

/// Returns the paths of the three files, which may not exist.
pub fn paths(project: &Project) -> [PathBuf; 3] {
    let folder = project.root.join(&project.settings.ledger_dir);
    NAMES.map(|name| folder.join(name))
}

/// Returns whether a project keeps a ledger.
pub fn exists(project: &Project) -> bool {
    let [state, ..] = paths(project);
    read::is_file(&state)
}

impl LedgerFile {
    fn read(path: PathBuf, warnings: &mut Vec<Warning>) -> Result<Self> {
        let bytes = read::bytes(&path)?;
        let decoded = read::decode(bytes.clone().unwrap_or_default(), &path);
        let text = decoded.into_value(warnings);
        warnings.extend(Outline::parse(&text, 0).warning(&path));
        Ok(Self { path, bytes, text })
    }

    /// Returns whether there is a file.
    pub(crate) fn exists(&self) -> bool {
        self.bytes.is_some()
    }

    /// Returns the text, or the template if the file does not exist.
    pub(crate) fn text_or(&self, template: Template) -> &str {
        if self.exists() { &self.text } else { template.text() }
    }

    /// Fails if the file is not valid UTF-8, because an edit would also change bytes elsewhere in it, or if only
    /// its beginning was parsed.
    pub(crate) fn refuse_uneditable(&self) -> Result<()> {
        read::editable(self.bytes.as_deref().unwrap_or_default(), &self.path)?;
        let hint = "move what is outdated to a file with another name";
        Outline::check_whole(&self.text, &self.path, hint)
    }
}

impl LedgerFiles {
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let folder: PathBuf = project.root.join(&project.settings.ledger_dir);
        let folder: PathBuf = folder.components().collect();
        if !project.settings.origin("ledger_dir").is_users() {
            confine(&folder, &project.settings.folders(&project.root))?;
        }
        // Git's top and the project's root are canonical, so the path compared with them must be, too.
        let real = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        let below = project.git.top().and_then(|top| real.strip_prefix(top).ok());
        let repo_path = below.and_then(Path::to_str).filter(|name| !name.is_empty());
        let mut warnings = Vec::new();
        let mut file = |name: &str| LedgerFile::read(folder.join(name), &mut warnings);
        let [state, constraints, decisions] = NAMES;
        Ok(Self {
            state: file(state)?,
            constraints: file(constraints)?,
            decisions: file(decisions)?,
            repo_path: repo_path.map(|name| name.replace('\\', "/")),
            folder,
            warnings,
        })
    }

    pub(crate) fn all(&self) -> [&LedgerFile; 3] {
        [&self.state, &self.constraints, &self.decisions]
    }

    /// Returns the names of the committed files, as git takes them; `None` without a folder in a repository.
    pub(crate) fn committed_names(&self) -> Option<[String; 3]> {
        let folder = self.repo_path.as_ref()?;
        Some(NAMES.map(|name| format!("HEAD:{folder}/{name}")))
    }

    /// Fails if a file contains conflict markers, which a change could move apart, or is committed but excluded from a
    /// sparse checkout: a blank one would replace it.
    pub(crate) fn refuse_unwritable(&self, project: &Project) -> Result<()> {
        for file in self.all() {
            read::refuse_conflict(file.bytes.as_deref().unwrap_or_default(), &file.path)?;
        }
        let names = self.committed_names().filter(|_| project.git.is_sparse());
        let missing =
            names.into_iter().flatten().zip(self.all()).filter(|(_, file)| !file.exists());
        let missing: Vec<String> = missing.map(|(name, _)| name).collect();
        if missing.is_empty() || !project.git.exist(&missing)?.contains(&true) {
            return Ok(());
        }
        let folder = shell_word(self.repo_path.as_deref().unwrap_or_default());
        Err(Error::refused("the ledger is committed but excluded from this sparse checkout")
            .at(&self.folder, None)
            .hint(format!("restore it with `git sparse-checkout add {folder}`")))
    }
}

/// The outcome of `annals ledger init`.
#[derive(Debug, Serialize)]
pub struct InitReport {
    /// The ledger's folder, relative to the project.
    pub folder: PathBuf,
    /// The files created, or on a dry run those to create, relative to the project.
    pub created: Vec<PathBuf>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// The settings file that the hook was added to; `None` if it is already there, or was not requested.
    pub hook: Option<PathBuf>,
    /// Warnings from reading the files.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Creates each missing file from its template; the anchor is the checked-out commit, and covers nothing yet. `hook` plans
/// what is changed in settings with them.
pub fn init(project: &Project, hook: impl Fn() -> Result<Changes>) -> Result<InitReport> {
    let stores = [Store::Ledger, Store::Context];
    let ((folder, mut warnings), applied) = project.transact("ledger init", &stores, || {
        let mut changes = hook()?;
        let files = LedgerFiles::read(project)?;
        files.refuse_unwritable(project)?;
        let anchor = project.git.head()?.map(|hash| format!("{hash} {INIT_NOTE}"));
        let state = state::blank(project, anchor.as_deref().unwrap_or(NO_HASH))?;
        let [constraints, decisions] = [Template::LedgerConstraints, Template::LedgerDecisions];
        let texts = [state.as_str(), constraints.text(), decisions.text()];
        for (file, text) in files.all().into_iter().zip(texts).filter(|(file, _)| !file.exists()) {
            changes.edit(&file.path, None, text)?;
        }
        Ok(((files.folder, files.warnings), changes))
    })?;
    warnings.extend(applied.warnings);
    let is_settings = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let (settings, created) = applied.changed.into_iter().partition::<Vec<_>, _>(is_settings);
    Ok(InitReport {
        folder: project.relative(&folder).to_owned(),
        created,
        hook: settings.into_iter().next(),
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

/// A text that says nothing yet: a word for what is unknown, or one pair of brackets around all of it, which may not be
/// closed. Text after the closing bracket, such as the target of a link, is content.
static PLACEHOLDER: Pattern<Regex> = Pattern::new(
    r"(?is)^(?:todo|unknown \(needs human.*|needs triage.*|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}?|<[^<>]*>?|\[[^\[\]]*\]?)$",
);

/// A bullet of the outermost list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bullet {
    /// Index of its section.
    pub(crate) section: usize,
    /// Its own text on one line, without nested items.
    pub(crate) text: String,
    /// Whether it has a checkbox.
    pub(crate) has_box: bool,
    /// Byte range of its own text.
    pub(crate) range: Range<usize>,
    /// Byte range of its lines, including nested ones.
    pub(crate) lines: Range<usize>,
    /// Its line number, from 1.
    pub(crate) line: usize,
}

/// Returns the outermost bullets of a part of a text, which is the section with this index.
pub(crate) fn bullets(outline: &Outline<'_>, own: &Range<usize>, section: usize) -> Vec<Bullet> {
    let text = outline.text();
    let items: Vec<_> = outline.items(own).filter(|(_, item)| item.depth == 0).collect();
    let starts = items.iter().map(|(block, _)| line_start(text, block.range.start));
    let starts: Vec<usize> = starts.chain([own.end]).collect();
    let bullets = items.iter().zip(starts.windows(2)).map(|((block, item), lines)| Bullet {
        section,
        text: item.text.clone(),
        has_box: item.checked.is_some(),
        range: block.range.clone(),
        lines: lines[0]..item_end(text, lines[0], block.range.end, lines[1]),
        line: block.line,
    });
    bullets.collect()
}

/// Returns whether a bullet is more than a placeholder for nothing or for an unknown value.
pub(crate) fn is_filled(bullet: &str) -> bool {
    let plain = bullet.trim_matches(['(', ')', '*', '_', '.', ' ', '`']);
    // `<https://…>` is a link.
    plain.starts_with('<') && plain.contains("://")
        || !is_absent(plain) && !PLACEHOLDER.is_match(plain)
}

/// Returns the end of the front matter and of a byte order mark before it.
pub(crate) fn body_start(text: &str) -> usize {
    FrontMatter::parse(text, Path::new("")).value.range.end
}

/// Returns the line ends that leave a blank line between `before` and the text inserted after it.
pub(crate) fn gap_after(before: &str, line_end: &str) -> String {
    if matches!(before, "" | "\u{feff}") || before.ends_with("\n\n") || before.ends_with("\n\r\n") {
        return String::new();
    }
    line_end.repeat(if before.ends_with('\n') { 1 } else { 2 })
}

/// Returns a text with lines inserted at the start of a line, between blank lines.
pub(crate) fn with_lines(text: &str, at: usize, lines: &str) -> String {
    let end = line_end(text);
    let below = if at < text.len() { end } else { "" };
    let piece = lines.replace("\r\n", "\n").replace('\n', end);
    let piece = format!("{}{piece}{end}{below}", gap_after(&text[..at], end));
    edit::apply(text, vec![Edit::insert(at, piece)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_entirely_in_brackets_is_a_placeholder() {
        for text in [
            "{one line}",
            "{{ decision }}",
            "<what is next>",
            "[Decision].",
            "**[todo]**",
            "[what",
            "None.",
            "needs triage",
            "Unknown (needs human), ask Ada",
            "Unknown (needs human): see https://example.org",
        ] {
            assert!(!is_filled(text), "{text}");
        }
        for text in [
            "[ADR-12] Sessions live in Redis",
            "[ADR-12](docs/adr/12.md)",
            "[a] and [b]",
            "{id} is the key of a session",
            "<Suspense> wraps every route",
            "<b>Never</b>",
            "<https://example.org>",
        ] {
            assert!(is_filled(text), "{text}");
        }
    }
}
