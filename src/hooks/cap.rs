//! Keeps the text of an answer below the length at which harnesses truncate it.

/// Maximum length of an answer, in UTF-16 code units: harnesses drop a longer one, or show only a preview.
pub const LIMIT: usize = 9_500;

/// Returns as many leading lines of a text as fit into the limit, followed by a last line.
pub(crate) fn capped(text: &str, last: &str) -> String {
    let room = LIMIT.saturating_sub(units(last) + 1);
    let mut used = 0;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        used += units(line);
        if used > room {
            break;
        }
        kept.push_str(line);
    }
    let kept = without_bare_headings(kept.trim_end());
    format!("{kept}\n\n{last}")
}

/// Returns the length of a text as harnesses count it, in UTF-16 code units.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Removes headings with nothing below them, except the first line.
pub(crate) fn without_bare_headings(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_bare = |index: usize| {
        let below = lines[index + 1..].iter().find(|line| !line.is_empty());
        index > 0
            && lines[index].starts_with('#')
            && below.is_none_or(|below| below.starts_with('#'))
    };
    let mut kept: Vec<&str> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let is_second_blank = line.is_empty() && kept.last().is_none_or(|last| last.is_empty());
        if !is_bare(index) && !is_second_blank {
            kept.push(line);
        }
    }
    kept.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_at_a_line_and_with_the_way_to_the_rest() {
        let line = format!("- {}\n", "\u{1f600}".repeat(40));
        let text = format!("# Title\n\n## A\n{}", line.repeat(500));
        let capped = capped(&text, "Rest: annals status");
        assert!(units(&capped) <= LIMIT);
        assert!(units(&capped) > LIMIT - 2 * units(&line));
        assert!(capped.ends_with("\u{1f600}\n\nRest: annals status"));
    }

    #[test]
    fn a_heading_without_anything_below_is_dropped() {
        let text = "# T\n\n## A\n\n## B\n- b\n\n\n## C\n";
        assert_eq!(without_bare_headings(text), "# T\n\n## B\n- b");
    }
}
