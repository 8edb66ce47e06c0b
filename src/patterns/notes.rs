//! Adds lessons to PATTERNS.md at any time, in a separate section outside all entries.

use std::path::Path;

use crate::error::{Error, Result};
use crate::markdown::Outline;
use crate::patterns::Patterns;
use crate::patterns::appending::{changeable_text, check_whole};
use crate::patterns::judged::is_project_file;
use crate::plan::{PhaseNumber, PhaseNumbering, Survey};
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::templates::Template;
use crate::text::{Line, line_end};
use crate::{patterns, secrets, templates};

/// The heading of the section.
pub(crate) const HEADING: &str = "Notes";

/// Maximum length of a note, in characters.
const MAX_NOTE_LENGTH: usize = 400;

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
    let (is_new, applied) = project.transact("note a pattern", &[Store::Patterns], || {
        let mut changes = Changes::new();
        let is_new = plan(project, &line, &mut changes)?;
        Ok((is_new, changes))
    })?;
    Ok(NoteReport { line, is_new, diff: applied.diff })
}

fn written(project: &Project, request: &NoteRequest) -> Result<String> {
    let text = Line::new(request.text.trim());
    if let Some(rule) = secrets::first_rule(text.as_str()) {
        let message = format!("the note looks like a secret ({rule})");
        return Err(Error::refused(message).hint("say where the secret is stored, not its value"));
    }
    let length = text.as_str().chars().count();
    if text.is_empty() || length > MAX_NOTE_LENGTH {
        return Err(Error::refused(format!(
            "a note has 1 to {MAX_NOTE_LENGTH} characters, this one {length}"
        )));
    }
    if let Some(phase) = &request.phase
        && phase.numbering() == PhaseNumbering::MilestonePrefixed
    {
        Survey::read(project)?.check_number(phase)?;
    }
    let mut about = Vec::new();
    about.extend(request.phase.iter().map(|phase| format!("phase {phase}")));
    for file in &request.files {
        if !is_project_file(&project.root, file) {
            return Err(Error::refused(format!(
                "{file} is not the path of a file in this project"
            ))
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
    let text = changeable_text(bytes, &path)?;
    if is_listed(&text, line) {
        return Ok(false);
    }
    let new = noted(&text, line);
    if !is_listed(&new, line) {
        // What follows the last line that is read is not found, either.
        check_whole(&new, &path)?;
        let error = Error::refused("ends inside an unclosed block, where a note would not be read");
        return Err(error.at(&path, None).hint("close that block by hand"));
    }
    changes.edit(&path, old, new.into_bytes())?;
    Ok(true)
}

/// Returns whether a text contains the note, outside of all entries.
fn is_listed(text: &str, line: &str) -> bool {
    let patterns = Patterns::parse(text, Path::new("PATTERNS.md")).value;
    patterns.loose.iter().any(|loose| loose.text == line)
}

/// Returns the text with the note at the end of the last section of notes outside of entries, or of a new one.
fn noted(text: &str, line: &str) -> String {
    let end = line_end(text);
    let patterns = Patterns::parse(text, Path::new("PATTERNS.md")).value;
    let is_inside = |at: usize| patterns.entries.iter().any(|entry| entry.range.contains(&at));
    let outline = Outline::parse(text, 0);
    let mut sections = outline.sections().iter();
    let own =
        sections.rfind(|section| section.title == HEADING && !is_inside(section.heading.start));
    let Some(section) = own else {
        // The heading is at the level of the entries' headings, so that it ends the last entry.
        let level = |text: &str| text.trim_start().chars().take_while(|c| *c == '#').count();
        let levels =
            patterns.entries.iter().map(|entry| level(&entry.text)).filter(|level| *level > 0);
        let heading = "#".repeat(levels.min().unwrap_or(3).min(3));
        return format!("{}{end}{end}{heading} {HEADING}{end}{end}- {line}{end}", text.trim_end());
    };
    let before = text[..section.own.end].trim_end();
    let after = if before.len() == text.len() { end } else { &text[before.len()..] };
    // Directly below some blocks, such as HTML, the note would belong to them.
    let is_list = before.lines().last().is_some_and(|last| last.trim_start().starts_with("- "));
    let gap = if is_list { end.to_owned() } else { end.repeat(2) };
    format!("{before}{gap}- {line}{after}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn notes_share_one_section_outside_of_entries() {
        let file = "# P\n\n### Phase 1: A (2026-01-01)\n\n**What worked:**\n- x is so\n";
        let first = noted(file, "2026-02-02: one");
        assert!(first.starts_with(file));
        let second = noted(&first, "2026-02-03: two");
        assert!(
            second.ends_with("### Notes\n\n- 2026-02-02: one\n- 2026-02-03: two\n"),
            "{second}"
        );
        assert!(is_listed(&second, "2026-02-03: two"));
        // Entries appended later do not move the section.
        let later = format!("{second}\n### Phase 2: B (2026-03-03)\n\n**What worked:**\n- y\n");
        let third = noted(&later, "2026-03-04: three");
        assert!(third.contains("two\n- 2026-03-04: three\n\n### Phase 2"), "{third}");
        assert_eq!(third.replace("- 2026-03-04: three\n", ""), later);
    }

    #[test]
    fn the_first_note_of_an_empty_section_is_below_its_heading() {
        for file in ["# P\n\n### Notes", "# P\n\n### Notes\n", "# P\n\n### Notes\n\n"] {
            let new = noted(file, "2026-02-02: one");
            let added = "# P\n\n### Notes\n\n- 2026-02-02: one\n";
            assert_eq!(new.trim_end(), added.trim_end(), "{file:?}");
            assert!(new.ends_with('\n'));
        }
        let between = "### Notes\n### Phase 1: A (2026-01-01)\n\n**What worked:**\n- x\n";
        assert_eq!(
            noted(between, "2026-02-02: one"),
            between.replacen("Notes\n", "Notes\n\n- 2026-02-02: one\n", 1)
        );
    }

    #[test]
    fn a_block_left_open_is_not_written_into() {
        for open in ["# P\n\n```\ncode\n", "# P\n<!-- todo\n", "### Notes\n\n- old\n\n```\ncode\n"]
        {
            let note = "2026-02-02: one";
            assert!(!is_listed(&noted(open, note), note), "{open}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_lost(
            old in "([-#*>`~<! \t\r\n]|```|--|- a|<div>|### Notes\n|### Phase 3: Parser|---|é){0,30}",
            note in "[-#*>`~<!|\\[\\] a:(]{1,20}"
        ) {
            let line = format!("2026-02-02: {}", Line::new(&format!("a{note}b")));
            let new = noted(&old, &line);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let mut left = words(&new).into_iter();
            prop_assert!(words(&old).iter().all(|word| left.any(|other| other == *word)));
        }
    }
}
