//! `annals notepad`

use clap::Args;
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::shared::value_enum;
use crate::cli::text::text;
use crate::error::{Error, Result};
use crate::knowledge::notepad;
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::project::Project;

/// Read and add to the notepad, which survives compaction
///
/// Without TEXT, prints the notepad or one of its sections verbatim. With TEXT, adds it: a bullet to Priority
/// Context, a dated line at the top of Working Memory (pruned after 7 days by `annals entry audit`), or text at
/// the end of Manual, the user's own section.
///
/// Example: annals notepad working Parser done, next: the writer
///
/// Example: annals notepad read --section priority
#[derive(Args, Debug)]
pub(crate) struct NotepadArgs {
    /// What to read or add to; priority has 500 characters in all
    #[arg(value_name = "SECTION", default_value = "read", hide_default_value = true, value_parser = ["read", "priority", "working", "manual"])]
    part: String,
    /// What to add, in plain words
    #[arg(allow_hyphen_values = true)]
    text: Vec<String>,
    /// With `read`, only this section, without its heading
    #[arg(long, conflicts_with = "text")]
    section: Option<NotepadSection>,
    /// Write it even if it looks like a secret
    #[arg(long, requires = "text")]
    allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID", requires = "text")]
    request_id: Option<String>,
}

value_enum!(NotepadSection);

pub(crate) fn run(args: &NotepadArgs, project: &Project, out: &mut Output) -> Result<()> {
    let part = NotepadSection::from_word(&args.part);
    let (Some(section), false) = (part, args.text.is_empty()) else {
        if !args.text.is_empty() {
            return Err(Error::usage("`read` takes no text").hint("annals notepad working TEXT"));
        }
        let found = notepad::read(project, part.or(args.section))?;
        out.warnings(&found.warnings);
        return out.file(&found, &found.bytes);
    };
    let note = Note {
        section,
        text: &args.text.join(" "),
        secrets: args.allow_secret.into(),
        request_id: args.request_id.as_deref(),
    };
    let report = notepad::write(project, &note)?;
    out.warnings(&report.warnings);
    out.show_with(&report, &json!({ "said": report.to_string() }), text!("entry/written"))
}
