//! Merges two versions of a file to which both sides append entries, as git's merge driver.
//!
//! Git merges by line, so two branches that each append an entry to PATTERNS.md or DECISIONS.md conflict. Here
//! a file is the list of its parts: a heading down to the third level with the text below it. Parts that both
//! sides added at one place are all kept, in the order of their dates. What one side changed or deleted is taken;
//! what both changed differently is left to git, which marks the conflict.

use std::collections::{BTreeMap, BTreeSet};

use crate::markdown::Outline;

/// The generated part of DECISIONS.md, a list of the latest entries: both sides change it with each entry.
const ROLLUP: &str = "## Recent";

/// The list of notes of PATTERNS.md, the newest last.
const NOTES: &str = "### Notes";

/// A heading and the text below it, or the text above the first heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part<'a> {
    text: &'a str,
    key: Key<'a>,
}

impl<'a> Part<'a> {
    fn content(&self) -> &'a str {
        self.text.trim_end()
    }

    /// Returns whether it is a list of single lines to which both sides may add.
    fn is_list(&self) -> bool {
        let mut lines = self.text.split('\n').skip(1);
        let is_plain =
            |line: &str| line.is_empty() || line.starts_with("- ") && !line.contains('\r');
        self.key.0.starts_with(ROLLUP) || self.key.0 == NOTES && lines.all(is_plain)
    }

    /// The first date of its heading, such as `2026-02-11`.
    fn date(&self) -> Option<&'a str> {
        let heading = self.key.0;
        heading
            .char_indices()
            .find_map(|(at, _)| heading.get(at..at + 10).filter(|text| is_date(text)))
    }
}

fn is_date(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

/// Merges the versions of two branches with their common ancestor; `None` if a person has to.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Option<String> {
    if ours == theirs || base == theirs {
        return Some(ours.to_owned());
    }
    if base == ours {
        return Some(theirs.to_owned());
    }
    if ![base, ours, theirs].iter().all(|text| Outline::is_whole(text)) {
        return None;
    }
    let (base, ours, theirs) = (parts(base), parts(ours), parts(theirs));
    let kept: BTreeSet<_> = base.iter().map(|part| part.key).collect();
    let ours = aligned(&ours, &base, &kept)?;
    let theirs = aligned(&theirs, &base, &kept)?;
    let mut merged = Vec::new();
    for at in 0..=base.len() {
        added(&ours.gaps[at], &theirs.gaps[at], base.get(at), &mut merged)?;
        let Some(part) = base.get(at) else { break };
        let (our_part, their_part) = (ours.parts.get(&part.key), theirs.parts.get(&part.key));
        match (our_part, their_part) {
            (Some(our), Some(their)) => {
                let (own, new, old) = (our.content(), their.content(), part.content());
                if own == new || new == old {
                    merged.push(our.text.to_owned());
                } else if own == old {
                    merged.push(their.text.to_owned());
                } else if [part, our, their].into_iter().all(Part::is_list) {
                    merged.push(merged_lines(part.text, our.text, their.text));
                } else {
                    return None;
                }
            }
            (None, Some(left)) | (Some(left), None) if left.content() != part.content() => {
                return None;
            }
            _ => {}
        }
    }
    Some(joined(merged))
}

/// Splits a text at every heading down to the third level.
fn parts(text: &str) -> Vec<Part<'_>> {
    let outline = Outline::parse(text, 0);
    let headings = outline.sections().iter().filter(|section| section.level <= 3);
    let mut starts: Vec<usize> = headings.map(|section| section.heading.start).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut seen = BTreeMap::new();
    let ranges = starts.iter().zip(ends).map(|(start, end)| &text[*start..end]);
    ranges
        .map(|text| {
            let heading = if text.starts_with('#') {
                text.lines().next().unwrap_or("").trim_end()
            } else {
                ""
            };
            let count: &mut usize = seen.entry(heading).or_default();
            *count += 1;
            Part { text, key: (heading, *count) }
        })
        .collect()
}

/// A heading, and which of the parts with this heading it is.
type Key<'a> = (&'a str, usize);

/// One side of the merge.
struct Side<'a> {
    /// For each place between the parts of the ancestor, the parts that it added there.
    gaps: Vec<Vec<Part<'a>>>,
    /// What it has of the ancestor's parts.
    parts: BTreeMap<Key<'a>, Part<'a>>,
}

/// Compares a side with the ancestor; `None` if it has the ancestor's parts in another order.
fn aligned<'a>(side: &[Part<'a>], base: &[Part<'a>], kept: &BTreeSet<Key<'a>>) -> Option<Side<'a>> {
    let mut gaps = vec![Vec::new(); base.len() + 1];
    let mut found = BTreeMap::new();
    let mut next = 0;
    for part in side {
        if !kept.contains(&part.key) {
            gaps[next].push(*part);
            continue;
        }
        next += base[next..].iter().position(|other| other.key == part.key)? + 1;
        found.insert(part.key, *part);
    }
    Some(Side { gaps, parts: found })
}

/// Adds the parts that both sides added before the part `next`; `None` if they added one heading with two texts.
fn added<'a>(
    ours: &[Part<'a>],
    theirs: &[Part<'a>],
    next: Option<&Part<'a>>,
    merged: &mut Vec<String>,
) -> Option<()> {
    let same =
        ours.iter().zip(theirs).take_while(|(our, their)| our.content() == their.content()).count();
    let (begin, ours) = ours.split_at(same);
    let mut parts = ours.to_vec();
    for their in &theirs[same..] {
        match ours.iter().find(|our| our.key == their.key) {
            Some(our) if our.content() == their.content() => {}
            Some(our) if our.is_list() && their.is_list() => {}
            Some(_) => return None,
            None => parts.push(*their),
        }
    }
    let (notes, mut parts): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| part.key.0 == NOTES);
    if parts.iter().all(|part| part.date().is_some()) {
        let first = parts.iter().map(Part::date).min().flatten();
        if next.and_then(Part::date).is_some_and(|older| Some(older) <= first) {
            parts.sort_by_key(|part| std::cmp::Reverse(part.date()));
        } else {
            parts.sort_by_key(Part::date);
        }
    }
    let whole = |part: &Part<'_>| {
        let mut same = theirs.iter().filter(|their| their.key == part.key && their.is_list());
        let their = same.find(|their| their.content() != part.content());
        their.map_or(part.text.to_owned(), |their| merged_lines("", part.text, their.text))
    };
    merged.extend(begin.iter().chain(&parts).chain(&notes).map(whole));
    Some(())
}

/// Returns our lines of a generated list with those that they added, and without those that they removed.
fn merged_lines(base: &str, ours: &str, theirs: &str) -> String {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (old, own, new) = (lines(base), lines(ours), lines(theirs));
    let added = theirs.lines().filter(|line| !old.contains(*line) && !own.contains(*line));
    let is_notes = ours.starts_with(NOTES);
    let ours = if is_notes { ours.trim_end() } else { ours };
    let mut kept = ours.lines().filter(|line| new.contains(*line) || !old.contains(*line));
    let heading = kept.next();
    let (added, kept): (Vec<&str>, Vec<&str>) = (added.collect(), kept.collect());
    let lists = if is_notes { [kept, added] } else { [added, kept] };
    let all: Vec<&str> = heading.into_iter().chain(lists.concat()).collect();
    format!("{}\n", all.join("\n"))
}

/// Joins the parts; one that ended its file without a blank line gets one if another follows now.
fn joined(parts: Vec<String>) -> String {
    let mut whole = String::new();
    for part in parts {
        if !whole.is_empty()
            && part.starts_with('#')
            && !whole.ends_with("\n\n")
            && !whole.ends_with("\n\r\n")
        {
            let end = if whole.contains("\r\n") { "\r\n" } else { "\n" };
            let ends = if whole.ends_with('\n') { 1 } else { 2 };
            whole.push_str(&end.repeat(ends));
        }
        whole.push_str(&part);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# Patterns\n\n### Phase 1: A (2026-01-01)\n\n- one\n";

    fn with(more: &str) -> String {
        format!("{BASE}{more}")
    }

    #[test]
    fn entries_of_both_sides_stand_in_the_order_of_their_dates() {
        let ours = with("\n### Phase 3: C (2026-01-03)\n\n- three\n");
        let theirs = with("\n### Phase 2: B (2026-01-02)\n\n- two\n");
        let merged = with(
            "\n### Phase 2: B (2026-01-02)\n\n- two\n\n### Phase 3: C (2026-01-03)\n\n- three\n",
        );
        assert_eq!(merge(BASE, &ours, &theirs), Some(merged));
    }

    #[test]
    fn entries_above_an_older_one_stand_newest_first() {
        let base = "# Decisions\n\n### 2026-01-01 - A\n\none\n";
        let ours = "# Decisions\n\n### 2026-01-02 - B\n\ntwo\n\n### 2026-01-01 - A\n\none\n";
        let theirs = "# Decisions\n\n### 2026-01-03 - C\n\nthree\n\n### 2026-01-01 - A\n\none\n";
        let merged = "# Decisions\n\n### 2026-01-03 - C\n\nthree\n\n### 2026-01-02 - B\n\ntwo\n\n### 2026-01-01 - A\n\none\n";
        assert_eq!(merge(base, ours, theirs).as_deref(), Some(merged));
    }

    #[test]
    fn lists_of_the_latest_decisions_are_joined() {
        let rollup = |lines: &str| format!("# Decisions\n\n## Recent (last 30 days)\n{lines}\n");
        let merged = merge(
            &rollup("- old\n- base\n"),
            &rollup("- ours\n- base\n"),
            &rollup("- theirs\n- old\n- base\n"),
        );
        assert_eq!(merged, Some(rollup("- theirs\n- ours\n- base\n")));
    }

    #[test]
    fn notes_of_both_sides_are_joined() {
        let entry = |name: &str| format!("\n### Phase {name} (2026-01-02)\n\n- {name}\n");
        let side = |name: &str| with(&format!("{}\n### Notes\n\n- note of {name}\n", entry(name)));
        let entries = format!("{}{}", entry("2: B"), entry("3: C"));
        let merged = with(&format!("{entries}\n### Notes\n\n- note of 2: B\n- note of 3: C\n"));
        assert_eq!(merge(BASE, &side("2: B"), &side("3: C")), Some(merged));
        let side = |name: &str| with(&format!("\n### Notes\n\n- note\n  of {name}\n"));
        assert_eq!(merge(BASE, &side("B"), &side("C")), None);
    }

    #[test]
    fn a_heading_that_both_added_stands_once() {
        let base = "# Decisions\n";
        let side = |entry: &str| format!("# Decisions\n\n## 2026-02\n\n### {entry}\n\ntext\n");
        let merged = merge(base, &side("2026-02-02 - B"), &side("2026-02-01 - A"));
        let expected = "# Decisions\n\n## 2026-02\n\n### 2026-02-01 - A\n\ntext\n\n### 2026-02-02 - B\n\ntext\n";
        assert_eq!(merged.as_deref(), Some(expected));
    }

    #[test]
    fn an_entry_that_both_changed_is_left_to_git() {
        let changed = |word: &str| BASE.replace("one", word);
        assert_eq!(merge(BASE, &changed("two"), &changed("three")), None);
        assert_eq!(merge(BASE, &changed("two"), "# Patterns\n"), None);
    }

    #[test]
    fn what_one_side_changed_or_deleted_is_taken() {
        let ours = BASE.replace("one", "two");
        let theirs = with("\n### Phase 2: B (2026-01-02)\n\n- two\n");
        let merged = merge(BASE, &ours, &theirs).unwrap();
        assert_eq!(merged, theirs.replace("- one", "- two"));
        assert_eq!(
            merge(BASE, "# Patterns\n", &theirs).unwrap(),
            theirs.replace("### Phase 1: A (2026-01-01)\n\n- one\n\n", "")
        );
    }
}
