//! What to buy: what the recipes need and the pantry does not hold.

use crate::item::Pantry;
use crate::quantity::Quantity;
use crate::recipe::Recipe;

/// The missing quantities, in the order of the recipes.
pub fn list(pantry: &Pantry, recipes: &[Recipe]) -> Vec<(String, Quantity)> {
    let mut missing = Vec::new();
    for (item, needed) in recipes.iter().flat_map(|recipe| &recipe.needs) {
        let held = pantry.items.get(item).map_or(0, |held| held.amount);
        if held < needed.amount {
            let amount = needed.amount - held;
            missing.push((item.clone(), Quantity { amount, ..*needed }));
        }
    }
    missing
}
