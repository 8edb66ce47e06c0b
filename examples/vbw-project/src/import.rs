//! Reads the comma-separated files of version 0.1 as events.

use crate::event::Event;

/// One event for each `item,quantity` row; other rows are returned by number.
pub fn rows(text: &str, device: &str) -> (Vec<Event>, Vec<usize>) {
    let (mut events, mut skipped) = (Vec::new(), Vec::new());
    for (index, row) in text.lines().enumerate() {
        let line = row.split_once(',').map(|(item, quantity)| {
            format!("{index}\t{device}\t+\t{}\t{}", quantity.trim(), item.trim())
        });
        match line.as_deref().and_then(Event::parse) {
            Some(event) => events.push(event),
            None => skipped.push(index + 1),
        }
    }
    (events, skipped)
}
