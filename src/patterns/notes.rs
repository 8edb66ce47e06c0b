//! Adds lessons to PATTERNS.md at any time, in a separate section outside all entries.

use std::path::Path;

use crate::error::Error;
use crate::error::Result;
use crate::markdown::Outline;
use crate::patterns;
use crate::patterns::Patterns;
use crate::patterns::appending::CLOSINGS;
use crate::patterns::appending::changeable_text;
use crate::patterns::appending::unclosed;
use crate::patterns::named_files;
use crate::planning::PhaseIds;
use crate::planning::PhaseNumber;
use crate::position::Survey;
use crate::project::Project;
use crate::secrets;
use crate::storage::Changes;
use crate::storage::Store;
use crate::templates;
use crate::templates::Template;
use crate::text::Line;
use crate::text::line_end;

/// The heading of the section.
pub(crate) const HEADING: &str = "Notes";

/// Maximum length of a note, in characters.
const WIDTH: usize = 400;

/// A request to note a lesson.
#[derive(Clone, Debug, Default)]
pub struct NoteRequest {
    /// The lesson.
    pub text: String,
    /// The phase it belongs to.
    pub phase: Option<PhaseNumber>,
    /// The files it is about, relative to the project.
    pub files: Vec<String>,
}

/// The outcome of noting a lesson. It is the document of `annals patterns note --json`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct NoteReport {
    /// The note as written in PATTERNS.md.
    pub line: String,
    /// Whether the note was added; false if PATTERNS.md already contains it.
    pub is_new: bool,
    /// The changes, on a dry run.
    pub diff: Option<String>,
}

/// Notes a lesson in the section `Notes` of PATTERNS.md.
pub fn note(project: &Project, request: &NoteRequest) -> Result<NoteReport> {
    project.planning()?;
    let line = written(project, request)?;
    let (is_new, applied) =
        project
            .storage()
            .transact("note a pattern", &[Store::Patterns], || {
                let mut changes = Changes::new();
                let is_new = plan(project, &line, &mut changes)?;
                Ok((is_new, changes))
            })?;
    Ok(NoteReport {
        line,
        is_new,
        diff: applied.dry_run.then_some(applied.diff),
    })
}

fn written(project: &Project, request: &NoteRequest) -> Result<String> {
    let text = Line::new(request.text.trim());
    if let Some(secret) = secrets::find(text.as_str()).first() {
        let message = format!("the note looks like a secret ({})", secret.rule);
        return Err(Error::refused(message).hint("say where the secret is stored, not its value"));
    }
    let length = text.as_str().chars().count();
    if text.is_empty() || length > WIDTH {
        return Err(Error::refused(format!(
            "a note has 1 to {WIDTH} characters, this one {length}"
        )));
    }
    if let Some(phase) = &request.phase
        && phase.ids() == PhaseIds::MilestonePrefixed
    {
        Survey::read(project)?.check_number(phase)?;
    }
    let mut about = Vec::new();
    about.extend(request.phase.iter().map(|phase| format!("phase {phase}")));
    for file in &request.files {
        if !named_files::exists(&project.root, file) {
            return Err(Error::refused(format!("there is no file {file}"))
                .hint("name files relative to the project"));
        }
        about.push(format!("`{file}`"));
    }
    let about = match &about[..] {
        [] => String::new(),
        about => format!(" ({})", about.join(", ")),
    };
    Ok(format!("{}: {text}{about}", project.clock.today()))
}

/// Plans adding the note, and returns whether it is new.
fn plan(project: &Project, line: &str, changes: &mut Changes) -> Result<bool> {
    let path = patterns::path(&project.planning_place().dir);
    let old = changes.current(&path)?;
    let bytes = match &old {
        Some(bytes) => bytes.clone(),
        None => templates::render(project, Template::PatternsHeader, &())?.into_bytes(),
    };
    let text = read::decode(bytes.clone(), &path).value;
    if text.as_bytes() != bytes {
        return Err(Error::refused("is not UTF-8 text").at(&path, None));
    }
    patterns::check_whole(&text, &path)?;
    let Some(new) = noted(&text, line) else {
        return Ok(false);
    };
    changes.edit(&path, old, new.into_bytes())?;
    Ok(true)
}

/// Returns the text with the note appended to its section; `None` if the text already contains it.
fn noted(text: &str, line: &str) -> Option<String> {
    let end = line_end(text);
    let patterns = Patterns::parse(text, Path::new("PATTERNS.md")).value;
    if patterns.loose.iter().any(|loose| loose.text == line) {
        return None;
    }
    let outline = Outline::parse(text, 0);
    let is_inside = |at: usize| {
        patterns
            .entries
            .iter()
            .any(|entry| entry.range.contains(&at))
    };
    let own = outline
        .sections()
        .iter()
        .rfind(|section| section.title == HEADING && !is_inside(section.heading.start));
    if let Some(section) = own {
        let body = text[..section.own.end].trim_end().len();
        let mut new = text[..body].to_owned();
        let is_first = text[section.heading.end..body].trim().is_empty();
        new.push_str(end);
        if is_first {
            new.push_str(end);
        }
        new.push_str("- ");
        new.push_str(line);
        let rest = &text[body..];
        new.push_str(if rest.is_empty() { end } else { rest });
        return Some(new);
    }
    // The heading is at the level of the entries' headings, so that it ends the last entry.
    let levels = patterns.entries.iter().map(|entry| {
        let marks = entry.text.trim_start().chars();
        marks.take_while(|c| *c == '#').count()
    });
    let level = levels.filter(|level| *level > 0).min().unwrap_or(3).min(3);
    let head = text.trim_end();
    Some(format!(
        "{head}{end}{end}{} {HEADING}{end}{end}- {line}{end}",
        "#".repeat(level)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_share_one_section_outside_of_entries() {
        let file = "# P\n\n### Phase 1: A (2026-01-01)\n\n**What worked:**\n- x is so\n";
        let first = noted(file, "2026-02-02: one").unwrap();
        assert!(first.starts_with(file));
        let second = noted(&first, "2026-02-03: two").unwrap();
        assert!(
            second.ends_with("### Notes\n\n- 2026-02-02: one\n- 2026-02-03: two\n"),
            "{second}"
        );
        assert_eq!(noted(&second, "2026-02-03: two"), None);
        // Entries appended later do not move the section.
        let later = format!("{second}\n### Phase 2: B (2026-03-03)\n\n**What worked:**\n- y\n");
        let third = noted(&later, "2026-03-04: three").unwrap();
        assert!(
            third.contains("two\n- 2026-03-04: three\n\n### Phase 2"),
            "{third}"
        );
        assert_eq!(third.replace("- 2026-03-04: three\n", ""), later);
    }
}
