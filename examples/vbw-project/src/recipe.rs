//! A recipe file: a title line, then `quantity item` lines.

use crate::quantity::Quantity;

pub struct Recipe {
    pub title: String,
    pub needs: Vec<(String, Quantity)>,
}

impl Recipe {
    pub fn parse(text: &str) -> Recipe {
        let mut lines = text.lines();
        let title = lines.next().unwrap_or_default().trim().to_owned();
        let needs = lines
            .filter_map(|line| line.trim().split_once(' '))
            .filter_map(|(quantity, item)| Some((item.to_owned(), Quantity::parse(quantity)?)))
            .collect();
        Recipe { title, needs }
    }
}
