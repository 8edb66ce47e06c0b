//! Reads and writes the comment that links an entry to its phase.
//!
//! ```text
//! <!-- annals: phase-dir=05.1-event-system plans=01,02a digest=3f0a… commit=9c1d… milestone=default
//!      sources=01:42,02a:17 judged=1 bullets=77ab… -->
//! ```
//!
//! `sources` lists the plan and the line of its summary that each bullet was drawn from, or `-`; `judged=1`
//! means that an agent worded the lessons; `bullets` is the digest of the bullets as written.
//!
//! Characters that would end a field or the comment are percent-encoded, such as `%20`.

use std::fmt::Write;
use std::iter;
use std::ops::Range;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::plan::PlanNumber;

/// The place in a summary that a lesson was drawn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonSource {
    /// The plan.
    pub plan: PlanNumber,
    /// Line number in its summary, from 1; 0 for the summary as a whole.
    pub line: usize,
}

/// The phase that an entry was recorded from, and the state of its summaries then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The name of the phase's folder, without its path, since shipping moves folders.
    pub phase_dir: String,
    /// The plans that the entry was recorded from.
    pub plans: Vec<PlanNumber>,
    /// The digest of their summaries' contents.
    pub digest: String,
    /// The commit that was checked out then, if any.
    pub commit: Option<String>,
    /// The slug of the milestone that the phase belonged to then.
    pub milestone: Option<String>,
    /// The source of each bullet, those about what worked first.
    pub sources: Vec<Option<LessonSource>>,
    /// Whether an agent worded the lessons.
    pub judged: bool,
    /// The digest of the bullets as written.
    pub bullets: Option<String>,
}

const OPENING: &str = "<!--";
const MARK: &str = "annals:";
const CLOSING: &str = "-->";

impl Trace {
    /// Parses the first such comment in a text; `None` if none names a phase's folder.
    pub fn parse(text: &str) -> Option<Self> {
        comments(text)
            .filter(|comment| comment.is_closed)
            .find_map(|comment| Self::from_fields(comment.fields))
    }

    /// Returns whether a text contains a comment of this kind, valid or not.
    pub(crate) fn is_in(text: &str) -> bool {
        comments(text).any(|comment| comment.fields.contains("phase-dir"))
    }

    fn from_fields(fields: &str) -> Option<Self> {
        let mut trace = Self::default();
        for (key, value) in fields.split_whitespace().filter_map(|field| field.split_once('=')) {
            let value = decoded(value);
            match key {
                "phase-dir" => trace.phase_dir = value,
                "plans" => trace.plans = value.split(',').filter_map(PlanNumber::parse).collect(),
                "digest" => trace.digest = value,
                "commit" => trace.commit = Some(value).filter(|value| !value.is_empty()),
                "milestone" => trace.milestone = Some(value).filter(|value| !value.is_empty()),
                "sources" => trace.sources = value.split(',').map(source).collect(),
                "judged" => trace.judged = value == "1",
                "bullets" => trace.bullets = Some(value).filter(|value| !value.is_empty()),
                // Later versions may write more fields.
                _ => {}
            }
        }
        (!trace.phase_dir.is_empty()).then_some(trace)
    }

    /// Returns whether two entries come from the same plans of the same folder, in any state.
    pub fn is_of_same_plans(&self, other: &Self) -> bool {
        self.phase_dir == other.phase_dir && self.plans == other.plans
    }
}

/// Serializes the fields as they are written in the comment, for the template.
impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plans: Vec<String> = self.plans.iter().map(plan_id).collect();
        let mut fields = serializer.serialize_struct("Trace", 8)?;
        fields.serialize_field("phase_dir", &encoded(&self.phase_dir))?;
        fields.serialize_field("plans", &plans.join(","))?;
        fields.serialize_field("digest", &encoded(&self.digest))?;
        fields.serialize_field("commit", &self.commit.as_deref().map(encoded))?;
        fields.serialize_field("milestone", &self.milestone.as_deref().map(encoded))?;
        let sources: Vec<String> =
            self.sources.iter().map(|source| written_source(source.as_ref())).collect();
        fields.serialize_field("sources", &sources.join(","))?;
        fields.serialize_field("judged", &self.judged)?;
        fields.serialize_field("bullets", &self.bullets.as_deref().map(encoded))?;
        fields.end()
    }
}

/// A comment of annals.
struct Comment<'t> {
    /// Its byte range, up to the closing mark.
    range: Range<usize>,
    /// The text after `annals:`.
    fields: &'t str,
    /// Whether it is closed; otherwise it goes on to the end of the text.
    is_closed: bool,
}

/// Returns the comments that begin with `annals:`.
fn comments(text: &str) -> impl Iterator<Item = Comment<'_>> {
    let mut at = 0;
    iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(OPENING)?;
            at = start + OPENING.len();
            let Some(inner) = text[at..].trim_start().strip_prefix(MARK) else {
                continue;
            };
            let closing = inner.find(CLOSING);
            let fields = &inner[..closing.unwrap_or(inner.len())];
            let end = text.len() - inner.len() + fields.len();
            at = end;
            return Some(Comment { range: start..end, fields, is_closed: closing.is_some() });
        }
    })
}

/// Returns an entry's text with its comment marked as judged; `None` if there is no such comment.
pub(crate) fn with_judged_mark(
    text: &str,
    sources: &[Option<LessonSource>],
    bullets: &str,
) -> Option<String> {
    let names_phase =
        |comment: &Comment<'_>| comment.is_closed && Trace::from_fields(comment.fields).is_some();
    let Range { start: at, end } = comments(text).find(names_phase)?.range;
    let is_own =
        |word: &&str| !["sources=", "judged=", "bullets="].iter().any(|key| word.starts_with(key));
    let mut words: Vec<String> =
        text[at..end].split_whitespace().filter(is_own).map(str::to_owned).collect();
    let sources: Vec<String> =
        sources.iter().map(|source| written_source(source.as_ref())).collect();
    if !sources.is_empty() {
        words.push(format!("sources={}", sources.join(",")));
    }
    words.push("judged=1".to_owned());
    words.push(format!("bullets={}", encoded(bullets)));
    Some(format!("{}{} {}", &text[..at], words.join(" "), &text[end..]))
}

/// Parses `02:41`; `None` for `-` and anything invalid.
fn source(text: &str) -> Option<LessonSource> {
    let (plan, line) = text.rsplit_once(':')?;
    Some(LessonSource { plan: PlanNumber::parse(plan)?, line: line.parse().ok()? })
}

fn written_source(source: Option<&LessonSource>) -> String {
    source.map_or_else(
        || "-".to_owned(),
        |source| encoded(&format!("{}:{}", plan_id(&source.plan), source.line)),
    )
}

/// Returns a plan's number as in file names: `02`, `02a`, `D`.
pub(crate) fn plan_id(plan: &PlanNumber) -> String {
    let text = plan.to_string();
    if text.starts_with(|c: char| c.is_ascii_digit())
        && !text[1..].starts_with(|c: char| c.is_ascii_digit())
    {
        return format!("0{text}");
    }
    if text.len() == 1 {
        return text.to_uppercase();
    }
    text
}

fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        if c.is_whitespace() || c.is_control() || matches!(c, '%' | '<' | '>') {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let written = write!(text, "%{byte:02x}");
                debug_assert!(written.is_ok());
            }
        } else {
            text.push(c);
        }
    }
    text
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.as_bytes());
        let byte = after.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = byte.map_or(after, |_| &after[2..]);
    }
    bytes.extend(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_comment_is_read_wherever_it_stands() {
        let text = "### Phase 5\n<!-- note -->\n<!-- annals: phase-dir=05-a%20b plans=01,02a,D \
                    digest=3f commit=9c extra=1 milestone=v1 -->\n";
        let trace = Trace::parse(text).unwrap();
        assert_eq!(trace.phase_dir, "05-a b");
        let plans: Vec<String> = trace.plans.iter().map(plan_id).collect();
        assert_eq!(plans, ["01", "02a", "D"]);
        assert_eq!(trace.digest, "3f");
        assert_eq!(trace.commit.as_deref(), Some("9c"));
        assert_eq!(trace.milestone.as_deref(), Some("v1"));
        for other in [
            "<!-- annals: end -->",
            "<!-- annals: phase-dir= -->",
            "<!--annals: phase-dir=x",
            "annals: phase-dir=x",
        ] {
            assert_eq!(Trace::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_comment_that_is_read_is_the_one_that_is_marked() {
        let other = "<!-- annals: see the notes -->";
        let text = format!("{other}\n<!-- annals: phase-dir=05-a plans=01 digest=3f -->\n");
        let marked = with_judged_mark(&text, &[], "77").unwrap();
        assert_eq!(
            marked,
            format!(
                "{other}\n<!-- annals: phase-dir=05-a plans=01 digest=3f judged=1 bullets=77 -->\n"
            )
        );
        assert!(Trace::parse(&marked).unwrap().judged);
        assert_eq!(with_judged_mark(other, &[], "77"), None);
    }

    proptest! {
        #[test]
        fn any_name_comes_back(name in ".{1,20}") {
            let written = encoded(&name);
            prop_assert!(!written.contains(char::is_whitespace) && !written.contains('>'));
            prop_assert_eq!(decoded(&written), name);
        }

        #[test]
        fn no_text_panics(text in "(<!-- ?annals:)?[ =%a-f0-9é,-]{0,30}(-->)?") {
            Trace::parse(&text);
            Trace::is_in(&text);
            with_judged_mark(&text, &[], "77");
        }
    }
}
