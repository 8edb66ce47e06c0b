//! What several commands share: option values, input, lines that they print, progress bars.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use std::{io, path};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use regex::Regex;

use crate::error::{At, Error, Result};
use crate::progress::Progress;
use crate::storage::read;
use crate::text::{pattern, quantity};
use crate::warning::Warning;

/// Implements `ValueEnum` for an enum, with its words as values; a method of the enum may describe them.
macro_rules! value_enum {
    ($name:ty $(, $help:ident)?) => {
        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(clap::builder::PossibleValue::new(self.as_str())$(.help(self.$help()))?)
            }
        }
    };
}

pub(crate) use value_enum;

/// Maximum number of files for which the same warning is printed each time.
const MAX_FILES: usize = 5;

/// Delay before a progress bar is shown, so that short tasks do not make it flash.
const PATIENCE: Duration = Duration::from_millis(400);

/// Reads at most this many bytes of standard input, without a byte order mark; `tried` says in an error what
/// was attempted.
pub(crate) fn stdin(most: u64, tried: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mark = "\u{feff}".as_bytes();
    let mut input = io::stdin().take(most.saturating_add(mark.len() as u64));
    input.read_to_end(&mut bytes).at(tried, Path::new("-"))?;
    if bytes.starts_with(mark) {
        bytes.drain(..mark.len());
    }
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(bytes)
}

/// Reads a text from a file, or from standard input if the file is `-` or `None`; `what` names it in errors.
pub(crate) fn document(file: Option<&Path>, what: &str) -> Result<String> {
    let bytes = if let Some(file) = file.filter(|file| *file != Path::new("-")) {
        let file = path::absolute(file).at("find", file)?;
        read::users_bytes(&file)?.ok_or_else(|| Error::not_found("no such file").at(&file, None))?
    } else {
        stdin(read::MAX_FILE + 1, &format!("read {what}"))?
    };
    if bytes.len() as u64 > read::MAX_FILE {
        return Err(Error::refused(format!("{what} is larger than 8 MiB")));
    }
    String::from_utf8(bytes).map_err(|_| Error::refused(format!("{what} is not UTF-8 text")))
}

/// Returns the warnings, with only the first of those that repeat for many files, followed by the number of the others.
///
/// Warnings are the same if they differ only in their location and in text in brackets.
pub(crate) fn combined(warnings: &[Warning]) -> Vec<Warning> {
    static BRACKETS: LazyLock<Regex> = LazyLock::new(|| pattern(r" \([^)]*\)"));
    let key = |warning: &Warning| BRACKETS.replace_all(&warning.message, "").into_owned();
    let mut files: BTreeMap<String, BTreeSet<&Path>> = BTreeMap::new();
    for warning in warnings {
        files.entry(key(warning)).or_default().insert(&warning.place.file);
    }
    let mut printed = BTreeSet::new();
    let mut combined = Vec::new();
    for warning in warnings {
        let key = key(warning);
        let others = files.get(&key).map_or(0, BTreeSet::len).saturating_sub(1);
        if others < MAX_FILES {
            combined.push(warning.clone());
        } else if printed.insert(key) {
            let others = quantity(others, "more file");
            let message = format!("{}; the same in {others} (-v lists them)", warning.message);
            combined.push(Warning { place: warning.place.clone(), message });
        }
    }
    combined
}

/// Returns the progress reporter of this run: bars on standard error if it is a terminal, otherwise none.
pub(crate) fn progress_on_terminal() -> Progress {
    if !io::stderr().is_terminal() {
        return Progress::default();
    }
    Progress::watched(|task, total| {
        let bar = bar(task, total);
        let mut is_shown = false;
        Box::new(move || {
            if !is_shown && bar.elapsed() >= PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                is_shown = true;
            }
            bar.inc(1);
        })
    })
}

/// Returns a hidden bar, which is cleared when it is dropped.
fn bar(task: &str, total: usize) -> ProgressBar {
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
        .with_style(style)
        .with_finish(ProgressFinish::AndClear)
        .with_message(task.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(files: usize, message: impl Fn(usize) -> String) -> Vec<String> {
        let warning = |n: usize| Warning::at(Path::new(&format!("{n}.md")), 3, message(n));
        let warnings: Vec<Warning> = (1..=files).map(warning).collect();
        combined(&warnings).iter().map(Warning::to_string).collect()
    }

    #[test]
    fn a_warning_about_many_files_is_printed_once_and_different_ones_stay() {
        let invalid = |n: usize| format!("is not valid YAML (at column {n}); read line by line");
        assert_eq!(
            printed(25, invalid),
            [
                "1.md:3: is not valid YAML (at column 1); read line by line; the same in 24 more files (-v lists them)"
            ]
        );
        assert_eq!(printed(MAX_FILES, invalid).len(), MAX_FILES);
        assert_eq!(printed(25, |n| format!("names plan {n}")).len(), 25);
    }
}
