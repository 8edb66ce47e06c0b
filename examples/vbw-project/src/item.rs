//! What the pantry holds of one thing, worked out from the events.

use std::collections::BTreeMap;

use crate::event::Event;
use crate::quantity::Quantity;

/// Every item with what is left of it.
#[derive(Default)]
pub struct Pantry {
    pub items: BTreeMap<String, Quantity>,
}

impl Pantry {
    pub fn apply(&mut self, event: &Event) {
        let Some(mut change) = Quantity::parse(&event.quantity) else {
            return;
        };
        if !event.added {
            change.amount = -change.amount;
        }
        let left = self
            .items
            .get(&event.item)
            .map_or(Some(change), |old| old.plus(change));
        if let Some(left) = left {
            self.items.insert(event.item.clone(), left);
        }
    }
}

impl FromIterator<Event> for Pantry {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Pantry {
        let mut pantry = Pantry::default();
        for event in events {
            pantry.apply(&event);
        }
        pantry
    }
}
