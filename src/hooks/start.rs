//! A session's start: what it needs to know, and what it does not know already.

use crate::error::Error;
use crate::hooks::cap;
use crate::hooks::digest;
use crate::hooks::digest::Wish;
use crate::hooks::harness::Harness;
use crate::hooks::known::Known;
use crate::project::Project;

/// Returns what a new session is told; nothing where there is no news for it.
pub(crate) fn text(
    project: &Project,
    harness: Harness,
    wish: Wish,
    problems: &mut Vec<Error>,
) -> Option<String> {
    let digest = digest::digest(project, wish, problems)?;
    let news = Known::read(project, harness).without(&digest);
    let news = cap::without_bare_headings(&news);
    let is_news = |line: &str| !line.is_empty() && !line.starts_with('#');
    let last = format!("More: `{}`", digest::REST);
    news.lines().any(is_news).then(|| cap::capped(&news, &last))
}
