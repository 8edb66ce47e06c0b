//! Puts a list item and what is indented below it on one line.

use crate::markdown::{Block, BlockContent, ListItem, Outline};
use crate::text::one_line;

/// Returns a list item with what is indented below it: `Before the launch: a; b`.
pub(crate) fn on_one_line(outline: &Outline<'_>, block: &Block, item: &ListItem) -> String {
    match details(outline, block, item) {
        Some(details) => format!("{}{details}", with_joint(&item.text)),
        None => item.text.clone(),
    }
}

/// Returns what is indented below a list item as one line, without ticked boxes: `a; b`.
pub(crate) fn details(outline: &Outline<'_>, block: &Block, item: &ListItem) -> Option<String> {
    let below = block.range.start + 1..item.whole.end;
    let lines = outline.blocks(&below).iter().filter_map(|block| {
        let text = match &block.content {
            BlockContent::Item(item) if item.checked != Some(true) => item.text.clone(),
            BlockContent::Paragraph => one_line(outline.slice(&block.range)),
            _ => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    });
    lines.reduce(|joined, line| {
        if is_lead(&joined) {
            return format!("{joined} {line}");
        }
        let joined = joined.trim_end_matches([';', '.', ',']);
        format!("{joined}; {line}")
    })
}

/// Returns whether a text announces what follows it: `Before the launch:`, `**Launch:**`.
pub(crate) fn is_lead(text: &str) -> bool {
    text.trim_end_matches(['*', '_']).ends_with(':')
}

/// Returns a text with the joint before its details.
fn with_joint(text: &str) -> String {
    let is_sentence = text.trim_end_matches(['*', '_', ')']).ends_with(['.', '!', '?']);
    let joint = if is_lead(text) || is_sentence { " " } else { ": " };
    format!("{text}{joint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_indented_follows_its_item() {
        for (text, expected) in [
            ("- Plain\n", "Plain"),
            (
                "- Label printer (needs its own phase):\n  - one driver.\n  - paper sizes\n  - no cloud\n- Other\n",
                "Label printer (needs its own phase): one driver; paper sizes; no cloud",
            ),
            ("- **Launch:**\n  - a\n", "**Launch:** a"),
            ("- Launch\n  - a:\n    - a1\n    - a2\n  - b\n", "Launch: a: a1; a2; b"),
            ("- It hangs.\n\n  Only at\n  night.\n", "It hangs. Only at night."),
            ("- [ ] Move\n  - [x] read\n  - [ ] write\n", "Move: write"),
            ("- Run it\n  ```\n  make\n  ```\n\nAfter it.\n", "Run it"),
        ] {
            let outline = Outline::parse(text, 0);
            let (block, item) = outline.items(&(0..text.len())).next().unwrap();
            assert_eq!(on_one_line(&outline, block, item), expected);
        }
    }
}
