//! The units a quantity can be written in, and the smallest unit of each.

/// What is measured; a quantity of one kind never turns into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Mass,
    Volume,
    Pieces,
}

/// Suffix, kind, and how many smallest units one of it holds.
const UNITS: &[(&str, Kind, i64)] = &[
    ("kg", Kind::Mass, 1000),
    ("g", Kind::Mass, 1),
    ("ml", Kind::Volume, 1),
    ("l", Kind::Volume, 1000),
    ("", Kind::Pieces, 1),
];

/// Finds a unit by the suffix people write.
pub fn unit(suffix: &str) -> Option<(Kind, i64)> {
    UNITS
        .iter()
        .find(|(name, ..)| *name == suffix)
        .map(|&(_, kind, scale)| (kind, scale))
}
