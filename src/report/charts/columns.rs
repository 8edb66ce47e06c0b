//! Columns over a row of labels: one value for each phase or month.

use crate::report::charts::real;
use crate::report::charts::svg::Anchor;
use crate::report::charts::svg::Svg;
use crate::report::charts::svg::WIDTH;
use crate::report::charts::svg::length;

const TOP: f64 = 18.0;
const HEIGHT: f64 = 100.0;
/// The room of the labels below.
const FOOT: f64 = 18.0;
/// The room between two labels.
const BETWEEN: f64 = 6.0;
/// A few columns need not be as wide as the picture allows.
const WIDEST: f64 = 44.0;

/// One value.
#[derive(Debug)]
pub(crate) struct Column {
    /// What stands below.
    pub(crate) label: String,
    /// How high it is.
    pub(crate) value: f64,
    /// What stands above.
    pub(crate) shown: String,
    /// What a pointer is told.
    pub(crate) title: String,
}

/// Draws the columns; nothing where there are none, or all are zero.
pub(crate) fn draw(label: &str, columns: &[Column]) -> Option<String> {
    let most = columns.iter().map(|one| one.value).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let room = WIDTH / real(columns.len());
    let width = (room * 0.7).min(WIDEST);
    let texts = columns.iter().flat_map(|one| [&one.label, &one.shown]);
    let longest = texts.map(|text| length(text)).fold(0.0, f64::max);
    // Labels that would run into each other are left out, every second or more of them.
    let every = (1..=columns.len())
        .find(|every| room * real(*every) >= longest + BETWEEN)
        .unwrap_or(columns.len());
    let base = TOP + HEIGHT;
    let mut svg = Svg::default();
    for (index, column) in columns.iter().enumerate() {
        let middle = room * (real(index) + 0.5);
        let height = HEIGHT * column.value / most;
        let place = [middle - width / 2.0, base - height, width, height];
        svg.bar(place, "bar", &column.title);
        if index % every == 0 {
            svg.text(middle, base - height - 4.0, Anchor::Middle, &column.shown);
            svg.text(middle, base + 14.0, Anchor::Middle, &column.label);
        }
    }
    svg.line((0.0, base), (WIDTH, base));
    Some(svg.finish(base + FOOT, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(count: usize) -> Vec<Column> {
        let column = |index: usize| Column {
            label: format!("p{index}"),
            value: real(index),
            shown: index.to_string(),
            title: String::new(),
        };
        (0..count).map(column).collect()
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(draw("x", &columns(0)), None);
        assert_eq!(draw("x", &columns(1)), None);
    }

    #[test]
    fn many_columns_are_labelled_sparsely() {
        let svg = draw("x", &columns(40)).unwrap();
        assert_eq!(svg.matches("<rect").count(), 40);
        assert_eq!(svg.matches("<text").count(), 28);
    }
}
