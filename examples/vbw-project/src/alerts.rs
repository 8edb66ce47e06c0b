//! Which items fall under the threshold set for them.

use std::collections::BTreeMap;

use crate::item::Pantry;

/// The least that should be left of an item, in its smallest unit.
pub type Thresholds = BTreeMap<String, i64>;

/// The items that run low, by name.
pub fn low<'a>(pantry: &'a Pantry, thresholds: &Thresholds) -> Vec<&'a str> {
    let is_low = |item: &str, left: i64| thresholds.get(item).is_some_and(|least| left < *least);
    pantry
        .items
        .iter()
        .filter(|(item, left)| is_low(item, left.amount))
        .map(|(item, _)| item.as_str())
        .collect()
}
