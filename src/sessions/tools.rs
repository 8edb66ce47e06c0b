//! What the messages and tool calls of all clients have in common: texts, paths, commands, failures.

use std::path::Path;

use serde_json::Value;

use crate::text::one_line;

/// A call of a tool, reduced to what is kept of it.
#[derive(Default)]
pub(crate) struct Call {
    /// What it did, in one line: `edited src/a.rs`, `ran cargo test`.
    pub(crate) step: String,
    /// The same for calls that try the same thing again.
    pub(crate) aim: String,
    /// The files that it writes.
    pub(crate) written: Vec<String>,
}

/// Maximum length of a command's first line and of a path, in bytes.
const MAX_LINE: usize = 160;

/// Names of the tools that write files.
const WRITING: [&str; 6] = ["write", "edit", "multiedit", "notebookedit", "write_file", "replace"];

/// The arguments that name a file, that are a command, and that are a patch.
const PATHS: [&str; 5] = ["file_path", "filePath", "notebook_path", "absolute_path", "path"];
const COMMANDS: [&str; 2] = ["command", "cmd"];
const PATCHES: [&str; 4] = ["patchText", "input", "command", "cmd"];

/// How the lines of a patch begin that name a file.
const PATCHED: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

impl Call {
    /// Returns a call, with paths relative to the session's working directory.
    pub(crate) fn new(tool: &str, arguments: &Value, directory: Option<&Path>) -> Self {
        let find = |names: &[&str]| names.iter().find_map(|name| line_of(&arguments[*name]));
        if let Some(path) = find(&PATHS) {
            let path = relative(path, directory);
            let writes = WRITING.contains(&tool.to_ascii_lowercase().as_str());
            let step = format!("{} {path}", if writes { "edited" } else { tool });
            let written = if writes { vec![path] } else { Vec::new() };
            return Self { aim: step.clone(), step, written };
        }
        let patched = find(&PATCHES).unwrap_or_default().lines().filter_map(|line| {
            let name = PATCHED.iter().find_map(|begin| line.strip_prefix(begin))?;
            Some(relative(name.trim(), directory))
        });
        let written: Vec<String> = patched.collect();
        if !written.is_empty() {
            let step = format!("edited {}", written.join(", "));
            return Self { aim: step.clone(), step, written };
        }
        let command = find(&COMMANDS).unwrap_or_default().trim_start();
        let line = command.lines().next().unwrap_or_default();
        let step = match line {
            "" => format!("called {tool}"),
            line => format!("ran {}", line[..line.floor_char_boundary(MAX_LINE)].trim_end()),
        };
        let aim = step.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        Self { step, aim, written }
    }
}

/// Returns an argument's text; of a list such as `bash -lc LINE`, its last word.
fn line_of(argument: &Value) -> Option<&str> {
    argument.as_str().or_else(|| argument.as_array()?.last()?.as_str())
}

/// Returns a path relative to the working directory, on one line.
fn relative(path: &str, directory: Option<&Path>) -> String {
    let inside = directory.and_then(|directory| Path::new(path).strip_prefix(directory).ok());
    let path = one_line(&inside.map_or(path.into(), Path::to_string_lossy));
    path[..path.floor_char_boundary(MAX_LINE)].to_owned()
}

/// Returns the text of a content: a string, or what its parts say, print or report, a line each.
pub(crate) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(text).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => {
            let names = ["text", "output", "error", "response", "functionResponse"];
            names.iter().filter_map(|name| part.get(*name)).map(text).collect()
        }
        _ => String::new(),
    }
}

/// Returns whether the first or last lines that a command printed say that it failed.
pub(crate) fn says_failed(output: &str) -> bool {
    let begin = &output[..output.floor_char_boundary(400)];
    let end = &output[output.floor_char_boundary(output.len().saturating_sub(200))..];
    let lower = format!("{begin}\n{end}").to_ascii_lowercase();
    let codes = ["exit code: ", "exit code ", "exited with code ", "\"exit_code\":"];
    codes.iter().any(|code| {
        let mut after = lower.split(code).skip(1);
        after.any(|after| after.starts_with(|c: char| ('1'..='9').contains(&c)))
    })
}
