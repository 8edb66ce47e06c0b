//! Tools on facts about the user.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Result;
use crate::facts;
use crate::facts::{FactQuery, Facts, Method, ProjectScope, Purpose, Selection, Statement};
use crate::mcp::answer::{ToolAnswer, fenced};
use crate::mcp::arguments::{Arguments, NoArguments};
use crate::project::Project;
use crate::search::Relevance;
use crate::secrets::SecretPolicy;

/// Maximum number of facts per call.
const MAX_FACTS: usize = 50;

fn open(project: &Project, purpose: Purpose) -> Result<Facts> {
    Facts::open(project, None, purpose)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddArguments {
    key: String,
    value: String,
}

pub(crate) fn add(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let arguments: AddArguments = arguments.read()?;
    let (user, _) = facts::user_or_systems(project, None)?;
    let statement =
        Statement { key: arguments.key, value: arguments.value, ..Statement::default() };
    let added = facts::add(&mut open(project, Purpose::Write)?, &user, &statement)?;
    let fact = added.fact.map(|fact| format!(" {fact}")).unwrap_or_default();
    Ok(ToolAnswer::text(format!("{}:{fact}\n", added.outcome.as_str())))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetrieveArguments {
    query: String,
    limit: Option<usize>,
    #[serde(default)]
    all: bool,
}

pub(crate) fn retrieve(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let search: RetrieveArguments = arguments.read()?;
    let (user, _) = facts::user_or_systems(project, None)?;
    let query = FactQuery {
        text: search.query,
        limit: search.limit.unwrap_or(10).clamp(1, MAX_FACTS),
        scope: ProjectScope::General,
        method: Method::from(project.settings.facts.fusion),
        selection: if search.all { Selection::All } else { Selection::Relevant },
        uses_encoder: project.settings.encoder,
    };
    let embedder = facts::embedder(project)?;
    let found = facts::retrieve(&mut open(project, Purpose::Read)?, &user, &query, &embedder)?;
    let lines = found.hits.iter().map(|hit| {
        let mark = if hit.relevance == Some(Relevance::Low) { "low relevance: " } else { "" };
        format!("{mark}{}\n", hit.fact)
    });
    let text = if found.hits.is_empty() {
        "Nothing relevant is known; pass `all` for the nearest.\n".to_owned()
    } else {
        fenced("the user's facts", &lines.collect::<String>())
    };
    Ok(ToolAnswer::text(text))
}

pub(crate) fn pending(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let NoArguments {} = arguments.read()?;
    let (user, _) = facts::user_or_systems(project, None)?;
    let pending = facts::pending(&open(project, Purpose::Read)?, &user)?;
    ToolAnswer::json("annals facts list --pending", &pending)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApplyArguments {
    turn_id: String,
    actions: Value,
}

pub(crate) fn apply(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let arguments: ApplyArguments = arguments.read()?;
    let (user, _) = facts::user_or_systems(project, None)?;
    let answer = json!({ "actions": arguments.actions }).to_string();
    let mut store = open(project, Purpose::Write)?;
    let applied =
        facts::apply(&mut store, &user, &arguments.turn_id, &answer, SecretPolicy::Refuse)?;
    let results = applied.applied.iter().map(|one| format!("{} {}", one.outcome.as_str(), one.key));
    let results: Vec<String> = results.collect();
    Ok(ToolAnswer::text(format!("Applied: {}.\n", results.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools;
    use crate::mcp::tools::ToolSet;

    #[test]
    fn the_schema_of_an_action_matches_its_parser() {
        let answer = |action: Value| json!({ "actions": [action] }).to_string();
        let shape =
            tools::find("fact_apply", &[ToolSet::Facts]).unwrap().properties["actions"]["items"]
                .clone();
        let fields = shape["properties"].as_object().unwrap();
        let least = json!({"type": "noop", "key": "city", "confidence_delta": 0, "reason": "said"});
        let read = facts::parse_answer(&answer(least.clone()), SecretPolicy::Refuse).unwrap();
        let read = serde_json::to_value(&read[0]).unwrap();
        assert!(read.as_object().unwrap().keys().eq(fields.keys()));
        for required in shape["required"].as_array().unwrap() {
            let mut less = least.clone();
            less.as_object_mut().unwrap().remove(required.as_str().unwrap());
            assert!(
                facts::parse_answer(&answer(less), SecretPolicy::Refuse).is_err(),
                "{required}"
            );
        }
        for kind in fields["type"]["enum"].as_array().unwrap() {
            let mut other = least.clone();
            other["type"] = kind.clone();
            other["new_value_text"] = json!("Turin");
            assert!(facts::parse_answer(&answer(other), SecretPolicy::Refuse).is_ok(), "{kind}");
        }
    }
}
