//! A session's start: what it needs to know, and what it does not know already.

use crate::context;
use crate::context::Part;
use crate::context::Wish;
use crate::error::Error;
use crate::error::Result;
use crate::hooks::cap;
use crate::hooks::harness::Harness;
use crate::hooks::known::Known;
use crate::project::Project;

/// The command that prints what did not fit.
const REST: &str = "annals context";

/// Returns what is asked for at a session's start.
pub(crate) fn wish(compacted: bool, notepad: bool) -> Wish {
    let without = if notepad {
        Vec::new()
    } else {
        vec![Part::Notepad]
    };
    Wish {
        compacted,
        without,
        ..Wish::default()
    }
}

/// Returns what a new session is told; nothing where there is no news for it.
pub(crate) fn text(
    project: &Project,
    harness: Harness,
    wish: &Wish,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let digest = context::digest(project, wish)?;
    problems.extend(
        digest.warnings.into_iter().map(|warning| {
            Error::failed(warning.message).at(&warning.place.file, warning.place.line)
        }),
    );
    let news = Known::read(project, harness).without(&digest.text);
    let news = cap::without_bare_headings(&news);
    let is_frame = |line: &str| line.starts_with('#') || line.starts_with(context::LEFT_OUT);
    let is_news = |line: &str| !line.is_empty() && !is_frame(line);
    let last = format!("More: `{REST}`");
    Ok(news.lines().any(is_news).then(|| cap::capped(&news, &last)))
}
