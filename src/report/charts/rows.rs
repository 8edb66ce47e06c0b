//! Bars under their labels: shares of a whole.

use crate::report::charts::real;
use crate::report::charts::svg::Anchor;
use crate::report::charts::svg::Svg;
use crate::report::charts::svg::WIDTH;
use crate::report::charts::svg::fitting;

const ROW: f64 = 30.0;
const BAR: f64 = 8.0;
/// The room of the value at the right.
const VALUE: f64 = 90.0;

/// One share.
#[derive(Debug)]
pub(crate) struct Bar {
    /// What it is a share of.
    pub(crate) label: String,
    /// The part.
    pub(crate) value: f64,
    /// The whole.
    pub(crate) of: f64,
    /// Both, as people read them.
    pub(crate) shown: String,
}

/// Draws the bars; nothing where there are none.
pub(crate) fn draw(label: &str, bars: &[Bar]) -> Option<String> {
    if bars.is_empty() {
        return None;
    }
    let mut svg = Svg::default();
    for (index, bar) in bars.iter().enumerate() {
        let top = ROW * real(index);
        let share = if bar.of > 0.0 {
            bar.value / bar.of
        } else {
            0.0
        };
        let title = format!("{}: {}", bar.label, bar.shown);
        let name = fitting(&bar.label, WIDTH - VALUE);
        svg.text(0.0, top + 11.0, Anchor::Start, &name);
        svg.text(WIDTH, top + 11.0, Anchor::End, &bar.shown);
        svg.bar([0.0, top + 16.0, WIDTH, BAR], "ground", &title);
        svg.bar([0.0, top + 16.0, WIDTH * share, BAR], "bar", &title);
    }
    Some(svg.finish(ROW * real(bars.len()), label))
}
