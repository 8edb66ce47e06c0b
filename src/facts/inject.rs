//! Selects the part of a profile that fits into the next prompt.

use std::cmp::Reverse;

use serde::Serialize;

use crate::error::Result;
use crate::facts::fact::{Category, Fact, UserId};
use crate::facts::search::judge_each;
use crate::facts::store::Facts;
use crate::facts::{confidence, maintenance, profile};
use crate::text::{self, Line};

/// Days without a mention or change after which a fact ranks below fresher ones.
const STALE_AFTER: i64 = 90;

/// The user's facts for a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct Injection {
    /// The user.
    pub user_id: String,
    /// The text.
    pub text: String,
    /// Approximate number of tokens in the text.
    pub tokens: usize,
    /// Maximum number of tokens.
    pub budget: usize,
    /// The facts in it.
    pub facts: Vec<String>,
    /// Number of valid facts that are left out.
    pub left_out: usize,
    /// Number of left-out facts unrelated to the query; the others did not fit.
    pub unrelated: usize,
}

/// The sections of the text; facts of earlier ones are dropped last.
const SECTIONS: [&str; 3] = ["Constraints and facts", "Current tasks", "Preferences"];

/// Returns the section of a fact, as its index.
fn section(fact: &Fact) -> usize {
    match fact.category {
        Category::Identity | Category::HardPreference | Category::Health => 0,
        Category::TaskContext => 1,
        Category::SoftPreference | Category::Other => 2,
    }
}

/// Returns a user's valid facts, as many as fit: constraints, then tasks, then preferences.
///
/// With a query, only facts related to it, and constraints that apply to every prompt.
pub fn inject(
    facts: &Facts,
    user: &UserId,
    project: Option<&str>,
    budget: usize,
    query: Option<&str>,
) -> Result<Injection> {
    let now = facts.clock().timestamp();
    let all = profile::valid(facts.connection(), user, project, &now)?;
    let total = all.len();
    let shares = match query {
        Some(query) => judge_each(facts.connection(), user, query, &now, all.iter())?,
        None => vec![Some(0.0); total],
    };
    let stale = maintenance::before(facts.clock().now(), STALE_AFTER);
    let related = in_order(all, &shares, &stale);
    let unrelated = total - related.len();
    let mut selected: Vec<Fact> = Vec::new();
    for fact in related {
        selected.push(fact);
        if text::estimate_tokens(&page(&selected)) > budget {
            selected.pop();
        }
    }
    let text = page(&selected);
    Ok(Injection {
        user_id: user.as_str().to_owned(),
        tokens: text::estimate_tokens(&text),
        text,
        budget,
        left_out: total - selected.len(),
        unrelated,
        facts: selected.into_iter().map(|fact| fact.fact_id).collect(),
    })
}

/// Returns the facts with a share and those that apply to every prompt, the most important first.
fn in_order(facts: Vec<Fact>, shares: &[Option<f64>], stale: &str) -> Vec<Fact> {
    let mut ordered: Vec<(f64, Fact)> = facts
        .into_iter()
        .zip(shares)
        .filter_map(|(fact, share)| {
            let is_law = matches!(fact.category, Category::HardPreference | Category::Health);
            Some(((*share).or(is_law.then_some(0.0))?, fact))
        })
        .collect();
    ordered.sort_by_key(|(share, fact)| {
        let is_unsure = fact.confidence < confidence::FIRST_MENTION;
        let is_stale_or_unsure = fact.last_touched() < stale || is_unsure;
        let (share, sure) = (Reverse(share.to_bits()), Reverse(fact.confidence.to_bits()));
        (section(fact), is_stale_or_unsure, share, sure, fact.key.clone())
    });
    ordered.into_iter().map(|(_, fact)| fact).collect()
}

/// Renders the facts; values are single sanitised lines, which cannot become headings or instruction blocks.
fn page(facts: &[Fact]) -> String {
    let mut page = String::new();
    for (index, title) in SECTIONS.into_iter().enumerate() {
        let lines: String = facts
            .iter()
            .filter(|fact| section(fact) == index)
            .map(|fact| {
                let value = Line::new(&fact.value_text);
                let end = fact.valid_to.as_deref().map(|end| end.get(..10).unwrap_or(end));
                let end = end.map(|end| format!(" (until {end})")).unwrap_or_default();
                let key = fact.key.trim_end_matches("[]");
                format!("- {key}: {value}{end} [{:.2}]\n", fact.confidence)
            })
            .collect();
        if !lines.is_empty() {
            page.push_str(&format!("{title}:\n{lines}"));
        }
    }
    page
}
