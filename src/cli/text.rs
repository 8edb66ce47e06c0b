//! The text of results for people: a template for each, over the document that `--json` prints.

use std::io;
use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

use crate::clock::parse_date;
use crate::knowledge::yaml;
use crate::text::{Line, clip, one_line, quantity, slashed};

/// Number of characters of an id that are printed, enough to identify a fact.
const ID: usize = 8;

/// Renders a template of `templates/text/`.
pub(crate) fn render<T: Serialize>(template: &str, document: &T) -> io::Result<String> {
    let document = Value::from(Serde(serde_json::to_value(document)?));
    let rendered = environment().and_then(|engine| engine.render_str(template, document));
    rendered.map_err(io::Error::other)
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    let mut engine = Environment::new();
    engine.set_syntax(syntax);
    // A field that is not there may be asked for, and not printed.
    engine.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    engine.add_filter("quantity", |count: i64, one: &str| quantity(count, one));
    engine.add_filter("clip", |text: &str, width: usize| clip(&one_line(text), width).into_owned());
    engine.add_filter("line", |text: &str| Line::new(text).to_string());
    engine.add_filter("scalar", |text: &str| yaml::scalar(text));
    engine.add_filter("quoted", |text: &str| yaml::quoted(text));
    engine.add_filter("fixed", |number: f64, digits: usize| format!("{number:.digits$}"));
    engine.add_filter("signed", |number: f64, digits: usize| format!("{number:+.digits$}"));
    engine.add_filter("left", |text: &str, width: usize| format!("{text:<width$}"));
    engine.add_filter("right", |text: &str, width: usize| format!("{text:>width$}"));
    engine.add_filter("trim_end", |text: &str| text.trim_end().to_owned());
    engine.add_filter("some", some);
    engine.add_filter("below", below);
    engine.add_filter("folder", |path: &str| {
        slashed(Path::new(path).parent().unwrap_or(Path::new("")))
    });
    // A date needs no quotes; any other text may.
    engine.add_filter("day", |text: &str| match parse_date(text) {
        Some(_) if text.len() == 10 => text.to_owned(),
        _ => yaml::scalar(text),
    });
    engine.add_filter("flow", flow);
    engine.add_filter("id", |id: &str| id.get(..ID).unwrap_or(id).to_owned());
    Ok(engine)
}

/// Joins the first items of a list, and counts the others.
#[expect(clippy::needless_pass_by_value, reason = "filters take owned values")]
fn some(items: Vec<String>, most: usize, one: &str) -> String {
    match items.len().saturating_sub(most) {
        0 => items.join(", "),
        more => format!("{} and {}", items[..most].join(", "), quantity(more, one)),
    }
}

/// Joins paths, each relative to a folder.
#[expect(clippy::needless_pass_by_value, reason = "filters take owned values")]
fn below(paths: Vec<String>, folder: &str) -> String {
    let below = paths.iter().map(|path| {
        let path = Path::new(path);
        slashed(path.strip_prefix(folder).unwrap_or(path))
    });
    below.collect::<Vec<String>>().join(", ")
}

/// Returns a list as a YAML flow sequence of scalars, or of mappings with these fields.
#[expect(clippy::needless_pass_by_value, reason = "a filter of a template takes its arguments so")]
fn flow(items: Vec<Value>, fields: Option<Vec<String>>) -> Result<String, minijinja::Error> {
    let scalar = |value: Value| match value.as_str() {
        Some(text) => yaml::scalar(text),
        None if value.is_none() => "null".to_owned(),
        None => value.to_string(),
    };
    let mut all = Vec::new();
    for item in items {
        all.push(match &fields {
            None => scalar(item),
            Some(fields) => {
                let mut values = Vec::new();
                for field in fields {
                    values.push((field.as_str(), scalar(item.get_attr(field)?)));
                }
                yaml::map(&values)
            }
        });
    }
    Ok(yaml::list(all))
}

/// The template with this path below `templates/text/`.
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/text/", $path, ".j2"))
    };
}

pub(crate) use text;
