//! `annals notepad`

use std::io;
use std::io::Write;

use clap::{Args, Subcommand};

use crate::cli::output::Output;
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::knowledge::notepad;
use crate::knowledge::notepad::{Note, NoteReport, NotepadSection};
use crate::project::Project;

/// Read and add to the notepad, which survives compaction
///
/// Three sections: what the next turns need (priority, 500 characters at most), dated breadcrumbs
/// (working, pruned after 7 days by `annals entry audit`) and the user's own text (manual).
#[derive(Args, Debug)]
#[command(after_help = "Example: annals notepad working \"Parser done; next: the writer\"")]
pub(crate) struct NotepadArgs {
    #[command(subcommand)]
    command: NotepadCommand,
}

#[derive(Debug, Subcommand)]
enum NotepadCommand {
    Read(ReadArgs),
    /// Add a bullet to Priority Context; refused if that makes it longer than 500 characters
    #[command(after_help = "Example: annals notepad priority \"Never touch the v1 endpoints\"")]
    Priority(NoteArgs),
    /// Add a dated one-line bullet at the top of Working Memory
    #[command(after_help = "Example: annals notepad working \"Parser done; next: the writer\"")]
    Working(NoteArgs),
    /// Add text at the end of Manual, verbatim
    #[command(after_help = "Example: annals notepad manual \"Ask Ada before the release\"")]
    Manual(NoteArgs),
}

/// Print the notepad, or one section of it, verbatim
#[derive(Args, Debug)]
#[command(after_help = "Example: annals notepad read --section priority")]
struct ReadArgs {
    /// Only this section, without its heading
    #[arg(long, value_name = "SECTION")]
    section: Option<NotepadSection>,
}

value_enum!(NotepadSection);

#[derive(Args, Debug)]
struct NoteArgs {
    /// The text, verbatim
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Write it even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(crate) fn run(args: &NotepadArgs, project: &Project, out: &mut Output) -> Result<()> {
    let (section, note) = match &args.command {
        NotepadCommand::Read(args) => return read(args, project, out),
        NotepadCommand::Priority(note) => (NotepadSection::Priority, note),
        NotepadCommand::Working(note) => (NotepadSection::Working, note),
        NotepadCommand::Manual(note) => (NotepadSection::Manual, note),
    };
    let note = Note {
        section,
        text: &note.text,
        secrets: note.allow_secret.into(),
        request_id: note.request_id.as_deref(),
    };
    let report = notepad::write(project, &note)?;
    out.warnings(&report.warnings);
    out.result(&report, show)
}

fn read(args: &ReadArgs, project: &Project, out: &mut Output) -> Result<()> {
    let found = notepad::read(project, args.section)?;
    out.warnings(&found.warnings);
    out.file(&found, &found.bytes)
}

fn show(report: &NoteReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = &report.diff {
        return write!(to, "{diff}");
    }
    let section = report.section.as_str();
    match (report.characters, report.limit) {
        (Some(characters), Some(limit)) => {
            writeln!(to, "Notepad {section} updated ({characters}/{limit} chars).")
        }
        _ => writeln!(to, "Notepad {section} updated."),
    }
}
