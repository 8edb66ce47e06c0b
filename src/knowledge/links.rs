//! Finds the links `[[key]]` in a text, except in code.

use std::ops::Range;

use memchr::memmem;

use crate::knowledge::entry::Fence;

/// A link to another entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The target.
    pub(crate) to: String,
    /// Line number, from 1.
    pub(crate) line: usize,
    /// Byte range in the body, with the brackets.
    pub(crate) range: Range<usize>,
}

/// Returns the links of a body; `first` is the line number of its first line.
pub(crate) fn links(body: &str, first: usize) -> Vec<Link> {
    let mut found = Vec::new();
    if memmem::find(body.as_bytes(), b"[[").is_none() {
        return found;
    }
    let mut fence = Fence::default();
    let mut begin = 0;
    for (index, whole) in body.split_inclusive('\n').enumerate() {
        let line = whole.trim_end_matches(['\n', '\r']);
        let offset = begin;
        begin += whole.len();
        if fence.holds(line) || !line.contains("[[") {
            continue;
        }
        let spans = code_spans(line);
        let mut at = 0;
        while let Some(open) = line[at..].find("[[") {
            let start = at + open + 2;
            let Some(close) = line[start..].find("]]") else {
                break;
            };
            let to = &line[start..start + close];
            // In `[[[a]]` and `[[a [[b]]`, only the innermost brackets count.
            let to = to.rsplit("[[").next().unwrap_or(to).trim_start_matches('[');
            at = start + close + 2;
            if !spans.iter().any(|span| span.contains(&start)) && !to.trim().is_empty() {
                found.push(Link {
                    to: to.trim().to_owned(),
                    line: first + index,
                    range: offset + at - to.len() - 4..offset + at,
                });
            }
        }
    }
    found
}

/// Returns the ranges of code spans in a line: between two runs of equally many backticks.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(open) = line[at..].find('`') {
        let start = at + open;
        let run = run_at(line, start);
        at = start + run;
        let mut next = at;
        while let Some(close) = line[next..].find('`') {
            let close = next + close;
            let length = run_at(line, close);
            next = close + length;
            if length == run {
                spans.push(start..next);
                at = next;
                break;
            }
        }
    }
    spans
}

fn run_at(line: &str, at: usize) -> usize {
    line[at..].bytes().take_while(|byte| *byte == b'`').count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(body: &str) -> Vec<(String, usize)> {
        let pair = |link: Link| (link.to, link.line);
        links(body, 1).into_iter().map(pair).collect()
    }

    #[test]
    fn links_have_their_line() {
        let body = "See [[a]] and [[ b-c ]].\n\n- [[d]] — why\n";
        let expected = [("a", 1), ("b-c", 1), ("d", 3)].map(|(to, line)| (to.to_owned(), line));
        assert_eq!(found(body), expected);
        assert_eq!(links("[[a]]", 11)[0].line, 11);
    }

    #[test]
    fn code_and_empty_brackets_hold_none() {
        for body in [
            "`[[a]]`",
            "``x ` [[a]]``",
            "```\n[[a]]\n```\n",
            "~~~ text\n[[a]]\n",
            "[[]] [[ ]] [[a",
            "[a](b)",
        ] {
            assert_eq!(found(body), [], "{body}");
        }
        assert_eq!(found("`a` [[b]] `c`"), [("b".to_owned(), 1)]);
        assert_eq!(found("a ` [[b]]"), [("b".to_owned(), 1)]);
        assert_eq!(
            found("[[[b]]] [[x [[c]]"),
            [("b".to_owned(), 1), ("c".to_owned(), 1)]
        );
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
