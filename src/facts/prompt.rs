//! Builds the memory auditor's prompt from the known facts and the new input.

use serde_json::json;

use crate::embedding::Embedder;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::queue::Turn;
use crate::facts::search::{FactQuery, Method};
use crate::facts::store::Facts;
use crate::facts::{fact, search};

const TEMPLATE: &str = include_str!("auditor_prompt.txt");

/// Maximum number of known facts in the prompt.
const MAX_KNOWN_FACTS: usize = 40;

/// Maximum number of them found by search.
const FOUND: usize = 20;

/// Returns the prompt for a turn.
pub fn prompt(facts: &mut Facts, turn: &Turn, embedder: &Embedder) -> Result<String> {
    let known = candidates(facts, turn, embedder)?;
    Ok(render(&known, turn))
}

/// Returns the facts that the turn may concern: the search hits, then the most recently mentioned ones.
fn candidates(facts: &mut Facts, turn: &Turn, embedder: &Embedder) -> Result<Vec<Fact>> {
    let project = turn.project.as_deref();
    let query = FactQuery::candidates(&turn.user_input, project, FOUND, Method::default());
    let hits = search::retrieve(facts, &turn.user_id, &query, embedder)?.hits;
    let mut known = fact::select(
        facts.connection(),
        &turn.user_id,
        "status IN ('active', 'pending_confirmation')",
        &[],
    )?;
    known.retain(|fact| fact.project.is_none() || fact.project == turn.project);
    known.retain(|fact| hits.iter().all(|hit| hit.fact.fact_id != fact.fact_id));
    known.sort_by(|a, b| b.last_mentioned_at.cmp(&a.last_mentioned_at));
    let found = hits.into_iter().map(|hit| hit.fact);
    Ok(found.chain(known).take(MAX_KNOWN_FACTS).collect())
}

/// Fills in both placeholders in one pass, so that inserted text is never searched for placeholders.
fn render(known: &[Fact], turn: &Turn) -> String {
    let mut old = String::new();
    for fact in known {
        let line = json!({
            "fact_id": fact.fact_id, "key": fact.key, "value_text": fact.value_text,
            "category": fact.category, "confidence": fact.confidence, "status": fact.status,
            "valid_from": fact.valid_from, "valid_to": fact.valid_to, "updated_at": fact.updated_at,
        });
        old.push_str(&line.to_string());
        old.push('\n');
    }
    if old.is_empty() {
        old.push_str("(none)\n");
    }
    let new = json!({
        "said_at": turn.said_at, "user_input": turn.user_input,
        "assistant_response": turn.assistant_response,
    });
    let (head, rest) = TEMPLATE.split_once("{OLD_FACTS}").unwrap_or((TEMPLATE, ""));
    let (middle, tail) = rest.split_once("{USER_INPUT}").unwrap_or((rest, ""));
    [head, old.trim_end(), middle, &new.to_string(), tail].concat()
}

/// Returns the prompt extended by the last answer and its problem.
pub(crate) fn retry_prompt(prompt: &str, answer: &str, problem: &str) -> String {
    let shown = crate::text::clip(answer, 2_000);
    let shown = json!(shown);
    format!(
        "{prompt}\nYour last answer could not be used: {problem}\nThat answer was: {shown}\n\
         Return the JSON object only.\n"
    )
}
