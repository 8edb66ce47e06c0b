//! Writes the pantry as JSON, one key an item.

use crate::item::Pantry;

pub fn json(pantry: &Pantry) -> String {
    let rows: Vec<String> = pantry
        .items
        .iter()
        .map(|(item, left)| format!("  {item:?}: {}", left.amount))
        .collect();
    format!("{{\n{}\n}}", rows.join(",\n"))
}
