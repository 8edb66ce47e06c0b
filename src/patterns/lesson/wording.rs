//! Removes markup without content from text: tags, numbering, emphasis, hashes.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::text::{capitalized, one_line, sanitized};

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// Tags in front of the actual text: `[Rule 1 - Bug] `, `DEVN-01 (minor): `, `PR-03 code-fix: `, `2. `.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\s*(?:[-*>]\s+|\d+[.)]\s+|\[[^\]]{1,48}\][:\s]|DEVN-\d+[^:]{0,40}:\s|Rule \d+[^:]{0,40}:\s|(?i:PR|P|D|T)-?\d+\w*[^:.]{0,40}:\s|(?i:auto-(?:fixed|added|fix))\s*:?\s|(?i:deviation|issue|fix|task|plan|phase|pattern)\s+[\d.-]+\w*(?:[^:.]{0,32})?:\s|(?i:process|scope|minor|note|bug|blocking|code-fix|plan-amendment)\s*:\s))+",
    )
});
static STRUCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"~~[^~]*~~"));
static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[([^\]]+)\]\([^)\s]*\)"));
/// References that mean nothing outside their file: to tasks and rules by number, and to commits.
static REMARK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\s*\((?i:commit|committed|tasks?|found|per task|source_plan|fixed in|see|in commit|deviation|rule|DEVN)\b[^()]*\d[^()]*\)|\s*\((?i:commit|committed|per task|source_plan|in commit|deviation|found during)\b[^()]*\)|\s*\([0-9a-f]{7,40}\)",
    )
});
/// Minimum length of a commit hash.
const MIN_HASH_LENGTH: usize = 7;
/// A commit hash at the end of a text.
static LAST_COMMIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\s+(?:\(?(?i:in commit|commit|in|as|at)\s+`?([0-9a-f]{7,40})`?\)?|`([0-9a-f]{7,40})`|([0-9a-f]{7,40}))\.?$",
    )
});

/// Returns a passage on one line, without secrets, emphasis, tags, link targets and trailing hashes.
pub(crate) fn clean(text: &str) -> String {
    let text = plain(text);
    trimmed(&TAG.replace(&text, "")).to_owned()
}

/// Returns the same with its tags: before a decision, what looks like one may be its subject, as in `D3 charts: …`.
pub(crate) fn plain(text: &str) -> String {
    let mut text = one_line(&sanitized(text));
    text = unquoted(&text);
    text = replaced(text, "~~", &STRUCK, "");
    text = without_emphasis(&text);
    text = replaced(text, "](", &LINK, "$1");
    text = replaced(text, "(", &REMARK, "");
    text = without_last_commit(&text).replace(" -- ", " \u{2014} ");
    text = text.replace("  ", " ");
    text = with_names_as_code(&text);
    trimmed(&text).to_owned()
}

/// Returns a text without the punctuation around it. A dash before a word belongs to it: `--init`, `-5 degrees`.
fn trimmed(text: &str) -> &str {
    let is_mark = |c: char| c.is_whitespace() || ";,-\u{2014}".contains(c);
    let text = text.trim_end_matches(is_mark);
    let marks = text.len() - text.trim_start_matches(is_mark).len();
    let before = text[..marks].trim_end_matches('-');
    &text[before.len()..]
}

/// Replaces all matches. A text without `sign`, like most, cannot match and skips the regular expression.
fn replaced(text: String, sign: &str, pattern: &Regex, by: &str) -> String {
    if text.contains(sign) { pattern.replace_all(&text, by).into_owned() } else { text }
}

/// Returns a text without the hash at its end; a hash has both digits and letters, unlike numbers and words.
fn without_last_commit(text: &str) -> &str {
    let bare = text.trim_end_matches(['.', ')', '`']).as_bytes();
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let last = bare.len().checked_sub(MIN_HASH_LENGTH);
    if !last.is_some_and(|start| bare[start..].iter().all(is_hex)) {
        return text;
    }
    let Some(found) = LAST_COMMIT.captures(text) else {
        return text;
    };
    let hash = (1..=3).find_map(|group| found.get(group));
    let has = |class: fn(&u8) -> bool| {
        hash.is_some_and(|hash| hash.as_str().as_bytes().iter().any(class))
    };
    let start = found.get(0).map_or(text.len(), |whole| whole.start());
    if has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) { &text[..start] } else { text }
}

/// Underscores mark emphasis only around several words: `__init__` is a name.
static UNDERLINED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(^|[\s(])__([^_\s]+\s[^_]*)__"));
/// A decorator or package in prose, which would be read as an import in a context file.
static AT_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"(^|[\s(])(@[A-Za-z][\w./-]*\w)"));

/// Returns a text without the quotes around all of it, which may be escaped: `\"Tests use …\"`.
fn unquoted(text: &str) -> String {
    let between = |quote: &str| text.strip_prefix(quote)?.strip_suffix(quote);
    let inner = between("\\\"").or_else(|| between("\""));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(text).to_owned()
}

/// Returns a text with every `@name` outside of code formatted as code.
fn with_names_as_code(text: &str) -> String {
    outside_code(text, |part| replaced(part.to_owned(), "@", &AT_NAME, "$1`$2`"))
}

/// Returns a text without emphasis marks outside of code.
fn without_emphasis(text: &str) -> String {
    outside_code(text, |part| replaced(part.replace("**", ""), "__", &UNDERLINED, "$1$2"))
}

/// Returns a text with its parts outside of code changed.
fn outside_code(text: &str, change: impl Fn(&str) -> String) -> String {
    let parts = text.split_inclusive('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => change(part),
        _ => part.to_owned(),
    });
    parts.collect()
}

/// Returns a sentence in the form of a bullet: capitalised, and without its full stop.
pub(crate) fn as_bullet(sentence: &str) -> String {
    let text = sentence.trim().trim_end_matches(['.', ';', ',', ':', ' ']);
    let text = without_label(text);
    let mut words = text.split(' ');
    let first_word = words.next().unwrap_or_default();
    // Names are singular: before a plural verb, it is an ordinary word.
    let is_plural = words.next().is_some_and(|verb| matches!(verb, "are" | "were" | "have"));
    // Names such as `pnpm`, `env.dart` and `useState` keep their case.
    let is_plain =
        first_word.chars().all(|c| c.is_ascii_lowercase()) && (is_plural || is_english(first_word));
    if is_plain { capitalized(text) } else { text.to_owned() }
}

/// Returns a sentence without a leading label that only names the kind of remark: `Reality: …`.
fn without_label(text: &str) -> &str {
    const LABELS: &[&str] = &[
        "reality", "process-exception", "note", "problem", "issue", "cause", "finding",
        "discovery", "discovered", "observation", "result", "pattern",
    ];
    match text.split_once(": ") {
        Some((label, rest)) if LABELS.contains(&label.to_lowercase().as_str()) => rest,
        _ => text,
    }
}

/// Returns whether a lower-case word is an ordinary first word of a sentence, and not a name.
fn is_english(word: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "a", "an", "the", "initial", "existing", "every", "each", "some", "tests", "test", "plan",
        "running", "using", "adding", "two", "three", "four", "new", "missing", "only", "when",
        "if", "after", "most", "real", "used", "use", "added", "run", "set", "moved", "changed",
        "unit", "several", "files", "file", "port", "ports",
    ];
    OPENINGS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_numbers_emphasis_and_hashes_go() {
        for (text, expected) in [
            ("**2. [Rule 1 - Bug] Wrong `a_b`**", "Wrong `a_b`"),
            ("DEVN-01 (minor): the **plan** said so (commit abc1234)", "the plan said so"),
            ("PR-03 plan-amendment: kept types inline", "kept types inline"),
            ("Done in [the file](docs/a.md) -- see", "Done in the file \u{2014} see"),
            ("Moved it ~~there~~ here (84e9493)", "Moved it here"),
            ("Keep `a**b` and **c**", "Keep `a**b` and c"),
            ("Task 3: Extra target", "Extra target"),
            (r#"\"Tests use a folder of their own\""#, "Tests use a folder of their own"),
            (
                "The `a` imports __init__.py of __all of it__",
                "The `a` imports __init__.py of all of it",
            ),
            (
                "Fixtures need @box.fixture in strict mode",
                "Fixtures need `@box.fixture` in strict mode",
            ),
            ("Mail to a@b.example, `@kept`", "Mail to a@b.example, `@kept`"),
            ("Moved in commit `abc1234`.", "Moved"),
            ("Plan 3: --all reads every folder", "--all reads every folder"),
            ("- \u{2014} -5 degrees, \u{2014}", "-5 degrees"),
            ("Moved in commit (abc12)", "Moved in commit (abc12)"),
            ("Renamed to feedback1", "Renamed to feedback1"),
        ] {
            assert_eq!(clean(text), expected, "{text}");
        }
    }

    #[test]
    fn a_subject_that_looks_like_a_tag_stays_in_a_plain_text() {
        for (text, expected) in [
            (
                "D3 charts: **one** per page -- never two",
                "D3 charts: one per page \u{2014} never two",
            ),
            (
                "Phase 3 deploys to staging: no other host",
                "Phase 3 deploys to staging: no other host",
            ),
            ("[Serializable] classes hold no streams", "[Serializable] classes hold no streams"),
            ("--dry-run writes nothing", "--dry-run writes nothing"),
            ("- see [the file](docs/a.md) (84e9493)", "see the file"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_keeps_its_case_at_the_front() {
        assert_eq!(as_bullet("pnpm is not installed."), "pnpm is not installed");
        assert_eq!(as_bullet("the plan said so."), "The plan said so");
        assert_eq!(as_bullet("visits are kept."), "Visits are kept");
        assert_eq!(as_bullet("Reality: Ruby has none."), "Ruby has none");
        assert_eq!(as_bullet("a.toml: Ruby has none."), "a.toml: Ruby has none");
    }
}
