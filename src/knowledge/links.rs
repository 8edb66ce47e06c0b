//! Finds the links `[[key]]` in a text, except in code.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;

use crate::knowledge::entry::Fence;

/// A link to another entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link<'t> {
    /// The target.
    pub(crate) to: &'t str,
    /// Line number, from 1.
    pub(crate) line: usize,
    /// Byte range in the body, with the brackets.
    pub(crate) range: Range<usize>,
}

/// Returns the links of a body; `first` is the line number of its first line.
pub(crate) fn links(body: &str, first: usize) -> impl Iterator<Item = Link<'_>> {
    let has_any = memmem::find(body.as_bytes(), b"[[").is_some();
    let body = if has_any { body } else { "" };
    let mut fence = Fence::default();
    let mut begin = 0;
    let lines = body.split_inclusive('\n').enumerate();
    let lines = lines.filter_map(move |(index, whole)| {
        let text = whole.trim_end_matches(['\n', '\r']);
        let offset = begin;
        begin += whole.len();
        (!fence.contains(text) && text.contains("[[")).then_some((text, first + index, offset))
    });
    lines.flat_map(|(text, line, offset)| links_of_line(text, line, offset))
}

fn links_of_line(text: &str, line: usize, offset: usize) -> impl Iterator<Item = Link<'_>> {
    let mut spans = code_spans(text).into_iter().peekable();
    let mut at = 0;
    let next = move || loop {
        let start = at + text[at..].find("[[")? + 2;
        let close = start + text[start..].find("]]")?;
        let to = &text[start..close];
        // In `[[[a]]` and `[[a [[b]]`, only the innermost brackets count.
        let to = to.rsplit("[[").next().unwrap_or(to).trim_start_matches('[');
        at = close + 2;
        while spans.next_if(|span| span.end <= start).is_some() {}
        let is_code = spans.peek().is_some_and(|span| span.contains(&start));
        if !is_code && !to.trim().is_empty() {
            return Some(Link {
                to: to.trim(),
                line,
                range: offset + at - to.len() - 4..offset + at,
            });
        }
    };
    std::iter::from_fn(next)
}

/// Returns the ranges of code spans in a line: between two runs of equally many backticks.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let runs = backtick_runs(line);
    // For each run, the next one of its length: searching for it would be quadratic if there is none.
    let mut nearest = BTreeMap::new();
    let mut next: Vec<Option<usize>> = runs
        .iter()
        .enumerate()
        .rev()
        .map(|(index, run)| nearest.insert(run.len(), index))
        .collect();
    next.reverse();
    let mut spans = Vec::new();
    let mut open = 0;
    while let Some(run) = runs.get(open) {
        open = match next[open] {
            Some(close) => {
                spans.push(run.start..runs[close].end);
                close + 1
            }
            None => open + 1,
        };
    }
    spans
}

/// Returns the ranges of consecutive backticks.
fn backtick_runs(line: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in memchr::memchr_iter(b'`', line.as_bytes()) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(body: &str) -> Vec<(String, usize)> {
        let pair = |link: Link<'_>| (link.to.to_owned(), link.line);
        links(body, 1).map(pair).collect()
    }

    #[test]
    fn links_have_their_line() {
        let body = "See [[a]] and [[ b-c ]].\n\n- [[d]] — why\n";
        let expected = [("a", 1), ("b-c", 1), ("d", 3)].map(|(to, line)| (to.to_owned(), line));
        assert_eq!(found(body), expected);
        let first = links("[[a]]", 11).next();
        assert_eq!(first.map(|link| link.line), Some(11));
    }

    #[test]
    fn code_and_empty_brackets_contain_no_links() {
        for body in [
            "`[[a]]`", "``x ` [[a]]``", "```\n[[a]]\n```\n", "~~~ text\n[[a]]\n", "[[]] [[ ]] [[a",
            "[a](b)",
        ] {
            assert_eq!(found(body), [], "{body}");
        }
        assert_eq!(found("`a` [[b]] `c`"), [("b".to_owned(), 1)]);
        assert_eq!(found("a ` [[b]]"), [("b".to_owned(), 1)]);
        assert_eq!(found("` `` [[a]] `` [[b]]"), [("b".to_owned(), 1)]);
        assert_eq!(found("`[[a]]` [[b]] `[[c]]` [[d]]").len(), 2);
        assert_eq!(found("[[[b]]] [[x [[c]]"), [("b".to_owned(), 1), ("c".to_owned(), 1)]);
    }

    proptest! {
        #[test]
        fn no_text_panics(body in "[\\[\\]`a~é\n]{0,60}") {
            for link in links(&body, 1) {
                prop_assert!(body[link.range].starts_with("[["));
            }
        }
    }
}
