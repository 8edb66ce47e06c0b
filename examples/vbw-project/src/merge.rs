//! Joins two copies of a pantry file.

use crate::event::Event;

/// Every event of both once, by time and then device.
pub fn merge(left: Vec<Event>, right: Vec<Event>) -> Vec<Event> {
    let mut all = left;
    for event in right {
        if !all.contains(&event) {
            all.push(event);
        }
    }
    all.sort_by(|a, b| (a.time, &a.device).cmp(&(b.time, &b.device)));
    all
}
