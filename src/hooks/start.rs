//! Writes the text for the start of a session: what it needs to know, without what the harness already read.

use crate::context;
use crate::context::{AlreadyRead, DigestPart, DigestRequest};
use crate::error::{Error, Result};
use crate::hooks::Harness;
use crate::project::Project;
use crate::storage::read;
use crate::text::estimate_tokens;

/// The last line, with the command that prints what did not fit.
const REST: &str = "More: `annals context`";

/// Maximum length of an answer, in UTF-16 code units: harnesses drop a longer one, or show only a preview.
pub const LIMIT: usize = 9_500;

/// The parameters of a session's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Whether the conversation has just been compacted.
    pub(crate) is_compacted: bool,
    /// Whether to include the notepad.
    pub(crate) notepad: bool,
    /// Whether to include the knowledge entries.
    pub(crate) entries: bool,
}

/// Returns the text for a new session, or `None` if there is nothing new.
pub(crate) fn text(
    project: &Project,
    harness: Harness,
    start: Start,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let already_read = already_read(project, harness);
    let without = [
        (DigestPart::Notepad, !start.notepad),
        (DigestPart::Entries, !start.entries),
        (DigestPart::Decisions, already_read.has_decisions),
    ];
    let without = without.into_iter().filter(|(_, is_out)| *is_out).map(|(part, _)| part);
    let request = DigestRequest {
        // Joining two texts may add a token.
        budget: context::START_BUDGET - estimate_tokens(REST) - 2,
        compacted: start.is_compacted,
        without: without.collect(),
        max_lines_per_list: context::START_LINES,
        already_read,
        ..DigestRequest::default()
    };
    let digest = context::digest(project, &request)?;
    problems.extend(
        digest.warnings.into_iter().map(|warning| {
            Error::failed(warning.message).at(&warning.place.file, warning.place.line)
        }),
    );
    Ok((!digest.text.is_empty()).then(|| capped(&digest.text)))
}

/// Estimates the tokens that a new session of a harness reads: the context files in the project, and the text for its
/// start.
pub fn start_tokens(project: &Project, harness: Harness) -> usize {
    let start = Start {
        is_compacted: false,
        notepad: project.settings.notepad,
        entries: project.settings.entries,
    };
    let text = text(&project.dry_run(true), harness, start, &mut Vec::new());
    let text = text.ok().flatten().unwrap_or_default();
    let files = context_texts(project, harness).into_iter().chain([text]);
    files.map(|text| estimate_tokens(&text)).sum()
}

fn already_read(project: &Project, harness: Harness) -> AlreadyRead {
    let mut known = AlreadyRead::default();
    for text in context_texts(project, harness) {
        known.add(&text);
    }
    known
}

/// Reads what a harness shows its model of the context files in the project, and of `AGENTS.md` if one of them imports
/// it; a file that cannot be read counts as missing, so nothing is omitted because of it.
fn context_texts(project: &Project, harness: Harness) -> Vec<String> {
    let files = &harness.profile().context;
    let text = |name: &str| Some(read::text(&project.root.join(name)).ok().flatten()?.value);
    let mut texts: Vec<String> =
        files.names.iter().filter_map(|group| group.iter().find_map(|name| text(name))).collect();
    let imports = |text: &String| text.lines().any(|line| line.trim() == "@AGENTS.md");
    if files.has_imports && texts.iter().any(imports) {
        texts.extend(text("AGENTS.md"));
    }
    texts.iter().map(|text| files.visible(text).into_owned()).collect()
}

/// Returns as many leading lines of a text as fit into the limit, followed by the last line.
fn capped(text: &str) -> String {
    let units = |text: &str| text.encode_utf16().count();
    let room = LIMIT.saturating_sub(units(REST) + 2);
    let mut used = 0;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        used += units(line);
        if used > room {
            break;
        }
        kept.push_str(line);
    }
    // A heading with nothing below it is dropped.
    let mut kept = kept.trim_end();
    while let Some((before, last)) = kept.rsplit_once('\n')
        && last.starts_with('#')
    {
        kept = before.trim_end();
    }
    format!("{kept}\n\n{REST}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_at_a_line_and_with_the_way_to_the_rest() {
        let line = format!("- {}\n", "\u{1f600}".repeat(40));
        let long = capped(&format!("# Title\n\n## A\n{}", line.repeat(500)));
        let units = |text: &str| text.encode_utf16().count();
        assert!(units(&long) <= LIMIT);
        assert!(units(&long) > LIMIT - 2 * units(&line));
        assert!(long.ends_with("\u{1f600}\n\nMore: `annals context`"));
        assert_eq!(capped("# T\n- a\n\n## C\n"), "# T\n- a\n\nMore: `annals context`");
    }
}
