//! Turns a result into text: the templates of `templates/text/` and the filters that they use.

use std::io;
use std::path::Path;

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;
use serde_json::Value as Json;

use crate::clock::parse_date;
use crate::knowledge::yaml;
use crate::templates;
use crate::text::{Line, clip, join, one_line, quantity, shell_word, slashed};

/// Renders a template of `templates/text/` over a document and what is added to it for people.
pub(crate) fn render(
    template: &str,
    document: &impl Serialize,
    more: &impl Serialize,
) -> io::Result<String> {
    let mut document = serde_json::to_value(document)?;
    if let (Some(fields), Json::Object(more)) =
        (document.as_object_mut(), serde_json::to_value(more)?)
    {
        fields.extend(more);
    }
    let document = Value::from(Serde(document));
    engine().and_then(|engine| engine.render_str(template, document)).map_err(io::Error::other)
}

fn engine() -> Result<Environment<'static>, minijinja::Error> {
    let mut engine = templates::engine()?;
    engine.add_filter("quantity", |count: i64, one: &str| quantity(count, one));
    engine.add_filter("clip", |text: &str, width: usize| clip(&one_line(text), width).into_owned());
    engine.add_filter("line", |text: &str| Line::new(text).to_string());
    engine.add_filter("one_line", one_line);
    engine.add_filter("scalar", |text: &str| yaml::scalar(text));
    engine.add_filter("quoted", |text: &str| yaml::quoted(text));
    engine.add_filter("bullets", bullets);
    engine.add_filter("below", below);
    engine.add_filter("folder", |path: &str| {
        slashed(Path::new(path).parent().unwrap_or(Path::new("")))
    });
    engine.add_filter("shell", |text: &str| shell_word(text).into_owned());
    // A date needs no quotes; any other text may.
    engine.add_filter("day", |text: &str| match parse_date(text) {
        Some(_) if text.len() == 10 => text.to_owned(),
        _ => yaml::scalar(text),
    });
    engine.add_filter("flow", flow);
    Ok(engine)
}

/// Returns the lines of a text as a list with a heading, each clipped; nothing if there are none.
fn bullets(text: &str, heading: &str, most: usize, width: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    // A line "1 more" takes as much space as the line it replaces.
    let shown = if lines.len() > most { most - 1 } else { lines.len() };
    let mut list = format!("{heading}:\n");
    for line in &lines[..shown] {
        list.push_str(&format!("  - {}\n", clip(line, width)));
    }
    if lines.len() > shown {
        list.push_str(&format!("  - … {} more (--json)\n", lines.len() - shown));
    }
    list
}

/// Joins paths, each relative to a folder.
#[expect(clippy::needless_pass_by_value, reason = "filters take owned values")]
fn below(paths: Vec<String>, folder: &str) -> String {
    join(
        paths.iter().map(|path| {
            let path = Path::new(path);
            slashed(path.strip_prefix(folder).unwrap_or(path))
        }),
        ", ",
    )
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::storage::read;

    #[expect(
        clippy::disallowed_methods,
        reason = "the test lists the source folder, not a project"
    )]
    fn templates(folder: &Path, found: &mut Vec<PathBuf>) {
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() {
                templates(&path, found);
            } else if path.extension().is_some_and(|end| end == "j2") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_template_is_understood() {
        let mut found = Vec::new();
        templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/text"), &mut found);
        let engine = engine().unwrap();
        for file in &found {
            let text = String::from_utf8(read::users_bytes(file).unwrap().unwrap()).unwrap();
            engine.template_from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
        assert!(found.len() > 30, "{found:?}");
    }

    #[test]
    fn a_list_says_what_it_leaves_out() {
        assert_eq!(bullets("", "Plans", 2, 9), "");
        assert_eq!(bullets("a\n\nb\n", "Plans", 2, 9), "Plans:\n  - a\n  - b\n");
        assert_eq!(bullets("a\nb\nc", "Plans", 2, 9), "Plans:\n  - a\n  - … 2 more (--json)\n");
    }
}
