//! The forms in which two spellings of the same thing are equal.

/// Returns a text without inline markdown, quotes around code, and the accidents of line breaks.
pub(super) fn plain(text: &str) -> String {
    let marks = ['*', '`', '~', '_', '\\'];
    let bare: String = text.chars().filter(|c| !marks.contains(c)).collect();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a number without the zeros in front of each part: `05.1` and `5.1`, `03b` and `3b` are equal.
fn number(text: &str) -> String {
    let parts = text.split('.').map(|part| {
        let digits = part.trim_start_matches('0');
        let bare = if digits.starts_with(|c: char| c.is_ascii_digit()) { digits } else { part };
        // "0" and "00" are the same number; "0b" keeps its zero above.
        if part.chars().all(|c| c == '0') { "0" } else { bare }
    });
    parts.collect::<Vec<_>>().join(".").to_lowercase()
}

/// Returns the length of the phase or plan number a text begins with: `05.1`, `03b`, `12`.
fn number_length(text: &str) -> usize {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let letter = text[digits..].chars().take_while(char::is_ascii_alphabetic).count();
    // One letter belongs to the number (`03b`), a word does not.
    if digits > 0 && letter == 1 { digits + 1 } else { digits }
}

/// Returns a phase without slug and zeros: `05.1-name` and `5.1` are equal; a word stays a word.
pub(super) fn phase(text: &str) -> String {
    let text = text.trim();
    match number_length(text) {
        0 => text.to_lowercase(),
        length => number(&text[..length]),
    }
}

/// Returns a plan without its phase, slug, suffix and zeros: `05.3-02`, `02-PLAN.md` and `2` are equal in phase 5.3.
///
/// A plan of no numbered phase, such as a quick task, is its whole name.
pub(super) fn plan(text: &str, of_phase: &str) -> String {
    let text = text.trim().trim_end_matches(".md").trim_end_matches("-PLAN");
    if number_length(of_phase) == 0 {
        return number(text);
    }
    let rest = match text.split_once('-') {
        Some((first, rest)) if phase(first) == phase(of_phase) => rest,
        _ => text,
    };
    match number_length(rest) {
        0 => rest.to_lowercase(),
        length => number(&rest[..length]),
    }
}

/// Returns a title without its label and the word Summary: what it says beyond phase, plan and kind of file.
///
/// `Phase 4 Plan 1: Settlement Types Summary` says `Settlement Types`; `Plan 03.1-01 Summary` says nothing.
pub(super) fn title(text: &str) -> String {
    let text = plain(text);
    let bare = text.strip_suffix("Summary").unwrap_or(&text);
    let bare = bare.trim_end_matches([' ', '-', '—', '–', ':']);
    if !is_label(bare) {
        return bare.to_owned();
    }
    let separators = [": ", " — ", " – ", " - "];
    let mut rest = bare;
    while let Some((cut, length)) = separators
        .iter()
        .filter_map(|separator| Some((rest.find(separator)?, separator.len())))
        .min()
        .filter(|_| is_label(rest))
    {
        rest = &rest[cut + length..];
    }
    if is_label(rest) { String::new() } else { rest.to_owned() }
}

/// A label is one of these words with a number, or `Summary:` in front of one.
fn is_label(text: &str) -> bool {
    let mut words = text.split([' ', ':']).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let numbered = ["Phase", "Plan", "Quick", "Task"].contains(&first)
        && words.any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    numbered || first == "Summary"
}

/// Returns a path without backticks, a leading `./`, and what a person noted after it.
pub(super) fn file(text: &str) -> String {
    let text = text.replace('`', "");
    let ends = [" (", " —", " –", " - ", " -- ", ": "];
    let end = ends.iter().filter_map(|mark| text.find(mark)).min();
    let path = text[..end.unwrap_or(text.len())].trim();
    path.trim_start_matches("./").trim_end_matches('/').to_owned()
}

/// Returns whether two hashes name the same commit, one perhaps shorter.
pub(super) fn same_commit(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let length = one.len().min(other.len());
    length >= 7 && one.get(..length) == other.get(..length)
}

/// Returns a text without the number or bullet that a list put in front.
pub(super) fn unlisted(text: &str) -> &str {
    let text = text.trim_start_matches(['-', ' ']);
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < text.len() && rest.starts_with(' ') => rest.trim_start(),
        _ => text,
    }
}

/// Returns a text's tag and what follows it: `[Rule 1 - Bug] text`, `DEVN-01 (minor): text`, `(Phase 6): text`.
pub(super) fn tagged(text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = match text.strip_prefix('[') {
        Some(inside) => inside.split_once(']')?,
        None => text.split_once(':')?,
    };
    // A longer one is a sentence with a colon.
    (tag.len() <= 40).then(|| (tag, rest.trim_start_matches([':', ' '])))
}

/// Returns whether one tag is the other, or the other with more said.
pub(super) fn same_tag(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> String {
        let kept = text.chars().filter(|c| c.is_alphanumeric());
        kept.flat_map(char::to_lowercase).collect()
    };
    let (one, other) = (letters(one), letters(other));
    !one.is_empty() && !other.is_empty() && (one.contains(&other) || other.contains(&one))
}

#[test]
fn phases_and_plans_are_equal_without_zeros_slug_and_prefix() {
    for (one, other) in [
        ("05.3", "5.3"),
        ("02-custom-fields", "2"),
        ("03b-rust", "3b"),
        ("quick", "Quick"),
        ("10", "10"),
    ] {
        assert_eq!(phase(one), phase(other));
    }
    assert_ne!(phase("05.1"), phase("5"));
    assert_ne!(phase("03b"), phase("3"));
    assert_ne!(phase("10"), phase("1"));
    for (one, other, of_phase) in [
        ("05.3-02", "2", "05.3"),
        ("04-04", "04", "4"),
        ("06.1-E", "e", "06.1"),
        ("14-01-PLAN.md", "1", "14"),
        ("01a", "1a", "5"),
        ("01-project-scaffold", "1", "3"),
        ("260422-p4a", "260422-p4a", "quick"),
    ] {
        assert_eq!(plan(one, of_phase), plan(other, of_phase));
    }
    assert_ne!(plan("01a", "5"), plan("01", "5"));
    assert_ne!(plan("04", "4"), plan("1", "4"));
    assert_ne!(plan("260422-p4a", "quick"), plan("260422-zzz", "quick"));
}

#[test]
fn a_title_is_what_it_says_beyond_its_label() {
    for (full, short) in [
        ("Phase 02 Plan 04: Node Proxy Summary", "Node Proxy"),
        ("Plan 01 Summary: Scaffold & CLI", "Scaffold & CLI"),
        ("Summary: Plan 02 — Callback, Browser", "Callback, Browser"),
        ("Quick Plan 1: Fix the Issue Summary", "Fix the Issue"),
        ("Plan 03.1-01 Summary", ""),
        ("Quick Task 260422-p4a — Summary", ""),
        ("Frontend: a **bold** `wizard`", "Frontend: a bold wizard"),
    ] {
        assert_eq!(title(full), short);
        assert_eq!(title(short), short);
    }
    assert_ne!(title("Phase 1 Plan 1: One"), title("Phase 1 Plan 1: Two"));
}

#[test]
fn paths_commits_and_tags_are_equal_in_their_spellings() {
    assert_eq!(file("`src/a.rs` (new, 12 tests)"), "src/a.rs");
    assert_eq!(file("./src/app/(auth)/[id]/page.tsx — login"), "src/app/(auth)/[id]/page.tsx");
    assert!(same_commit("0753326", "0753326abcd") && same_commit("ABCDEF0", "abcdef0"));
    assert!(!same_commit("753326", "0753326") && !same_commit("0753326", "0753327"));
    assert_eq!(unlisted("2. Second"), "Second");
    assert_eq!(unlisted("24 tests instead"), "24 tests instead");
    assert_eq!(unlisted("2.95 is kept"), "2.95 is kept");
    assert_eq!(tagged("[phase-1]: Text"), Some(("phase-1", "Text")));
    assert_eq!(tagged("no tag here"), None);
    assert!(
        same_tag("Rule 1 - Bug", "rule-1") && !same_tag("Rule 1", "Rule 3") && !same_tag("", "x")
    );
}
