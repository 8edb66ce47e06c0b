//! The knowledge entries as a column of names, joined by arcs where one names another.

use std::collections::BTreeMap;

use crate::report::charts::DRAWN;
use crate::report::charts::real;
use crate::report::charts::svg::Anchor;
use crate::report::charts::svg::Svg;
use crate::report::charts::svg::WIDTH;
use crate::report::charts::svg::fitting;
use crate::report::page::EntryRow;
use crate::text::quantity;

const ROW: f64 = 20.0;
/// Where the names begin: left of it is the room of the arcs.
const NAMES: f64 = 110.0;

/// Draws the entries; nothing where none names another. Of many, the most linked are drawn.
pub(crate) fn draw(entries: &[EntryRow]) -> Option<String> {
    let drawn = most_linked(entries);
    let rows: BTreeMap<&str, usize> = drawn.iter().map(|one| one.key.as_str()).zip(0..).collect();
    let middle = |row: usize| ROW * (real(row) + 0.5);
    let mut svg = Svg::default();
    let mut arcs = 0;
    for entry in &drawn {
        let from = rows[entry.key.as_str()];
        for to in entry.links.iter().filter_map(|key| rows.get(key.as_str())) {
            let title = format!("{} names {}", entry.key, drawn[*to].key);
            let far = real(from.abs_diff(*to)) / real(drawn.len().max(2) - 1);
            let reach = (0.2 + 0.8 * far) * (NAMES - 14.0) * 1.3;
            svg.arc(NAMES - 8.0, middle(from), middle(*to), reach, &title);
            arcs += 1;
        }
    }
    if arcs == 0 {
        return None;
    }
    for (row, entry) in drawn.iter().enumerate() {
        let class = if entry.status == "active" {
            "dot"
        } else {
            "dot open"
        };
        svg.dot(NAMES - 8.0, middle(row), class);
        let name = fitting(&entry.key, WIDTH - NAMES);
        svg.text(NAMES, middle(row) + 4.0, Anchor::Start, &name);
    }
    let label = format!(
        "{} between {}",
        quantity(arcs, "link"),
        quantity(drawn.len(), "entry")
    );
    Some(svg.finish(ROW * real(drawn.len()), &label))
}

/// Returns the entries with links to or from others, in their order.
fn most_linked(entries: &[EntryRow]) -> Vec<&EntryRow> {
    let mut degrees: BTreeMap<&str, usize> =
        entries.iter().map(|one| (one.key.as_str(), 0)).collect();
    for entry in entries {
        for to in &entry.links {
            if let Some(degree) = degrees.get_mut(to.as_str()) {
                *degree += 1;
                *degrees.entry(&entry.key).or_default() += 1;
            }
        }
    }
    let mut linked: Vec<&EntryRow> = entries
        .iter()
        .filter(|one| degrees[one.key.as_str()] > 0)
        .collect();
    linked.sort_by(|a, b| degrees[b.key.as_str()].cmp(&degrees[a.key.as_str()]));
    linked.truncate(DRAWN);
    linked.sort_by(|a, b| a.key.cmp(&b.key));
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, links: &[&str]) -> EntryRow {
        EntryRow {
            key: key.to_owned(),
            links: links.iter().map(|&key| key.to_owned()).collect(),
            ..EntryRow::default()
        }
    }

    #[test]
    fn only_links_between_entries_are_drawn() {
        let entries = [
            entry("a", &["b", "gone"]),
            entry("b", &[]),
            entry("c", &["gone"]),
        ];
        let svg = draw(&entries).unwrap();
        assert_eq!(svg.matches("<path").count(), 1);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(draw(&entries[2..]), None);
    }
}
