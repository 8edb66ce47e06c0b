//! The table that `list` prints.

use crate::item::Pantry;

pub fn table(pantry: &Pantry) -> String {
    let width = pantry.items.keys().map(String::len).max().unwrap_or(0);
    let rows = pantry.items.iter();
    rows.map(|(item, left)| format!("{item:width$}  {:>6}\n", left.amount))
        .collect()
}
