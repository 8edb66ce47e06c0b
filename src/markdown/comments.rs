//! Strips HTML comments from markdown, and finds those of annals.

use std::ops::Range;

/// Returns the name of a line that is a marker of annals, and the rest of the line: `begin` and ` v1 -->`.
pub(crate) fn annals_marker(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim().strip_prefix("<!--")?.trim_start();
    let marker = inner.strip_prefix("annals:")?;
    let end = marker.find(|c: char| !c.is_ascii_alphanumeric());
    Some(marker.split_at(end.unwrap_or(marker.len())))
}

/// Returns the lines of the generated block of a context file with its markers; `None` unless there is one of each.
pub(crate) fn generated_block(text: &str) -> Option<Range<usize>> {
    let mut markers = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some((name @ ("begin" | "end"), _)) = annals_marker(line) {
            markers.push((name, start..end));
        }
        start = end;
    }
    match &markers[..] {
        [("begin", begin), ("end", end)] => Some(begin.start..end.end),
        _ => None,
    }
}

/// Returns a text without HTML comments outside of code fences.
pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_fenced = false;
    let mut is_comment = false;
    for line in text.split_inclusive('\n') {
        if !is_comment && is_fence(line) {
            is_fenced = !is_fenced;
        }
        if is_fenced {
            kept.push_str(line);
        } else {
            let before = kept.len();
            let was_comment = is_comment;
            prose(line, &mut is_comment, &mut kept);
            // A line that consisted only of a comment leaves no empty line behind.
            let is_bare = kept[before..].trim().is_empty() && !line.trim().is_empty();
            if is_bare || was_comment && kept[before..].trim().is_empty() {
                kept.truncate(before);
            }
        }
    }
    kept
}

fn prose(line: &str, is_comment: &mut bool, kept: &mut String) {
    let mut rest = line;
    while !rest.is_empty() {
        let sign = if *is_comment { "-->" } else { "<!--" };
        let (before, after) = match rest.split_once(sign) {
            Some((before, after)) => (before, Some(after)),
            None => (rest, None),
        };
        if !*is_comment {
            kept.push_str(before);
        }
        let Some(after) = after else { return };
        *is_comment = !*is_comment;
        rest = after;
    }
}

/// Returns whether a line opens or closes a code fence.
pub(crate) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_block_has_one_marker_at_each_end() {
        for begin in ["<!-- annals:begin v1 -->", "  <!--annals:begin v1-->"] {
            let block = format!("{begin}\nx\n<!-- annals:end -->\n");
            let text = format!("a\n{block}b\n");
            assert_eq!(generated_block(&text), Some(2..2 + block.len()), "{begin}");
            assert_eq!(generated_block(&format!("{block}{block}")), None);
        }
        let marker = "<!-- annals:begin v1 -->\n";
        for text in ["", marker, "<!-- annals:end -->\n<!-- annals:begin v1 -->\n"] {
            assert_eq!(generated_block(text), None, "{text}");
        }
    }

    #[test]
    fn comments_outside_of_code_are_removed() {
        let text =
            "a\n<!-- one -->\nb <!-- two --> c\n<!--\nthree\n-->\n\n```\n<!-- code -->\n```\n";
        assert_eq!(without_comments(text), "a\nb  c\n\n```\n<!-- code -->\n```\n");
    }
}
