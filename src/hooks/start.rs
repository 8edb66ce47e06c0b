//! A session's start: what it needs to know, and what it does not know already.

use crate::error::Result;
use crate::hooks::cap;
use crate::hooks::digest;
use crate::hooks::digest::Wish;
use crate::hooks::harness::Harness;
use crate::hooks::known::Known;
use crate::project::Project;

/// Returns what a new session is told; nothing where there is no news for it.
pub(crate) fn text(project: &Project, harness: Harness, wish: Wish) -> Result<Option<String>> {
    let Some(digest) = digest::digest(project, wish)? else {
        return Ok(None);
    };
    let news = Known::read(project, harness).without(&digest);
    let news = cap::without_bare_headings(&news);
    let has_news = news
        .lines()
        .any(|line| !line.is_empty() && !line.starts_with('#'));
    let last = format!("More: `{}`", digest::REST);
    Ok(has_news.then(|| cap::capped(&news, &last)))
}
