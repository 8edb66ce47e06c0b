//! Reads commits as `git cat-file --batch` prints them.

use chrono::{DateTime, Utc};

use crate::error::Result;
use crate::git::hash::is_hash_prefix;
use crate::git::program::Program;

/// Returns the author time of each commit; `None` for each unknown hash.
pub(crate) fn author_times(
    program: &Program<'_>,
    hashes: &[&str],
) -> Result<Vec<Option<DateTime<Utc>>>> {
    // `log` and `rev-list` fail at the first unknown hash; this command answers each separately.
    let wanted: Vec<bool> = hashes.iter().map(|hash| is_hash_prefix(hash)).collect();
    let mut input = Vec::new();
    for (hash, _) in hashes.iter().zip(&wanted).filter(|(_, wanted)| **wanted) {
        input.extend(format!("{hash}^{{commit}}\n").into_bytes());
    }
    if input.is_empty() {
        return Ok(vec![None; hashes.len()]);
    }
    let output = program.run_with_input(&["cat-file", "--batch", "--buffer"], input)?;
    let mut rest = output.as_deref().unwrap_or_default();
    let times = wanted.iter().map(|wanted| {
        let (commit, after) = if *wanted { next_object(rest) } else { (None, rest) };
        rest = after;
        commit.and_then(author_time)
    });
    Ok(times.collect())
}

/// Splits off the next answer: an object after `<hash> commit <size>`, or a line with the reason why there is
/// none.
fn next_object(output: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let (header, rest) = split_line(output);
    let header = String::from_utf8_lossy(header);
    let size = match header.split(' ').collect::<Vec<_>>()[..] {
        [_, "commit", size] => size.parse::<usize>().ok(),
        _ => None,
    };
    match size.filter(|size| *size < rest.len()) {
        Some(size) => (Some(&rest[..size]), &rest[size + 1..]),
        None => (None, rest),
    }
}

/// Parses `author Name <address> 1771322400 +0100` from the head of a commit.
fn author_time(commit: &[u8]) -> Option<DateTime<Utc>> {
    let mut rest = commit;
    loop {
        let (line, after) = split_line(rest);
        if line.is_empty() {
            return None;
        }
        if let Some(author) = line.strip_prefix(b"author ") {
            let author = String::from_utf8_lossy(author);
            let (_, time) = author.rsplit_once('>')?;
            let seconds = time.split_whitespace().next()?.parse().ok()?;
            return DateTime::from_timestamp(seconds, 0);
        }
        rest = after;
    }
}

fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|b| *b == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_or_malformed_answer_is_none() {
        for output in [
            "", "\n", "abcd missing\n", "abcd commit 99\nauthor", "abcd commit x\n",
            "abcd blob 3\nabc\n",
        ] {
            assert_eq!(next_object(output.as_bytes()).0, None, "{output:?}");
        }
        for commit in ["", "author", "author x", "author x> y\n", "\nauthor A <a> 1 +0000\n"] {
            assert_eq!(author_time(commit.as_bytes()), None, "{commit:?}");
        }
        let commit =
            b"tree 1\nauthor > <a> 60 +0000\ncommitter B <b> 9 +0000\n\nauthor C <c> 1 +0000";
        assert_eq!(author_time(commit), DateTime::from_timestamp(60, 0));
    }
}
