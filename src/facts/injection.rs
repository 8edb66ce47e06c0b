//! Selects the part of a profile that fits into the next prompt.

use std::cmp::Reverse;

use serde::Serialize;

use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::search::judge_each;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vocabulary::Category;
use crate::facts::{confidence, maintenance, profile};
use crate::text;
use crate::text::Line;

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

/// The section of a fact; facts of earlier sections are dropped last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    Constraint,
    Task,
    Preference,
}

impl Priority {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Constraint, "Constraints and facts"),
        (Self::Task, "Current tasks"),
        (Self::Preference, "Preferences"),
    ];

    fn for_fact(fact: &Fact) -> Self {
        match fact.category {
            Category::Identity | Category::HardPreference | Category::Health => Self::Constraint,
            Category::TaskContext => Self::Task,
            Category::SoftPreference | Category::Other => Self::Preference,
        }
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
        Some(query) => judge_each(facts.connection(), user, query, all.iter())?,
        None => vec![Some(0.0); total],
    };
    let stale = maintenance::before(facts.clock().now(), STALE_AFTER);
    let related = in_order(all, &shares, &stale);
    let mut selected: Vec<Fact> = Vec::new();
    for fact in &related {
        selected.push(fact.clone());
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
        unrelated: total - related.len(),
        facts: selected.into_iter().map(|fact| fact.fact_id).collect(),
    })
}

/// Returns the facts with a share and those that apply to every prompt, the most important first.
fn in_order(facts: Vec<Fact>, shares: &[Option<f64>], stale: &str) -> Vec<Fact> {
    let mut ordered: Vec<(f64, Fact)> = facts
        .into_iter()
        .zip(shares)
        .filter_map(|(fact, share)| {
            let share = (*share).or_else(|| applies_to_every_prompt(&fact).then_some(0.0))?;
            Some((share, fact))
        })
        .collect();
    ordered.sort_by_key(|(share, fact)| {
        let is_unsure = fact.confidence < confidence::FIRST_MENTION;
        let is_stale_or_unsure = fact.last_touched() < stale || is_unsure;
        let (share, sure) = (share.to_bits(), fact.confidence.to_bits());
        (
            Priority::for_fact(fact),
            is_stale_or_unsure,
            Reverse(share),
            Reverse(sure),
            fact.key.clone(),
        )
    });
    ordered.into_iter().map(|(_, fact)| fact).collect()
}

/// Returns whether a fact must be followed whatever the prompt is about.
fn applies_to_every_prompt(fact: &Fact) -> bool {
    matches!(fact.category, Category::HardPreference | Category::Health)
}

/// Renders the facts; values are single sanitised lines, which cannot become headings or instruction blocks.
fn page(facts: &[Fact]) -> String {
    let mut page = String::new();
    for (rank, title) in Priority::ALL {
        let mut lines = facts.iter().filter(|fact| Priority::for_fact(fact) == rank).peekable();
        if lines.peek().is_none() {
            continue;
        }
        page.push_str(title);
        page.push_str(":\n");
        for fact in lines {
            let value = Line::new(&fact.value_text);
            let end = match &fact.valid_to {
                Some(end) => format!(" (until {})", end.get(..10).unwrap_or(end)),
                None => String::new(),
            };
            let key = fact.key.trim_end_matches("[]");
            let line = format!("- {key}: {value}{end} [{:.2}]\n", fact.confidence);
            page.push_str(&line);
        }
    }
    page
}
