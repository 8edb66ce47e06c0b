//! Renders templates with limited resources.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value, filters};

use crate::templates::PageFilter;

/// Maximum number of steps of a template. The longest built-in one needs a few hundred.
const MAX_STEPS: u64 = 100_000;

/// Maximum size of a template's output, in bytes: far more than any reader is given.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// Maximum length of a line that `join` creates, in bytes.
const MAX_JOINED_BYTES: usize = 16 * 1024;

/// The reason why a template could not be rendered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RenderError {
    /// Description of the problem.
    pub(crate) message: String,
    /// Line number, counted from 1.
    pub(crate) line: Option<usize>,
}

/// Renders a template.
pub(crate) fn render(text: &str, context: Value) -> Result<String, RenderError> {
    let environment = environment()?;
    let template = environment.template_from_str(text).map_err(|e| render_error(&e))?;
    let mut output = Bounded(Vec::new());
    template.render_captured_to(context, &mut output).map_err(|error| render_error(&error))?;
    String::from_utf8(output.0)
        .map_err(|_| RenderError { message: "it wrote invalid UTF-8".to_owned(), line: None })
}

/// Renders a page: values are escaped, and the output may be long.
pub(crate) fn render_page(
    text: &str,
    context: Value,
    page_filters: &[PageFilter],
) -> Result<String, RenderError> {
    let mut environment = environment()?;
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // A field that a row lacks may be asked for, and not printed.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.add_filter("safe", filters::safe);
    environment.add_filter("fixed", |number: f64| format!("{number:.2}"));
    for (name, filter) in page_filters {
        let filter = *filter;
        environment.add_filter(*name, move |text: &str| filter(text));
    }
    // This template is built in, and the size of its output is bounded by that of the stores.
    environment.set_fuel(None);
    let template = environment.template_from_str(text).map_err(|e| render_error(&e))?;
    template.render(context).map_err(|error| render_error(&error))
}

fn environment() -> Result<Environment<'static>, RenderError> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .map_err(|error| render_error(&error))?;
    // Without the built-in filters: some of them enlarge a text without consuming fuel.
    let mut environment = Environment::empty();
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MAX_STEPS));
    environment.add_filter("cell", cell);
    environment.add_filter("default", filters::default);
    environment.add_filter("first", filters::first);
    environment.add_filter("join", join);
    environment.add_filter("last", filters::last);
    environment.add_filter("length", filters::length);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("upper", filters::upper);
    Ok(environment)
}

/// Returns a text escaped for a table cell.
#[expect(clippy::needless_pass_by_value, reason = "filters take owned values")]
fn cell(text: String) -> String {
    text.replace('|', "\\|").replace(['\r', '\n'], " ")
}

/// Joins the items of a list, up to the length of a long line: nested joins could double a text at each step.
#[expect(clippy::needless_pass_by_value, reason = "filters take owned values")]
fn join(items: Vec<String>, separator: &str) -> Result<String, minijinja::Error> {
    let length: usize = items.iter().map(|item| item.len() + separator.len()).sum();
    if length > MAX_JOINED_BYTES {
        let message = "join produces a line that is too long";
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, message));
    }
    Ok(items.join(separator))
}

fn render_error(error: &minijinja::Error) -> RenderError {
    let message = match error.kind() {
        ErrorKind::OutOfFuel => "it does not end, or takes far too many steps".to_owned(),
        ErrorKind::WriteFailure => format!("it writes more than {} KiB", MAX_OUTPUT_BYTES / 1024),
        ErrorKind::UndefinedError => "it uses a field that does not exist".to_owned(),
        kind => match error.detail() {
            Some(detail) => format!("{kind}: {detail}"),
            None => kind.to_string(),
        },
    };
    RenderError { message, line: error.line() }
}

/// A writer with a maximum size, which stops templates with endless output.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT_BYTES {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
