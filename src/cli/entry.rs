//! `annals entry`, `annals remember`, `annals forget` and `annals notepad`

use std::io;
use std::io::IsTerminal;
use std::path::Path;

use clap::{ArgMatches, Args, Command, Subcommand};
use serde_json::json;

use crate::cli::completions::keys;
use crate::cli::input::stdin_text;
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::cli::{Global, value_enum};
use crate::error::{Error, Result};
use crate::facts::{Facts, Purpose, Statement};
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::knowledge::{
    Confidence, EntryFilter, EntryType, EntryWrite, KnowledgeDir, Remember, notepad,
};
use crate::project::Project;
use crate::storage::read;
use crate::{audit, cli, context, facts, knowledge};

value_enum!(EntryType);
value_enum!(Confidence);

/// Remember a sentence: plain words, no quotes needed
///
/// Stores an entry (`.vibekit/memory/`); its key and type follow from the words. Options come before the text:
/// from the first plain word on, everything is text. Words with an apostrophe, `?`, `*`, `$` or `&` still need quotes,
/// as everywhere in a shell. A key that exists is never overwritten, unless --key names it. Refused if an entry says
/// the same, or if the text contains what looks like a secret.
///
/// Example: annals remember run the tests with pytest -q -x
#[derive(Args, Debug)]
pub(crate) struct RememberArgs {
    /// What to remember
    #[arg(required = true, trailing_var_arg = true)]
    text: Vec<String>,
    /// The entry to create or update, instead of a new one
    #[arg(long, add = keys())]
    key: Option<String>,
    #[command(flatten)]
    asked: Remember,
    /// How sure you are [default: high on a terminal, otherwise low: nobody confirmed it]
    #[arg(long, value_name = "GRADE")]
    confidence: Option<Confidence>,
    /// Store it as a fact about the user, not about the project; --key is the fact's key [default: note[]]
    #[arg(long, conflicts_with_all = ["kind", "tags", "confidence"])]
    fact: bool,
}

/// Forget an entry: delete it, with a reason for the log
///
/// To keep the history, supersede it instead. Facts are erased by `annals facts forget`, never by this command.
///
/// Example: annals forget old-runner replaced by vitest
#[derive(Args, Debug)]
pub(crate) struct ForgetArgs {
    /// The entry's key
    #[arg(add = keys())]
    key: String,
    /// Why, in plain words without quotes, instead of --reason
    #[arg(value_name = "REASON", conflicts_with = "reason")]
    words: Vec<String>,
    #[command(flatten)]
    why: ReasonArgs,
}

#[derive(Args, Debug)]
struct ReasonArgs {
    /// Why it is deleted; required
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Accept a reason even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

/// Store and find what is worth knowing in later sessions, one file per key
///
/// The entries are in .vibekit/memory/ (`store` in annals.toml replaces .vibekit).
///
/// Example: annals entry query --text "test runner"
#[derive(Args, Debug)]
pub(crate) struct EntryArgs {
    #[command(subcommand)]
    command: EntryCommand,
}

#[derive(Debug, Subcommand)]
enum EntryCommand {
    /// Print an entry exactly as it is in its file
    ///
    /// With --json, prints its fields, its body and the hash that `write --if-match` takes.
    ///
    /// Example: annals entry read test-runner
    Read(KeyArgs),
    /// Propose where a finding belongs: an entry, the notepad or, for most, nowhere
    ///
    /// Rules alone decide, and nothing is written.
    ///
    /// Example: annals entry classify "We chose SQLite because one file is enough"
    Classify {
        /// What was found, in one sentence
        #[arg(required = true)]
        finding: Vec<String>,
    },
    /// Find entries by keyword, tag and type, the best first
    ///
    /// Matches whole words, ignoring case; any of them is enough. An exact key scores 10, a tag and the type
    /// 5 each, a word of the title 3, a word of the body 1. Entries that are not active are left out.
    ///
    /// Example: annals entry query --text "test runner" --tags testing
    Query {
        /// Words to look for
        #[arg(long, allow_hyphen_values = true, required_unless_present_any = ["tags", "kind"])]
        text: Option<String>,
        #[command(flatten)]
        filter: EntryFilter,
    },
    /// List entries from INDEX.md: key, title, type and the day of the last update
    ///
    /// Entries that are not active are left out.
    ///
    /// Example: annals entry list --type gotcha
    List(EntryFilter),
    Write(WriteArgs),
    /// Mark an entry as superseded by another; both stay
    ///
    /// From then on, searches leave out the old one; `--include-superseded` shows it.
    ///
    /// Example: annals entry supersede --old use-jest --new use-vitest
    Supersede {
        /// The entry that is no longer valid
        #[arg(long, value_name = "KEY", add = keys())]
        old: String,
        /// The entry that replaces it
        #[arg(long, value_name = "KEY", add = keys())]
        new: String,
    },
    /// Delete an entry for good; prefer `supersede`, which keeps the history
    ///
    /// The reason goes into log.md. Links to the entry stay, and `audit` reports them.
    ///
    /// Example: annals entry delete old-runner --reason "written by mistake"
    Delete {
        #[command(flatten)]
        key: KeyArgs,
        #[command(flatten)]
        why: ReasonArgs,
    },
    /// Check all entries, rebuild INDEX.md if it drifted, prune Working Memory
    ///
    /// Finds old guesses, old entries, duplicates, broken links, bodies over 500 lines, links to superseded
    /// entries, and files that could not be understood. No entry is ever changed.
    ///
    /// Example: annals entry audit --dry-run
    Audit,
}

#[derive(Args, Debug)]
struct KeyArgs {
    /// The entry's key
    #[arg(required_unless_present = "named", add = keys())]
    key: Option<String>,
    /// The entry's key, as an option
    #[arg(long = "key", id = "named", value_name = "KEY", conflicts_with = "key", hide = true)]
    named: Option<String>,
}

impl KeyArgs {
    fn key(&self) -> &str {
        self.key.as_ref().or(self.named.as_ref()).map_or("", String::as_str)
    }
}

/// Create or replace an entry
///
/// The body is stored byte for byte; above it comes --title, or the key in words if it has no `# Title`.
/// An update without a body changes only the front matter; a new entry needs one. Refused if another
/// entry says the same, or if the text contains what looks like a secret.
///
/// Example: annals entry write --key test-runner --type convention --confidence high --body @note.md
#[derive(Args, Debug)]
struct WriteArgs {
    #[command(flatten)]
    entry: EntryWrite,
    /// Take the body from a file
    #[arg(long, value_name = "@FILE", conflicts_with = "body_stdin")]
    body: Option<String>,
    /// Take the body from standard input
    #[arg(long)]
    body_stdin: bool,
}

pub(crate) fn run(args: &EntryArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.command {
        EntryCommand::Read(key) => {
            let found = knowledge::read(project, key.key())?;
            out.warnings(&found.problems);
            out.file(&found, &found.bytes)
        }
        EntryCommand::Classify { finding } => {
            out.show(&knowledge::classify(project, &finding.join(" "))?, text!("entry/classified"))
        }
        EntryCommand::Query { text, filter } => {
            let text = text.as_deref().unwrap_or_default();
            let found = out.understood(knowledge::query(project, text, filter)?);
            out.show(&found, text!("entry/hits"))
        }
        EntryCommand::List(filter) => {
            let found = out.understood(knowledge::list(project, filter)?);
            out.show(&found, text!("entry/list"))
        }
        EntryCommand::Write(args) => {
            let written = knowledge::write(project, &args.request()?)?;
            out.warnings(&written.warnings);
            refresh(project, out);
            out.show_with(&written, &json!({ "said": written.to_string() }), text!("entry/written"))
        }
        EntryCommand::Supersede { old, new } => {
            let done = knowledge::supersede(project, old, new)?;
            out.warnings(&done.warnings);
            refresh(project, out);
            out.show(&done, text!("entry/superseded"))
        }
        EntryCommand::Delete { key, why } => {
            delete(key.key(), why.reason.as_deref(), why.allow_secret, project, out)
        }
        EntryCommand::Audit => {
            let found = audit::entry_audit(project)?;
            out.warnings(&found.warnings);
            // It names files as they are.
            out.redacts = true;
            out.show(&found, text!("entry/audit"))
        }
    }
}

pub(crate) fn remember(args: &RememberArgs, project: &Project, out: &mut Output) -> Result<()> {
    check_options::<RememberArgs>(&args.text, out)?;
    let text = args.text.join(" ");
    if args.fact {
        let user = cli::facts::user(None, None, project, out)?;
        let statement = Statement {
            key: args.key.clone().unwrap_or_else(|| "note[]".to_owned()),
            value: text,
            allow_secret: args.asked.allow_secret,
            request_id: args.asked.request_id.clone(),
            ..Statement::default()
        };
        out.preface(project);
        let store = Facts::open(project, None, Purpose::Write)?;
        let added = facts::add(&store, &user, &statement)?;
        return out.show(&added, text!("facts/effect"));
    }
    let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let stated = if on_terminal { Confidence::High } else { Confidence::Low };
    let asked = Remember {
        text,
        key: args.key.clone(),
        tags: args.asked.tags.as_deref().map(distinct),
        confidence: args.confidence.unwrap_or(stated),
        ..args.asked.clone()
    };
    let memory = KnowledgeDir::in_project(project).memory();
    let is_known = project.git.is_repository() || project.planning().is_ok();
    let begins = !is_known && !project.dry_run && !read::exists(&memory);
    let done = knowledge::remember(project, &asked)?;
    out.warnings(&done.written.warnings);
    refresh(project, out);
    if begins {
        let memory = memory.display();
        out.note(&format!(
            "there is neither .git nor a planning folder here or above, so a new memory begins in {memory}"
        ));
    }
    out.show_with(&done, &json!({ "said": done.written.to_string() }), text!("entry/written"))
}

/// Refuses an option of the command behind a text in quotes, and `--dry-run` behind any text; names any other option among
/// words without quotes, which it is part of. Behind `--`, everything is text.
fn check_options<T: Args>(text: &[String], out: &mut Output) -> Result<()> {
    let mut command = T::augment_args(Global::augment_args(Command::new("annals")));
    command.build();
    let is_meant = std::env::args_os().any(|word| word == "--");
    let is_quoted = text.first().is_some_and(|first| first.contains(' '));
    for word in text.iter().filter(|_| !is_meant) {
        let name = word.strip_prefix("--").and_then(|name| name.split('=').next());
        if name.is_none() || !command.get_arguments().any(|known| known.get_long() == name) {
            continue;
        }
        // What would be a dry run must not write.
        if is_quoted || name == Some("dry-run") {
            return Err(Error::usage(format!("the option {word} is behind the text"))
                .hint("put options before the text; `--` before the text makes all of it words"));
        }
        out.note(&format!("{word} was read as part of the text; put options before it"));
    }
    Ok(())
}

pub(crate) fn forget(args: &ForgetArgs, project: &Project, out: &mut Output) -> Result<()> {
    let words = args.words.join(" ");
    let reason = args.why.reason.as_deref().or(Some(&*words).filter(|words| !words.is_empty()));
    delete(&args.key, reason, args.why.allow_secret, project, out)?;
    if project.settings.history && !project.dry_run && !out.mode.json {
        out.note("the history keeps the text: `annals undo` restores it, `annals log --forget ID` erases it");
    }
    Ok(())
}

/// Brings the block of a context file up to date with the entries; the write is done even if that fails.
pub(super) fn refresh(project: &Project, out: &mut Output) {
    match context::refresh_entries(project) {
        Ok(_) if out.mode.json => {}
        Ok(changed) => {
            for file in changed {
                out.note(&format!("{} updated", file.display()));
            }
        }
        Err(error) => out.note(&format!("the block of a context file is not up to date: {error}")),
    }
}

fn delete(
    key: &str,
    reason: Option<&str>,
    allow_secret: bool,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let done = knowledge::delete(project, key, reason, allow_secret.into())?;
    out.warnings(&done.warnings);
    refresh(project, out);
    out.show(
        &done,
        "{% if diff is string %}{{ diff }}{% else %}Deleted {{ key }}. Reason: {{ reason }}.\n{% endif %}",
    )
}

/// Returns the tags without blanks and repetitions.
fn distinct(tags: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim()) {
        if !tag.is_empty() && !kept.iter().any(|known| known == tag) {
            kept.push(tag.to_owned());
        }
    }
    kept
}

impl WriteArgs {
    fn request(&self) -> Result<EntryWrite> {
        Ok(EntryWrite {
            tags: self.entry.tags.as_deref().map(distinct),
            body: self.body()?,
            ..self.entry.clone()
        })
    }

    fn body(&self) -> Result<Option<String>> {
        if self.body_stdin {
            return stdin_text(read::MAX_FILE + 1, "read the body").map(Some);
        }
        let Some(named) = &self.body else {
            return Ok(None);
        };
        let Some(file) = named.strip_prefix('@') else {
            return Err(Error::usage("--body takes @FILE")
                .hint("`--body @note.md` reads a file, `--body-stdin` reads standard input"));
        };
        let file = Path::new(file);
        let body = read::users_bytes(file)?
            .ok_or_else(|| Error::not_found("there is no such file").about(file))?;
        String::from_utf8(body)
            .map(Some)
            .map_err(|_| Error::usage("is not valid UTF-8").about(file))
    }
}

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
    text: Vec<String>,
    /// With `read`, only this section, without its heading
    #[arg(long, conflicts_with = "text")]
    section: Option<NotepadSection>,
    /// Write it even if it looks like a secret; counts only before the text
    #[arg(long, requires = "text")]
    allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID", requires = "text")]
    request_id: Option<String>,
}

value_enum!(NotepadSection);

impl NotepadArgs {
    /// Makes `--allow-secret` part of a text that it stands in: there, it would switch the check off unseen.
    pub(crate) fn keep_check(&mut self, given: &ArgMatches) {
        let flag = given.index_of("allow_secret");
        let before = given
            .indices_of("text")
            .into_iter()
            .flatten()
            .filter(|word| Some(*word) < flag)
            .count();
        if self.allow_secret && before > 0 {
            self.allow_secret = false;
            self.text.insert(before, "--allow-secret".to_owned());
        }
    }
}

pub(crate) fn notepad(args: &NotepadArgs, project: &Project, out: &mut Output) -> Result<()> {
    let part = NotepadSection::from_word(&args.part);
    let (Some(section), false) = (part, args.text.is_empty()) else {
        if !args.text.is_empty() {
            return Err(Error::usage("`read` takes no text").hint("annals notepad working TEXT"));
        }
        let found = notepad::read(project, part.or(args.section))?;
        out.warnings(&found.warnings);
        return out.file(&found, &found.bytes);
    };
    check_options::<NotepadArgs>(&args.text, out)?;
    let note = Note {
        section,
        text: &args.text.join(" "),
        secrets: args.allow_secret.into(),
        request_id: args.request_id.as_deref(),
        replaces_equal: false,
    };
    let report = notepad::write(project, &note)?;
    out.warnings(&report.warnings);
    refresh(project, out);
    out.show_with(&report, &json!({ "said": report.to_string() }), text!("entry/written"))
}
