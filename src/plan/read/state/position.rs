//! Parses the statements of STATE.md about the position.

use std::ops::Range;

use crate::markdown::{self, FrontMatter, Node, Outline};
use crate::plan::read::line::Span;
use crate::plan::read::vocabulary::{
    Label, after_phase, find, has, is_status, split_status, words,
};
use crate::plan::read::{Claim, Located, PhaseNumbering, Says, StatedPhase, document};
use crate::text::{Pattern, non_placeholder, says_none, strip_prefix_ignore_case};

/// The kinds of sections whose labels are statements about the position.
const POSITION: &[&str] = &["position"];

type Claims = Vec<Located<Claim>>;

/// Returns the ranges in which labels are about the position: the head of the file, and the sections of some kinds.
fn scopes<'o>(
    outline: &'o Outline<'_>,
    kinds: &'static [&str],
) -> impl Iterator<Item = &'o Range<usize>> {
    let sections = outline.sections().iter().enumerate();
    let found = sections.filter(move |(index, section)| {
        // The head is what precedes the first heading, and what follows it if it is the title. A title further
        // down comes from a file that was pasted, as do the comments of its front matter.
        let is_head = *index == 0 || *index == 1 && section.level == 1;
        let title = document::heading(&section.title);
        let is_current = title.starts_with("current p");
        is_head || is_current || kinds.iter().any(|kind| has(kind, &title))
    });
    found.map(|(_, section)| &section.own)
}

/// Returns the labels in the head and in sections of some kinds.
pub(super) fn labels(outline: &Outline<'_>, kinds: &'static [&str]) -> Vec<markdown::Label> {
    scopes(outline, kinds).flat_map(|scope| outline.labels(scope)).collect()
}

/// Returns what a label is about.
pub(super) fn about(label: &markdown::Label) -> Option<Label> {
    let lower = label.name.to_lowercase();
    find("label", |word| word == lower).map(|(label, _)| label)
}

/// Returns the first paragraph about the position in a file of prose alone.
pub(super) fn prose(outline: &Outline<'_>) -> Option<Located<String>> {
    let all = outline.all();
    if outline.items(&all).next().is_some() || outline.tables(&all).next().is_some() {
        return None;
    }
    let (block, text) =
        scopes(outline, POSITION).flat_map(|scope| outline.paragraphs(scope)).next()?;
    let is_read = |line: &&str| {
        !says_none(line)
            && !says_no_phase(line)
            && !line.contains([char::REPLACEMENT_CHARACTER, '\0'])
    };
    let line = text.lines().next().filter(is_read)?;
    Some(Span::new(line, block.range.start, block.line).with_value(line.to_owned()))
}

fn says_no_phase(text: &str) -> bool {
    let lower = text.to_lowercase();
    is_status(&lower) || words("no phase").any(|word| lower.contains(word))
}

/// Returns all statements about the position, in file order, and the labels of the current phase that neither contain a
/// number nor say that there is no phase.
pub(super) fn claims(
    front: &FrontMatter,
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> (Claims, Vec<Located<String>>) {
    let mut claims = front_claims(front, outline.text(), numbering);
    let mut unclear = Vec::new();
    for label in labels(outline, POSITION) {
        let value = Span::from_label(&label);
        let text = |says| non_placeholder(value.text).map(|_| text_claim(says, value));
        match about(&label) {
            Some(Label::Phase) => {
                let is_read = push_phase(value, numbering, &mut claims);
                // `(determining...)`, as GSD's repair writes it.
                let inner = value.text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
                let is_remark = inner.is_some_and(|text| !text.contains(char::is_numeric));
                let is_none = is_remark || says_none(value.text) || says_no_phase(value.text);
                if !is_read && !is_none {
                    unclear.push(value.with_value(label.value.clone()));
                }
            }
            Some(Label::Status) => claims.extend(text(Says::Status)),
            Some(Label::PhaseName) => claims.extend(text(Says::Name)),
            Some(own @ (Label::Plan | Label::Plans)) => push_plans(value, own, &mut claims),
            Some(Label::Phases) => {
                claims.extend(value.count().map(|(total, ..)| count_claim(Says::Total, total)));
            }
            Some(Label::Progress) => push_progress(value, &mut claims),
            _ => {}
        }
    }
    if !claims.iter().any(|claim| matches!(claim.value, Claim::Phase(_))) {
        push_unlabelled(outline, numbering, &mut claims);
    }
    claims.sort_by_key(|claim| claim.range.start);
    (claims, unclear)
}

fn text_claim(says: Says, span: Span<'_>) -> Located<Claim> {
    span.stated().map(|text| Claim::Text(says, text))
}

fn count_claim(says: Says, count: Located<u32>) -> Located<Claim> {
    count.map(|count| Claim::Count(says, count))
}

/// Parses a phase that begins its section without a label: `Phase 2: Name — IN PROGRESS` below `## Current Phase`.
fn push_unlabelled(outline: &Outline<'_>, numbering: PhaseNumbering, claims: &mut Claims) {
    let mut sections = document::sections(outline, "position");
    let found = sections.find_map(|section| outline.paragraphs(&section.own).next());
    let Some((block, text)) = found else { return };
    let line = text.lines().next().unwrap_or_default();
    if after_phase(line.trim_start_matches('*')).is_some_and(|rest| rest.starts_with(' ')) {
        push_phase(Span::new(line, block.range.start, block.line), numbering, claims);
    }
}

/// Parses the notations for the current phase, and returns whether a number follows the optional word `Phase`.
///
/// ```text
/// 4 of 4 (Name) — COMPLETE     Phase 4                2 — Name
/// 15 (slug) - EXECUTING        Phase 10 - Name        3b (planned)
/// 6 of 15 (06.1 Name)          11/12: Name            Phase 2: Name — IN PROGRESS
/// ```
fn push_phase(value: Span<'_>, numbering: PhaseNumbering, claims: &mut Claims) -> bool {
    let mut value = value.trim_chars(&['*', '`']);
    // `Phase: Phase 10 - Name`
    while let Some(rest) =
        words("phase").find_map(|word| strip_prefix_ignore_case(value.text, word))
    {
        value = value.suffix(rest.trim_start_matches(':'));
    }
    let Some((number, behind)) = numbering.split(value.text) else { return false };
    let mut number = value.part(0..value.text.len() - behind.len()).with_value(number);
    let mut rest = value.suffix(behind);
    if let Some((total, after)) = rest.total() {
        claims.push(count_claim(Says::Total, total));
        rest = after;
    }
    let (mut name, mut status) = (None, None);
    if let Some(found) = BRACKETS.find(rest.text) {
        let inside = rest.part(1..found.end() - 1);
        rest = rest.after(found.end());
        // The leading number may be only the index of a phase whose id is in the brackets: `6 of 15 (06.1 Name)`.
        let id = numbering.split(inside.text).filter(|(id, rest)| {
            let written = &inside.text[..inside.text.len() - rest.len()];
            let digits = written.bytes().take_while(u8::is_ascii_digit).count();
            // `10x speed` is a name.
            let is_folders = digits == 2 && (written.starts_with('0') || written.contains('.'));
            rest.starts_with([' ', '-', ':'])
                && (is_folders || id.numbering() == PhaseNumbering::MilestonePrefixed)
        });
        match id {
            _ if is_status(inside.text) => status = Some(inside),
            Some((id, after)) => {
                if number.value != id {
                    claims.push(number.map(|number| Claim::Count(Says::Index, number.ordinal())));
                }
                number = inside.part(0..inside.text.len() - after.len()).with_value(id);
                name = Some(inside.suffix(after).trim_chars(&['-', ':', ' ']));
            }
            None => name = Some(inside),
        }
    }
    claims.push(number.map(Claim::Phase));
    // After a dash or a colon: a status, a name, or a name and a status.
    let tail = rest.trim_chars(&['-', '–', '—', ':', ' ']);
    if !tail.text.is_empty() && tail.text.len() < rest.text.len() {
        if name.is_some() || is_status(tail.text) {
            status = status.or(Some(tail));
        } else {
            let (own, stated) = split_status(tail);
            (name, status) = (Some(own), stated.or(status));
        }
    }
    for (span, says) in [(name, Says::Name), (status, Says::PhaseStatus)] {
        let span = span.map(|span| span.trim_chars(&['*', '_', '`']));
        let span = span.filter(|span| !span.text.is_empty());
        claims.extend(span.map(|span| text_claim(says, span)));
    }
    true
}

/// The brackets at the start of a text.
static BRACKETS: Pattern = Pattern::new(r"^\((?:[^()]|\([^()]*\))*\)");

/// Parses the current plan: `2 of 3 in current phase`, `3/5`, `0 of TBD`, `2`; an id such as `02-01` is not a count. Or the
/// number of complete plans: `5/5`, `0/TBD`, `0/3 complete`; a single number as in `3 (wave 1: …)` is the total.
fn push_plans(value: Span<'_>, label: Label, claims: &mut Claims) {
    let Some((number, total, rest)) = value.count() else { return };
    let total = total.or_else(|| rest.unknown_total());
    let goes_on = |signs: &[char]| total.is_some() || rest.text.starts_with(signs);
    let says = match label {
        Label::Plan if goes_on(&['(']) || rest.text.is_empty() => Some(Says::CurrentPlan),
        Label::Plan => None,
        _ if goes_on(&['/']) => Some(Says::PlansDone),
        _ => Some(Says::PlansTotal),
    };
    claims.extend(says.map(|says| count_claim(says, number)));
    claims.extend(total.map(|total| count_claim(Says::PlansTotal, total)));
}

/// A progress bar: cells in brackets, or a run of block characters.
static BAR: Pattern = Pattern::new(r"\[[#=\-.> _▀-▟■-◿]+\]|[▀-▟■-◿]+");
static PERCENT: Pattern = Pattern::new(r"(?:^|[^.\d])(\d{1,3})\s*%");

/// Parses `[####------] 40%`, `100%`, `v2.1 ██████ 100%`, `16/17 plans (94%)`.
fn push_progress(value: Span<'_>, claims: &mut Claims) {
    if let Some(bar) = BAR.find(value.text) {
        claims.push(text_claim(Says::Bar, value.part(bar.range())));
    }
    let percent = PERCENT.captures(value.text).and_then(|found| found.get(1));
    if let Some((at, number)) = percent.and_then(|at| Some((at.range(), at.as_str().parse().ok()?)))
    {
        claims.push(count_claim(Says::Percent, value.part(at).with_value(number)));
    }
}

/// Parses the front matter fields about the position.
fn front_claims(front: &FrontMatter, text: &str, numbering: PhaseNumbering) -> Claims {
    const COUNTS: [(&str, Says); 5] = [
        ("total_phases", Says::Total),
        ("completed_phases", Says::PhasesDone),
        ("total_plans", Says::AllPlansTotal),
        ("completed_plans", Says::AllPlansDone),
        ("percent", Says::Percent),
    ];
    let mut claims = Claims::new();
    if let Some(span) = span_of(text, front.get(&["current_phase", "phase"])) {
        push_phase(span, numbering, &mut claims);
    }
    for (key, says) in [("current_phase_name", Says::Name), ("status", Says::Status)] {
        let span = span_of(text, front.get(&[key]));
        claims.extend(span.map(|span| text_claim(says, span)));
    }
    let progress = front.get(&["progress"]);
    for (key, says) in COUNTS {
        let node = progress.and_then(|node| node.get(&[key])).or_else(|| front.get(&[key]));
        let count = span_of(text, node).and_then(Span::count);
        claims.extend(count.map(|(count, ..)| count_claim(says, count)));
    }
    claims
}

/// Locates a scalar of the front matter in its line.
fn span_of<'a>(text: &'a str, node: Option<&Node>) -> Option<Span<'a>> {
    let node = node?;
    let value = non_placeholder(node.as_text()?)?;
    let above = text.split_inclusive('\n').take(node.line.saturating_sub(1));
    let start: usize = above.map(str::len).sum();
    let line = text.get(start..)?.lines().next()?;
    let colon = line.find(':').map_or(0, |at| at + 1);
    // In a map on one line, another value may contain this one.
    if line.get(colon..)?.trim_start().starts_with('{') {
        return None;
    }
    let at = colon + line.get(colon..)?.find(value)?;
    Some(Span::new(line.get(at..at + value.len())?, start + at, node.line))
}

/// Returns the position according to all statements; the body takes precedence over the front matter.
pub(super) fn stated_phase(claims: &[Located<Claim>], body: usize) -> StatedPhase {
    let (front, body): (Vec<_>, Vec<_>) = claims.iter().partition(|claim| claim.range.start < body);
    let all = || body.iter().chain(&front).map(|claim| &claim.value);
    let count = |says| all().find_map(|claim| claim.count(says));
    let text = |says| all().find_map(|claim| claim.text(says));
    let in_body = |says| body.iter().find_map(|claim| claim.value.text(says));
    let status = in_body(Says::Status).or_else(|| in_body(Says::PhaseStatus));
    let number = |claim: &Claim| match claim {
        Claim::Phase(number) => Some(number.clone()),
        _ => None,
    };
    StatedPhase {
        number: all().find_map(number),
        total: count(Says::Total),
        name: text(Says::Name).map(str::to_owned),
        status: status.or_else(|| text(Says::Status)).map(str::to_owned),
        progress_percent: count(Says::Percent),
    }
}

/// Returns the line of the front matter, a label or a text about the position that says that no milestone is active.
pub(super) fn no_milestone(
    front: &FrontMatter,
    outline: &Outline<'_>,
    labels: &[markdown::Label],
) -> Option<usize> {
    let of = |meaning| {
        let own = labels.iter().find(|label| about(label) == Some(meaning))?;
        Some((own.value.to_lowercase(), own.line)).filter(|(value, _)| !value.is_empty())
    };
    let in_front = front
        .get(&["status"])
        .and_then(|node| Some((node.as_text()?.to_lowercase().replace('_', " "), node.line)));
    // `Archived orders` is a name.
    let ends = |rest: &str| {
        let next = rest.split_whitespace().next().unwrap_or_default();
        !next.starts_with(char::is_alphabetic)
            || ["and", "as", "at", "by", "in", "on", "to"].contains(&next)
    };
    let ships =
        |lower: &str| lower.contains("shipped") || lower.split("archived").skip(1).any(ends);
    // A dash or a placeholder is not `none`.
    let is_none = |text: &str| {
        let word = text.trim_start_matches(['*', '_', '(', '`', ' ']);
        word.starts_with("none") && says_none(text)
    };
    let says_so = |text: &str| words("between milestones").any(|said| text.contains(said));
    let status = of(Label::Status).or_else(|| in_front.clone());
    let status_ships = |text: &str| ships(text) && !text.contains("phase");
    let milestone = of(Label::Milestone).filter(|(text, _)| is_none(text) || ships(text));
    let shipped = milestone.or_else(|| status.clone().filter(|(text, _)| status_ships(text)));
    let texts = scopes(outline, POSITION).flat_map(|scope| outline.paragraphs(scope));
    let mut texts = [in_front, status, of(Label::Phase)]
        .into_iter()
        .flatten()
        .chain(texts.map(|(block, text)| (text.to_lowercase(), block.line)));
    shipped.or_else(|| texts.find(|(text, _)| says_so(text))).map(|(_, line)| line)
}
