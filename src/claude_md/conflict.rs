//! Detects git's conflict markers.

use crate::claude_md::marker::BlockMarker;

/// Returns the line number, counted from 1, of a conflict that contains a marker of the block or is inside
/// it.
pub(crate) fn in_block(text: &str) -> Option<usize> {
    let mut conflict = None;
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        let marker = BlockMarker::from_line(line);
        if line.starts_with("<<<<<<< ") {
            conflict = Some(index + 1);
        }
        if conflict.is_some() && (is_inside || marker.is_some()) {
            return conflict;
        }
        if line.starts_with(">>>>>>> ") {
            conflict = None;
        }
        match marker {
            Some(BlockMarker::Begin(_)) => is_inside = true,
            Some(BlockMarker::End) => is_inside = false,
            Some(BlockMarker::Damaged) | None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_conflict_that_touches_the_block_counts() {
        const BEGIN: &str = "<!-- annals:begin v1 sha256=ab -->\n";
        const END: &str = "<!-- annals:end -->\n";
        const CONFLICT: &str = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n";
        for (text, expected) in [
            (format!("{CONFLICT}{BEGIN}x\n{END}"), None),
            (format!("{BEGIN}x\n{END}{CONFLICT}"), None),
            (format!("{BEGIN}x\n{CONFLICT}{END}"), Some(3)),
            (format!("{BEGIN}a\n=======\nb\n{END}"), None),
            (format!("x\n<<<<<<< ours\n{BEGIN}=======\n{BEGIN}>>>>>>> theirs\n{END}"), Some(2)),
        ] {
            assert_eq!(in_block(&text), expected, "{text}");
        }
    }
}
