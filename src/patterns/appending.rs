//! Appends an entry to PATTERNS.md without changing any existing byte.

use std::iter;
use std::path::Path;

use crate::error::{Error, Result};
use crate::markdown::Outline;
use crate::patterns::{Patterns, Retrospective, Trace};
use crate::project::Project;
use crate::storage::Changes;
use crate::templates::Template;
use crate::text::line_end;
use crate::{patterns, templates};

/// Text that closes a block left open at the end of a file. A closing fence may be longer than its opening
/// fence, so the short ones are tried first.
pub(crate) const CLOSINGS: &[&str] =
    &["", "```", "~~~", "-->", "````", "~~~~", "``````````", "~~~~~~~~~~"];

/// Plans appending entries to PATTERNS.md, which is created with a header if it does not exist.
///
/// Every existing byte is kept. This does not check whether a phase already has an entry.
pub fn append(project: &Project, entries: &[Retrospective], changes: &mut Changes) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let path = patterns::path(&project.planning_place().dir);
    let old = changes.current(&path)?;
    let head = templates::render(project, Template::PatternsHeader, &())?;
    let texts: Vec<String> =
        entries.iter().map(|entry| entry.render(project)).collect::<Result<_>>()?;
    let new = texts.iter().zip(entries).map(|(text, entry)| NewEntry { text, trace: &entry.trace });
    let new: Vec<NewEntry> = new.collect();
    let known = old.as_deref().unwrap_or_default();
    let longer = [known, texts.concat().as_bytes()].concat();
    check_whole(&String::from_utf8_lossy(&longer), &path)?;
    let bytes = appended(known, &head, &new).ok_or_else(|| unclosed(&path))?;
    changes.edit(&path, old, bytes)
}

/// Returns the error about a file to which nothing can be appended.
fn unclosed(path: &Path) -> Error {
    Error::refused("is UTF-16, or ends inside an unclosed HTML block")
        .at(path, None)
        .hint("save it as UTF-8 and close that block by hand")
}

/// Returns the text of a file that is to be changed within; refused if a byte would be lost.
pub(crate) fn changeable_text(bytes: Vec<u8>, path: &Path) -> Result<String> {
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::refused("is not valid UTF-8, so it is not changed").at(path, None))?;
    check_whole(&text, path)?;
    Ok(text)
}

/// Refuses to change a file if only the beginning of this text would be parsed.
pub(crate) fn check_whole(text: &str, path: &Path) -> Result<()> {
    Outline::check_whole(text, path, "move older entries to a file with another name")
}

/// An entry to be appended.
#[derive(Clone, Copy)]
struct NewEntry<'a> {
    text: &'a str,
    trace: &'a Trace,
}

/// Returns the file's bytes with entries appended; in an empty file, `head` comes first.
///
/// The entries get the line endings of the file. Returns `None` if they would not be parsed as entries there:
/// inside an unclosed block, or in UTF-16.
fn appended(old: &[u8], head: &str, entries: &[NewEntry<'_>]) -> Option<Vec<u8>> {
    if old.is_empty() {
        let mut new = head.as_bytes().to_vec();
        for entry in entries {
            join(&mut new, "", entry.text, "\n");
        }
        return Some(new);
    }
    if old.starts_with(&[0xff, 0xfe]) || old.starts_with(&[0xfe, 0xff]) {
        return None;
    }
    let end = line_end(old);
    CLOSINGS.iter().find_map(|closing| {
        let mut new = old.to_vec();
        let closings = iter::once(*closing).chain(iter::repeat(""));
        for (entry, closing) in entries.iter().zip(closings) {
            join(&mut new, closing, entry.text, end);
        }
        are_entries(&new, old.len(), entries).then_some(new)
    })
}

/// Appends an entry after a blank line, closing a block with `closing` first.
fn join(new: &mut Vec<u8>, closing: &str, entry: &str, end: &str) {
    let end_line = |new: &mut Vec<u8>| {
        if !new.ends_with(b"\n") {
            new.extend(end.as_bytes());
        }
    };
    end_line(new);
    if !closing.is_empty() {
        new.extend(closing.as_bytes());
        end_line(new);
    }
    let blank = format!("\n{end}");
    if !new.ends_with(blank.as_bytes()) {
        new.extend(end.as_bytes());
    }
    for line in entry.lines() {
        new.extend(line.as_bytes());
        new.extend(end.as_bytes());
    }
}

/// Returns whether the last entries of a text are those that were added after byte `from`.
fn are_entries(text: &[u8], from: usize, new: &[NewEntry<'_>]) -> bool {
    let old = &text[..from];
    let breaks = memchr::memchr_iter(b'\n', old).count();
    let old_lines = breaks + usize::from(!old.ends_with(b"\n"));
    let text = String::from_utf8_lossy(text);
    let patterns = Patterns::parse(&text, Path::new("PATTERNS.md")).value;
    let added = patterns.entries.iter().filter(|entry| entry.line > old_lines);
    let added = added.map(|entry| entry.trace.as_ref());
    added.eq(new.iter().map(|entry| Some(entry.trace)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::PlanNumber;

    const HEAD: &str = "# Learned Patterns\n\nWhat was learned.\n";
    const ENTRY: &str = "### Phase 3: Parser (2026-02-11)\n\
        <!-- annals: phase-dir=03-parser plans=01 digest=ab12 -->\n\n\
        **What worked:**\n- Small steps (plan 01)\n\n**What failed:**\n- none observed\n\n\
        **Timing:**\n- Plans: 1, Average: 4m, Total: 4m\n- Effort: balanced\n\n**Deviations:** 0\n";

    fn trace() -> Trace {
        Trace {
            phase_dir: "03-parser".to_owned(),
            plans: vec![PlanNumber::from(1)],
            digest: "ab12".to_owned(),
            ..Trace::default()
        }
    }

    fn added(old: &[u8]) -> Option<Vec<u8>> {
        let trace = trace();
        let entry = NewEntry { text: ENTRY, trace: &trace };
        appended(old, HEAD, &[entry])
    }

    #[test]
    fn several_entries_are_appended_at_once() {
        let (first, second) = (trace(), Trace { phase_dir: "04-b".to_owned(), ..trace() });
        let text = ENTRY.replace("03-parser", "04-b");
        let entries = [(ENTRY, &first), (text.as_str(), &second)];
        let entries = entries.map(|(text, trace)| NewEntry { text, trace });
        for (old, before) in
            [("", format!("{HEAD}\n")), ("# P\n```\na\n", "# P\n```\na\n```\n\n".to_owned())]
        {
            let new = appended(old.as_bytes(), HEAD, &entries).unwrap();
            let expected = format!("{before}{ENTRY}\n{text}");
            assert_eq!(String::from_utf8(new).unwrap(), expected);
        }
    }

    #[test]
    fn an_empty_file_gets_the_head_first() {
        let new = added(b"").unwrap();
        assert_eq!(String::from_utf8(new).unwrap(), format!("{HEAD}\n{ENTRY}"));
    }

    #[test]
    fn one_blank_line_stands_in_front_whatever_the_end() {
        for old in ["# P\n- a", "# P\n- a\n", "# P\n- a\n\n"] {
            let new = String::from_utf8(added(old.as_bytes()).unwrap()).unwrap();
            assert_eq!(new, format!("# P\n- a\n\n{ENTRY}"), "{old:?}");
        }
        let heading = "# P\n\n### Phase 3: Parser";
        let new = String::from_utf8(added(heading.as_bytes()).unwrap()).unwrap();
        assert_eq!(new, format!("{heading}\n\n{ENTRY}"));
        let new = String::from_utf8(added(b"# P\r\n- a\r\n").unwrap()).unwrap();
        assert_eq!(new, format!("# P\r\n- a\r\n\r\n{}", ENTRY.replace('\n', "\r\n")));
    }

    #[test]
    fn a_block_that_is_left_open_is_closed_first() {
        for (old, closing) in [
            ("# P\n```sh\nls", "```"),
            ("# P\n~~~~\nls\n```\n", "~~~~"),
            ("# P\n<!-- todo\n", "-->"),
            ("# P\n`````\nls\n", "``````````"),
        ] {
            let new = String::from_utf8(added(old.as_bytes()).unwrap()).unwrap();
            let old = format!("{}\n", old.trim_end());
            assert_eq!(new, format!("{old}{closing}\n\n{ENTRY}"));
        }
    }

    #[test]
    fn what_would_swallow_an_entry_gets_none() {
        assert_eq!(added(b"# P\n<script>\nlet a;\n"), None);
        assert_eq!(added(b"\xff\xfe#\0 \0P\0"), None);
    }

    proptest! {
        #[test]
        fn every_old_byte_is_kept_and_the_entry_is_one(
            old in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..60),
                "([-#*>`~<! \t\r\n]|```|--|- a|<div>|### Phase 3: Parser|---|é){0,30}".prop_map(String::into_bytes),
            ]
        ) {
            let Some(new) = added(&old) else {
                return Ok(());
            };
            prop_assert!(new.starts_with(&old));
            let text = String::from_utf8_lossy(&new);
            let entries = Patterns::parse(&text, Path::new("P.md")).value.entries;
            let entry = entries.last().unwrap();
            prop_assert_eq!(entry.trace.as_ref(), Some(&trace()));
            prop_assert_eq!(&entry.worked, &["Small steps (plan 01)"]);
            prop_assert_eq!(&entry.failed, &Vec::<String>::new());
            prop_assert_eq!(entry.timing.total.as_deref(), Some("4m"));
            prop_assert_eq!(entry.deviations.count, Some(0));
        }
    }
}
