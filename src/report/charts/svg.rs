//! An SVG element under construction; every text that goes into it is escaped here.

use crate::report::charts::real;

/// The width of every picture, in its own units: as wide as a small screen, so that text stays readable there.
pub(crate) const WIDTH: f64 = 360.0;

/// How wide a character of a label is at most.
const CHARACTER: f64 = 6.6;

/// A picture.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    body: String,
}

/// Where a text starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

impl Svg {
    /// Writes a text at a point of its base line.
    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.add(&format!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    /// Draws a filled box; a pointer over it is told the title.
    pub(crate) fn bar(&mut self, place: [f64; 4], class: &str, title: &str) {
        let [x, y, width, height] = place;
        let title = escaped(title);
        self.add(&format!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="2"><title>{title}</title></rect>"#
        ));
    }

    /// Draws a dot.
    pub(crate) fn dot(&mut self, x: f64, y: f64, class: &str) {
        self.add(&format!(
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#
        ));
    }

    /// Draws a straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.add(&format!(
            r#"<path class="axis" d="M{:.1} {:.1}L{:.1} {:.1}"/>"#,
            from.0, from.1, to.0, to.1
        ));
    }

    /// Draws an arc to the left of two points on one vertical.
    pub(crate) fn arc(&mut self, x: f64, from: f64, to: f64, reach: f64, title: &str) {
        let title = escaped(title);
        let control = x - reach;
        self.add(&format!(
            r#"<path class="link" d="M{x:.1} {from:.1}C{control:.1} {from:.1} {control:.1} {to:.1} {x:.1} {to:.1}"><title>{title}</title></path>"#
        ));
    }

    /// Returns the whole element.
    pub(crate) fn finish(self, height: f64, label: &str) -> String {
        let label = escaped(label);
        format!(
            r#"<svg viewBox="0 0 {WIDTH:.0} {height:.0}" role="img" aria-label="{label}">{}</svg>"#,
            self.body
        )
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
    }
}

/// Returns how long a text is at most.
pub(crate) fn length(text: &str) -> f64 {
    real(text.chars().count()) * CHARACTER
}

/// Returns a text that fits so many units.
pub(crate) fn fitting(text: &str, width: f64) -> String {
    let fits = |count: usize| real(count) * CHARACTER <= width;
    if fits(text.chars().count()) {
        return text.to_owned();
    }
    let mut short = String::new();
    for (index, c) in text.chars().enumerate() {
        if !fits(index + 2) {
            break;
        }
        short.push(c);
    }
    format!("{}…", short.trim_end())
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_opens_no_element() {
        let mut svg = Svg::default();
        svg.text(0.0, 0.0, Anchor::End, "</text><script>alert(1)</script>");
        svg.bar([0.0; 4], "bar", "\"><script>");
        let done = svg.finish(10.0, "\" onload=\"alert(1)");
        assert!(!done.contains("<script"), "{done}");
        assert!(!done.contains("\" onload"), "{done}");
    }

    #[test]
    fn what_is_too_long_is_cut() {
        assert_eq!(fitting("short", 100.0), "short");
        let cut = fitting(&"é".repeat(100), 66.0);
        assert_eq!(cut, format!("{}…", "é".repeat(9)));
    }
}
