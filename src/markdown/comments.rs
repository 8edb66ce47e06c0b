//! Strips HTML comments from markdown.

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
    fn comments_outside_of_code_are_removed() {
        let text =
            "a\n<!-- one -->\nb <!-- two --> c\n<!--\nthree\n-->\n\n```\n<!-- code -->\n```\n";
        assert_eq!(
            without_comments(text),
            "a\nb  c\n\n```\n<!-- code -->\n```\n"
        );
    }
}
