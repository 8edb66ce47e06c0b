//! Restricts overrides to the part of the template language that cannot grow text in memory.
//!
//! Fuel limits steps, not memory: thirty times `{% set x = x ~ x %}` takes a hundred steps and a gigabyte.
//! Without assignments, captured blocks and operators that build text, all text that a template creates goes
//! to the output, which is bounded. What remains is what a context file needs: `{% for %}`, `{% if %}`,
//! fields and a few filters.

use crate::templates::engine::RenderError;
use crate::text::line_number;

/// Maximum length of an override, in bytes.
const MAX_OVERRIDE_BYTES: usize = 64 * 1024;

/// Maximum length of a tag, in bytes: the engine's parser recurses into its content.
const MAX_TAG_BYTES: usize = 512;

/// Maximum number of statements that continue or nest in each other, for the same reason.
const MAX_STATEMENTS: usize = 300;

const STATEMENTS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];

/// Checks every tag of an override.
///
/// Each position that could open a tag is checked, even inside a comment or a string. That rejects slightly
/// more than necessary, but cannot be fooled by something that only looks like a comment.
pub(crate) fn check(text: &str) -> Result<(), RenderError> {
    if text.len() > MAX_OVERRIDE_BYTES {
        return Err(RenderError {
            message: format!("it is longer than {} KiB", MAX_OVERRIDE_BYTES / 1024),
            line: None,
        });
    }
    let statements = text.matches("{%").count();
    if statements > MAX_STATEMENTS {
        return Err(RenderError {
            message: format!("it has {statements} statements; the maximum is {MAX_STATEMENTS}"),
            line: None,
        });
    }
    for (start, _) in text.match_indices('{') {
        let rest = &text[start + 1..];
        let result = match rest.as_bytes().first() {
            Some(b'{') => expression(&rest[1..]),
            Some(b'%') => statement(&rest[1..]),
            _ => Ok(()),
        };
        result.map_err(|message| RenderError { message, line: Some(line_number(text, start)) })?;
    }
    Ok(())
}

fn statement(tag: &str) -> Result<(), String> {
    let tag = tag.trim_start_matches(['-', '+']).trim_start();
    let end = tag.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tag.len());
    let word = &tag[..end];
    if !STATEMENTS.contains(&word) {
        return Err(format!("{word:?} is not available here; only for and if are"));
    }
    expression(&tag[end..])
}

fn expression(tag: &str) -> Result<(), String> {
    let tag = tag.strip_prefix(['-', '+']).unwrap_or(tag);
    let mut rest = tag;
    while let Some(c) = rest.chars().next() {
        if tag.len() - rest.len() > MAX_TAG_BYTES {
            return Err(format!("a tag is longer than {MAX_TAG_BYTES} bytes"));
        }
        rest = match c {
            '"' | '\'' => after_string(&rest[1..], c),
            // No brace opens inside a tag, so this one closes the tag or is a syntax error that the engine
            // reports.
            '}' => return Ok(()),
            '+' if rest[1..].starts_with(['%', '}']) => &rest[1..],
            '~' | '*' | '+' | '{' => {
                return Err(format!("the operator {c} is not available here"));
            }
            'r' if rest.starts_with("recursive") => {
                return Err("recursive loops are not available here".to_owned());
            }
            _ => &rest[c.len_utf8()..],
        };
    }
    Ok(())
}

/// Returns the text after a string literal.
fn after_string(text: &str, quote: char) -> &str {
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                characters.next();
            }
            c if c == quote => break,
            _ => {}
        }
    }
    characters.as_str()
}
