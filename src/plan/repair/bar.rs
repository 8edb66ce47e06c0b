//! Redraws a progress bar with its own length and characters.

/// Returns a bar of the same length and characters for another percentage; `None` if its characters are
/// unclear.
pub(super) fn redrawn(bar: &str, percent: u32) -> Option<String> {
    let inner = bar.strip_prefix('[').and_then(|bar| bar.strip_suffix(']')).unwrap_or(bar);
    let cells: Vec<char> = inner.chars().collect();
    let (full, empty) = signs(&cells)?;
    let filled = (cells.len() * percent.min(100) as usize) / 100;
    let drawn: String =
        (0..cells.len()).map(|cell| if cell < filled { full } else { empty }).collect();
    Some(bar.replacen(inner, &drawn, 1))
}

/// Characters for full and empty cells that are used together; the first match is used.
const PAIRS: &[(char, char)] = &[
    ('\u{2588}', '\u{2591}'),
    ('\u{2593}', '\u{2591}'),
    ('\u{25a0}', '\u{25a1}'),
    ('\u{25cf}', '\u{25cb}'),
    ('\u{25b0}', '\u{25b1}'),
    ('#', '-'),
    ('=', '-'),
    ('#', '.'),
    ('#', '_'),
    ('#', ' '),
];

/// Returns the characters for full and empty cells; a missing one is replaced with its usual counterpart.
fn signs(cells: &[char]) -> Option<(char, char)> {
    let (first, last) = (*cells.first()?, *cells.last()?);
    if first != last {
        let is_plain = cells.iter().all(|cell| *cell == first || *cell == last);
        return is_plain.then_some((first, last));
    }
    if cells.iter().any(|cell| *cell != first) {
        return None;
    }
    PAIRS.iter().copied().find(|(full, empty)| first == *full || first == *empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_keeps_its_cells_and_signs() {
        for (bar, percent, expected) in [
            ("[####------]", 70, Some("[#######---]")),
            ("[----------]", 50, Some("[#####-----]")),
            ("[==========]", 30, Some("[===-------]")),
            ("\u{2591}\u{2591}\u{2591}\u{2591}", 50, Some("\u{2588}\u{2588}\u{2591}\u{2591}")),
            ("[\u{2588}\u{2588}]", 99, Some("[\u{2588}\u{2591}]")),
            ("[===>   ]", 50, None),
            ("[]", 50, None),
        ] {
            assert_eq!(redrawn(bar, percent).as_deref(), expected, "{bar}");
        }
    }
}
