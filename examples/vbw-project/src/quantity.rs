//! An amount in the smallest unit of its kind.

use crate::units::{unit, Kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    pub amount: i64,
    pub kind: Kind,
}

impl Quantity {
    /// Reads `2kg`, `300g`, `1l` or a plain count.
    pub fn parse(text: &str) -> Option<Quantity> {
        let digits = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (kind, scale) = unit(&text[digits..])?;
        let amount = text[..digits].parse::<i64>().ok()?.checked_mul(scale)?;
        Some(Quantity { amount, kind })
    }

    /// Adds, unless the kinds differ.
    pub fn plus(self, other: Quantity) -> Option<Quantity> {
        let amount = self.amount.checked_add(other.amount)?;
        (self.kind == other.kind).then_some(Quantity { amount, ..self })
    }
}
