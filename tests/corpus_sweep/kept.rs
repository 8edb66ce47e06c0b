//! What a person wrote into a context file is kept byte for byte.
//!
//! The block may stand for the sections that the planning workflow itself had generated and that the block now
//! says better: `may_go` names them by heading and by the shape of their body. All else stays, in order.

/// Returns the lines of a context file that were lost when the block was written into it.
pub(super) fn lost(old: &[u8], new: &[u8]) -> Vec<String> {
    let (block, outside) = split_block(new);
    let (head, body) = split_head(old);
    // The block may take the title and the core value over.
    let mut lost: Vec<_> = lines(head)
        .filter(|line| !is_blank(line) && !holds(block, line) && !holds(&outside, line))
        .map(shown)
        .collect();
    let (kept, has_generated) = own_lines(body);
    if has_generated {
        let mut left = lines(&outside);
        let missing = kept.into_iter().filter(|line| !left.any(|one| one == *line));
        // The first is the finding; what follows may be missing only because the search is past it.
        lost.extend(missing.map(shown).take(1));
    } else if !holds(&outside, body) {
        lost.push("the text is no longer there as one piece".to_owned());
    }
    lost
}

/// Returns whether a text holds a piece, byte for byte.
pub(super) fn holds(text: &[u8], piece: &[u8]) -> bool {
    piece.is_empty() || text.windows(piece.len()).any(|window| window == piece)
}

/// Returns the block and all that stands around it; without markers there is no block.
fn split_block(text: &[u8]) -> (&[u8], Vec<u8>) {
    let position = |piece: &[u8]| text.windows(piece.len()).position(|window| window == piece);
    let (begin, end) = (b"<!-- annals:begin", b"<!-- annals:end -->");
    match (position(begin), position(end)) {
        (Some(start), Some(last)) if start < last => {
            let stop = last + end.len();
            (&text[start..stop], [&text[..start], &text[stop..]].concat())
        }
        _ => (&[], text.to_vec()),
    }
}

/// Splits off the title and the core value, where a file begins with them.
fn split_head(text: &[u8]) -> (&[u8], &[u8]) {
    let is_head = |line: &&[u8]| {
        is_blank(line) || line.starts_with(b"# ") || line.starts_with(b"**Core value:**")
    };
    let starts_with_title =
        lines(text).find(|line| !is_blank(line)).is_some_and(|line| line.starts_with(b"# "));
    let length: usize = lines(text).take_while(is_head).map(<[u8]>::len).sum();
    text.split_at(if starts_with_title { length } else { 0 })
}

/// Returns the lines that have to stay, blank ones aside, and whether there were any that may go.
fn own_lines(text: &[u8]) -> (Vec<&[u8]>, bool) {
    let mut sections: Vec<Vec<&[u8]>> = vec![Vec::new()];
    let mut is_fenced = false;
    for line in lines(text) {
        is_fenced ^= line.trim_ascii_start().starts_with(b"```");
        let is_heading = line.starts_with(b"# ") || line.starts_with(b"## ");
        // A foreign tool's marker begins a stretch of its own, whatever section it stands in.
        if !is_fenced && (is_heading || line.starts_with(b"<!--")) {
            sections.push(Vec::new());
        }
        sections.last_mut().unwrap().push(line);
    }
    let all = sections.len();
    sections.retain(|section| !may_go(section));
    let has_generated = sections.len() < all;
    let kept = sections.into_iter().flatten().filter(|line| !is_blank(line));
    (kept.collect(), has_generated)
}

/// Returns whether a section is one that the workflow generated and the block replaces.
fn may_go(section: &[&[u8]]) -> bool {
    let Some((heading, body)) = section.split_first() else {
        return false;
    };
    let heading = String::from_utf8_lossy(heading);
    let body = String::from_utf8_lossy(&body.concat()).into_owned();
    let first = body.trim_start();
    match heading.trim().strip_prefix("## ").unwrap_or_default() {
        "Active Context" => first.starts_with("**Work:**") || first.starts_with("**Milestone:**"),
        "Key Decisions" => first.starts_with("| Decision |"),
        "Installed Skills" | "Learned Patterns" => true,
        "State" | "VBW State" => first.starts_with("- Planning directory:"),
        "Commands" | "VBW Commands" | "YOLO Commands" => {
            ["/vbw:", "/yolo:"].iter().any(|word| body.contains(word))
        }
        _ => false,
    }
}

/// Each line with its ending, so that a changed ending is a changed line.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str =
        "<!-- annals:begin v1 sha256=0 -->\n# Title\n\n## Active Context\n<!-- annals:end -->\n";

    fn lost_from(old: &str, rest: &str) -> Vec<String> {
        lost(old.as_bytes(), format!("{BLOCK}{rest}").as_bytes())
    }

    #[test]
    fn text_without_generated_sections_stays_in_one_piece() {
        let old = "# Title\n\n## Mine\r\n\r\ntext\u{fffd}";
        assert!(lost_from(old, &format!("\n{old}")).is_empty());
        assert!(lost_from(old, "\n## Mine\r\n\r\ntext\u{fffd}").is_empty());
        for changed in
            ["## Mine\n\ntext\u{fffd}", "## Mine\r\n\r\ntext", "## Mine\r\ntext\u{fffd}", ""]
        {
            assert_eq!(lost_from(old, changed).len(), 1, "{changed:?}");
        }
        assert_eq!(lost_from("# Other\n\nmine\n", "mine\n"), ["# Other"]);
    }

    #[test]
    fn a_generated_section_may_go_and_nothing_else() {
        let old = "intro\n\n## Active Context\n\n**Work:** none\n\n## Commands\n\nmake all\n\n## Last\n\nend\n";
        let kept = "intro\n\n## Commands\n\nmake all\n\n## Last\n\nend\n";
        assert!(lost_from(old, kept).is_empty());
        assert!(lost_from(old, old).is_empty());
        assert_eq!(lost_from(old, "intro\n\n## Last\n\nend\n"), ["## Commands"]);
        assert_eq!(lost_from(old, "## Commands\nmake all\n## Last\nend\nintro\n"), ["## Commands"]);
    }

    #[test]
    fn a_users_section_of_the_same_name_and_a_fenced_heading_stay() {
        let own = "## Key Decisions\n\n- Use tabs\n\n## Installed Skills\n- x\n";
        assert_eq!(lost_from(own, ""), ["## Key Decisions"]);
        let fenced = "```\n## Installed Skills\n```\nmine\n";
        assert_eq!(lost_from(fenced, "mine\n").len(), 1);
        let marked = "## Installed Skills\n- x\n<!-- other:start -->\nmine\n";
        assert_eq!(lost_from(marked, ""), ["<!-- other:start -->"]);
    }

    #[test]
    fn the_block_does_not_vouch_for_text_outside_of_it() {
        let old = "mine\n\n## Active Context\n\nmy own words\n";
        assert_eq!(lost_from(old, "mine\n").len(), 1);
    }
}
