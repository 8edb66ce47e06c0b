//! Makes one bullet of somebody's words: what was learned, then the plans it is drawn from.

use std::borrow::Cow;

use crate::patterns::trace::plan_id;
use crate::planning::PlanNumber;
use crate::secrets;
use crate::text::Line;
use crate::text::clip;
use crate::text::strip_controls;

/// The most characters of a bullet.
pub(crate) const WIDTH: usize = 160;

/// A first sentence shorter than this says too little alone.
const LEAST_SENTENCE: usize = 32;

/// More plans than these are not named one by one.
const MOST_CITED: usize = 6;

/// Returns `lead`, then somebody's `words` as far as there is room, then the plans: `… (plans 01, 03)`.
///
/// The words are cut, never the plans: without them nobody can check the bullet.
pub(crate) fn bullet(lead: &str, words: &str, plans: &[&PlanNumber]) -> Line {
    let words = lesson(words);
    let lead = &secrets::redact(lead).text;
    let cited = cite(plans);
    let width = |text: &str| text.chars().count();
    let mut room = WIDTH.saturating_sub(width(lead) + width(&cited) + 1);
    loop {
        let text = balanced(&fitted(&words, room));
        let line = Line::new(&format!("{lead}{text} {cited}"));
        let over = width(line.as_str()).saturating_sub(WIDTH);
        if over == 0 || room == 0 {
            return line.clipped(WIDTH);
        }
        room = room.saturating_sub(over);
    }
}

/// Returns the plans in brackets: `(plan 02)`, `(plans 01, 03)`, `(plans 01-04, 07)`.
pub(crate) fn cite(plans: &[&PlanNumber]) -> String {
    let mut plans = plans.to_vec();
    plans.sort();
    plans.dedup();
    match plans[..] {
        [] => String::new(),
        [only] => format!("(plan {})", plan_id(only)),
        _ => format!("(plans {})", list(&plans)),
    }
}

/// Returns sorted plans with runs of three and more drawn together: `01-04, 07`.
fn list(plans: &[&PlanNumber]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < plans.len() {
        let run = run_length(&plans[at..]);
        let (first, last) = (plans[at], plans[at + run - 1]);
        if run > 2 {
            parts.push(format!("{}-{}", plan_id(first), plan_id(last)));
            at += run;
        } else {
            parts.push(plan_id(first));
            at += 1;
        }
    }
    let rest = parts.len().saturating_sub(MOST_CITED);
    parts.truncate(MOST_CITED);
    if rest > 0 {
        parts.push(format!("{rest} more"));
    }
    parts.join(", ")
}

/// Returns how many plans from the first on are numbered without a gap.
fn run_length(plans: &[&PlanNumber]) -> usize {
    let number = |plan: &PlanNumber| plan.to_string().parse::<u32>().ok();
    let Some(first) = plans.first().and_then(|plan| number(plan)) else {
        return 1;
    };
    let is_next = |(plan, expected): &(&&PlanNumber, u32)| number(plan) == Some(*expected);
    plans.iter().zip(first..).take_while(is_next).count()
}

/// Returns the heart of a passage: without secrets, marks, codes and numbering.
pub(crate) fn lesson(words: &str) -> String {
    let clean = secrets::redact(&strip_controls(words))
        .text
        .replace("**", "");
    let words: Vec<&str> = clean.split_whitespace().collect();
    let line = words.join(" ");
    let heart = without_code(&line);
    trimmed(heart).to_owned()
}

/// Returns the first sentence of a passage, by which it is compared with others.
pub(crate) fn first_sentence(words: &str) -> String {
    let heart = lesson(words);
    let end = sentence_ends(&heart)
        .find(|end| *end >= LEAST_SENTENCE)
        .unwrap_or(heart.len());
    trimmed(&heart[..end]).to_owned()
}

/// Returns as much of a text as there is room for: whole sentences where they fill most of it.
fn fitted(text: &str, room: usize) -> Cow<'_, str> {
    if text.chars().count() <= room {
        return Cow::Borrowed(text);
    }
    let limit = text
        .char_indices()
        .nth(room)
        .map_or(text.len(), |(at, _)| at);
    let end = sentence_ends(text).take_while(|end| *end <= limit).last();
    match end.filter(|end| end * 3 >= limit * 2) {
        Some(end) => Cow::Borrowed(trimmed(&text[..end])),
        None => clip(text, room),
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['.', ';', ':', ',', ' '])
}

/// Returns a text without what stands in front of what it says.
///
/// ```text
/// [Rule 1 - Bug] …    DEVN-01 (minor): …    Rule 3 - Blocking: …    2. …    Pattern 4: …    Task 3: …
/// ```
fn without_code(text: &str) -> &str {
    let mut rest = text;
    loop {
        let before = rest;
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "-*_~>".contains(c));
        rest = without_tag(rest);
        rest = without_number(rest);
        rest = without_label(rest);
        if rest == before {
            return if rest.is_empty() { text } else { rest };
        }
    }
}

/// Drops `[…]` in front.
fn without_tag(text: &str) -> &str {
    text.strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
        .filter(|(tag, rest)| tag.len() <= 48 && rest.starts_with([' ', ':']))
        .map_or(text, |(_, rest)| rest.trim_start_matches([' ', ':']))
}

/// Drops `2.` or `2)` in front.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == text.len() {
        return text;
    }
    let after = rest
        .strip_prefix(['.', ')'])
        .filter(|after| after.starts_with(' '));
    after.unwrap_or(text)
}

/// Drops a label that only counts or classes what follows: `Rule 3 - Blocking:`, `Phase 03 Plan 17:`.
fn without_label(text: &str) -> &str {
    const COUNTED: &[&str] = &[
        "pattern",
        "phase",
        "plan",
        "task",
        "deviation",
        "issue",
        "fix",
    ];
    let Some((label, rest)) = text.split_once(": ").filter(|(label, _)| label.len() <= 64) else {
        return text;
    };
    let label = label.to_lowercase();
    let is_code = label.starts_with("devn-") || label.starts_with("rule ");
    let mut words = label.split(' ');
    let is_count = words.next().is_some_and(|word| COUNTED.contains(&word))
        && words
            .all(|word| word.starts_with(|c: char| c.is_ascii_digit()) || COUNTED.contains(&word));
    if is_code || is_count { rest } else { text }
}

/// Returns where sentences end; a full stop inside code ends none.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let mut is_code = false;
    text.char_indices().filter_map(move |(at, c)| {
        is_code ^= c == '`';
        let mut after = text[at + c.len_utf8()..].chars();
        let goes_on = after.next() != Some(' ') || after.next().is_some_and(char::is_lowercase);
        let is_abbreviated = ["e.g", "i.e", "etc", "vs", "cf"]
            .iter()
            .any(|short| text[..at].ends_with(short));
        (c == '.' && !is_code && !goes_on && !is_abbreviated).then_some(at)
    })
}

/// Returns a text without the mark of a code span that was cut in two.
fn balanced(text: &str) -> String {
    match text.rfind('`') {
        Some(last) if text.matches('`').count() % 2 == 1 => {
            format!("{}{}", &text[..last], &text[last + 1..])
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plans(texts: &[&str]) -> Vec<PlanNumber> {
        let parse = |text: &&str| PlanNumber::parse(text).unwrap();
        texts.iter().map(parse).collect()
    }

    #[test]
    fn plans_are_named_so_that_they_can_be_found() {
        for (texts, cited) in [
            (&["2"][..], "(plan 02)"),
            (&["3", "1"], "(plans 01, 03)"),
            (&["1", "2"], "(plans 01, 02)"),
            (&["1", "2", "3", "7", "1"], "(plans 01-03, 07)"),
            (&["9", "10", "11", "1a", "d"], "(plans D, 01a, 09-11)"),
            (
                &["1", "3", "5", "7", "9", "11", "13", "15"],
                "(plans 01, 03, 05, 07, 09, 11, 2 more)",
            ),
        ] {
            let plans = plans(texts);
            assert_eq!(cite(&plans.iter().collect::<Vec<_>>()), cited);
        }
    }

    #[test]
    fn the_heart_of_a_passage_is_what_it_says() {
        for (words, heart) in [
            (
                "[Rule 1 - Bug] Fixed wrong import path in `StocktakingScanner.tsx`. It was moved.",
                "Fixed wrong import path in `StocktakingScanner.tsx`",
            ),
            (
                "DEVN-01 (minor): plan listed `spec/lib/a.rb` but the file is `spec/models/a.rb` (RQ-7).",
                "plan listed `spec/lib/a.rb` but the file is `spec/models/a.rb` (RQ-7)",
            ),
            ("**2. [Rule 3 - Blocking]** Missing types", "Missing types"),
            (
                "Pattern 2: Port interfaces in `src/types`",
                "Port interfaces in `src/types`",
            ),
            ("Rule 3 - Blocking: no `pip`", "no `pip`"),
            ("`a.b. C` stays. Short", "`a.b. C` stays. Short"),
            ("useState: keep it", "useState: keep it"),
            ("node_modules was stale", "node_modules was stale"),
            ("[Rule 1 - Bug]", "[Rule 1 - Bug]"),
            (
                "uses password = hunter2xK9vLq8ZrT",
                "uses password = [redacted]",
            ),
        ] {
            assert_eq!(first_sentence(words), heart, "{words}");
        }
    }

    #[test]
    fn words_give_way_to_the_plans() {
        let plans = plans(&["1", "3"]);
        let plans: Vec<_> = plans.iter().collect();
        let line = bullet(
            "Often: ",
            &format!("the `{}` of it", "long ".repeat(60)),
            &plans,
        );
        assert_eq!(line.as_str().chars().count(), 156);
        assert!(line.as_str().starts_with("Often: the long long"), "{line}");
        assert!(line.as_str().ends_with("long… (plans 01, 03)"), "{line}");
    }

    proptest! {
        #[test]
        fn every_bullet_fits_and_names_its_plan(words in ".{0,300}", lead in "([A-Z][a-z ]{0,40}: )?") {
            let plan = PlanNumber::from(2);
            let line = bullet(&lead, &words, &[&plan]);
            prop_assert!(line.as_str().chars().count() <= WIDTH);
            prop_assert!(line.as_str().ends_with("(plan 02)"), "{}", line);
        }
    }
}
