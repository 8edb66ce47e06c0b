//! Parses the statements of STATE.md about the position.

use std::ops::Range;

use crate::markdown::{FrontMatter, Node, Outline};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::status::{is_status, split_status};
use crate::plan::read::vocabulary::{BETWEEN_MILESTONES, Label, PHASE_WORDS, POSITION};
use crate::plan::read::{
    Claim, Located, PhaseNumbering, Says, StatedPhase, heading, non_placeholder,
};
use crate::text::strip_prefix_ignore_case;

type Claims = Vec<Located<Claim>>;

/// Returns the ranges in which labels are about the position: the head of the file, and the position
/// sections.
pub(super) fn scopes(outline: &Outline<'_>) -> Vec<Range<usize>> {
    let sections = outline.sections().iter().enumerate();
    let found = sections.filter(|(index, section)| {
        // The head is what precedes the first heading, and what follows it if it is the title. A title further
        // down comes from a file that was pasted, as do the comments of its front matter.
        let is_head = *index == 0 || *index == 1 && section.level == 1;
        let title = heading::words(&section.title);
        is_head
            || POSITION.contains(&title.as_str())
            || ["current phase", "current position"].iter().any(|name| title.starts_with(name))
    });
    found.map(|(_, section)| section.own.clone()).collect()
}

/// Returns all statements about the position, in file order, and the labels of the current phase that neither contain a
/// number nor say that there is no phase.
pub(super) fn claims(
    front: &FrontMatter,
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> (Claims, Vec<Located<String>>) {
    const OVER: &[&str] = &["complete", "milestone", "shipped", "all phases"];
    let mut claims = front_claims(front, outline.text(), numbering);
    let mut unclear = Vec::new();
    for label in scopes(outline).iter().flat_map(|scope| outline.labels(scope)) {
        let value = Span::from_label(&label);
        let text = |says| {
            let text = non_placeholder(value.text)?;
            Some(value.with_value(Claim::Text(says, text.to_owned())))
        };
        match Label::from_name(&label.name) {
            Some(Label::Phase) => {
                let lower = value.text.to_lowercase();
                let says_none = is_none_remark(&lower) || is_status(&lower);
                if !push_phase(value, numbering, &mut claims)
                    && !says_none
                    && !OVER.iter().any(|word| lower.contains(word))
                {
                    unclear.push(value.with_value(label.value.clone()));
                }
            }
            Some(Label::Status) => claims.extend(text(Says::Status)),
            Some(Label::PhaseName) => claims.extend(text(Says::Name)),
            Some(Label::Plan) => push_plan(value, &mut claims),
            Some(Label::Plans) => push_plans(value, &mut claims),
            Some(Label::Phases) => push_count(value.leading_number(), Says::Total, &mut claims),
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

/// Parses a phase that begins its section without a label: `Phase 2: Name — IN PROGRESS` below `## Current Phase`.
fn push_unlabelled(outline: &Outline<'_>, numbering: PhaseNumbering, claims: &mut Claims) {
    let mut sections = heading::sections(outline, &POSITION);
    let Some((block, text)) = sections.find_map(|section| outline.paragraphs(&section.own).next())
    else {
        return;
    };
    let line = text.lines().next().unwrap_or_default();
    if strip_prefix_ignore_case(line.trim_start_matches('*'), "phase ").is_some() {
        push_phase(Span::new(line, block.range.start, block.line), numbering, claims);
    }
}

fn push_count(number: Option<(Span<'_>, u32)>, says: Says, claims: &mut Claims) {
    claims.extend(number.map(|(digits, number)| digits.with_value(Claim::Count(says, number))));
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
        PHASE_WORDS.iter().find_map(|word| strip_prefix_ignore_case(value.text, word))
    {
        value = value.suffix(rest.trim_start_matches(':'));
    }
    let Some((number, rest)) = numbering.split(value.text) else { return false };
    let mut number = value.part(0..value.text.len() - rest.len()).with_value(number);
    let mut rest = value.suffix(rest);
    if let Some((after, (digits, total))) = rest.after_of().zip(rest.total()) {
        push_count(Some((digits, total)), Says::Total, claims);
        rest = after.after(digits.text.len());
    }
    let (mut name, mut status) = (None, None);
    if let Some(end) = closing(rest.text) {
        let inside = rest.part(1..end);
        rest = rest.after(end + 1);
        // The leading number may be only the index of a phase whose id is in the brackets: `6 of 15 (06.1 Name)`.
        let id = numbering.split(inside.text).filter(|(id, rest)| {
            let written = &inside.text[..inside.text.len() - rest.len()];
            let digits = written.bytes().take_while(u8::is_ascii_digit).count();
            let is_folders = digits == 2 && (written.starts_with('0') || written.len() > 2);
            rest.starts_with([' ', '-', ':'])
                && (is_folders || id.numbering() == PhaseNumbering::MilestonePrefixed)
        });
        if is_status(inside.text) {
            status = Some(inside);
        } else if let Some((id, after)) = id {
            if number.value != id {
                claims.push(number.map(|number| Claim::Count(Says::Index, number.ordinal())));
            }
            number = inside.part(0..inside.text.len() - after.len()).with_value(id);
            name = Some(inside.suffix(after).trim_chars(&['-', ':', ' ']));
        } else {
            name = Some(inside);
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
        claims.extend(span.map(|span| span.with_value(Claim::Text(says, span.text.to_owned()))));
    }
    true
}

/// Returns the offset of the bracket that closes the one at the start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let ends = |(_, c): &(usize, char)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    text.char_indices().find(ends).map(|(at, _)| at).filter(|at| *at > 0)
}

/// Parses the current plan: `2 of 3 in current phase`, `3/5`, `2`; an id such as `02-01` is not a count.
fn push_plan(value: Span<'_>, claims: &mut Claims) {
    let Some((digits, current)) = value.leading_number() else { return };
    let rest = value.after(digits.text.len());
    if rest.total().is_some() || rest.text.is_empty() || rest.text.starts_with('(') {
        push_count(Some((digits, current)), Says::CurrentPlan, claims);
    }
    push_count(rest.total(), Says::PlansTotal, claims);
}

/// Parses the number of complete plans: `5/5`, `0/TBD`, `0/3 complete`; a single number as in `3 (wave 1: …)`
/// is the total.
fn push_plans(value: Span<'_>, claims: &mut Claims) {
    let Some((digits, number)) = value.leading_number() else { return };
    let rest = value.after(digits.text.len());
    let is_done = rest.total().is_some() || rest.text.starts_with('/');
    let says = if is_done { Says::PlansDone } else { Says::PlansTotal };
    push_count(Some((digits, number)), says, claims);
    push_count(rest.total(), Says::PlansTotal, claims);
}

/// Parses `[####------] 40%`, `100%`, `v2.1 ██████ 100%`, `16/17 plans (94%)`.
fn push_progress(value: Span<'_>, claims: &mut Claims) {
    let bar = bar(value);
    claims.extend(bar.map(|bar| bar.with_value(Claim::Text(Says::Bar, bar.text.to_owned()))));
    push_count(percent(value), Says::Percent, claims);
    let mut rest = value;
    while let Some(start) = rest.text.find(|c: char| c.is_ascii_digit()) {
        let Some((digits, done)) = rest.after(start).leading_number() else { return };
        rest = rest.after(start + digits.text.len());
        if rest.total().is_some() {
            return push_count(Some((digits, done)), Says::Share, claims);
        }
    }
}

/// Finds the first percentage; a fraction is rounded.
fn percent(value: Span<'_>) -> Option<(Span<'_>, u32)> {
    let end = value.text.find('%')?;
    let start = value.text[..end].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let digits = value.part(start..end);
    let (whole, fraction) = digits.text.split_once('.').unwrap_or((digits.text, ""));
    let rounded = u32::from(fraction.starts_with(['5', '6', '7', '8', '9']));
    Some((digits, whole.parse::<u32>().ok()?.checked_add(rounded)?))
}

/// Finds a progress bar: cells in brackets, or a run of block characters.
fn bar(value: Span<'_>) -> Option<Span<'_>> {
    let is_cell = |c: char| matches!(c, '\u{2580}'..='\u{259f}' | '\u{25a0}'..='\u{25ff}');
    if value.text.starts_with('[') {
        let end = value.text.find(']')?;
        let mut cells = value.text[1..end].chars();
        let is_bar = cells.all(|c| is_cell(c) || "#=-.> _".contains(c));
        return is_bar.then(|| value.part(0..end + 1));
    }
    let start = value.text.find(is_cell)?;
    let rest = value.text[start..].trim_start_matches(is_cell);
    Some(value.part(start..value.text.len() - rest.len()))
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
        claims.extend(span.map(|span| span.with_value(Claim::Text(says, span.text.to_owned()))));
    }
    let progress = front.get(&["progress"]);
    for (key, says) in COUNTS {
        let node = progress.and_then(|node| node.get(&[key])).or_else(|| front.get(&[key]));
        push_count(span_of(text, node).and_then(Span::leading_number), says, &mut claims);
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
    let mut ordered = body.iter().chain(&front).map(|claim| &claim.value);
    let text = |claims: &[&Located<Claim>], says| {
        claims.iter().find_map(|claim| claim.value.text(says).map(str::to_owned))
    };
    let of_all = |says| text(&body, says).or_else(|| text(&front, says));
    let count = |says| body.iter().chain(&front).find_map(|claim| claim.value.count(says));
    StatedPhase {
        number: ordered.find_map(|claim| match claim {
            Claim::Phase(number) => Some(number.clone()),
            _ => None,
        }),
        total: count(Says::Total),
        name: of_all(Says::Name),
        status: text(&body, Says::Status)
            .or_else(|| text(&body, Says::PhaseStatus))
            .or_else(|| text(&front, Says::Status)),
        progress_percent: count(Says::Percent),
    }
}

/// Returns whether the front matter, a label or a line about the position says that no milestone is active.
pub(super) fn is_between(
    front: &FrontMatter,
    outline: &Outline<'_>,
    labels: &[(String, String)],
) -> bool {
    let value = |is: &dyn Fn(&str) -> bool| {
        let own = labels.iter().find(|(name, _)| is(name));
        own.map(|(_, value)| value.to_lowercase())
    };
    let of = |meaning| value(&|name| Label::from_name(name) == Some(meaning));
    let ships = |lower: &str| lower.contains("shipped") || lower.contains("archived");
    // A dash or a placeholder is not `none`.
    let is_none = |lower: &str| {
        let bare = lower.trim_start_matches(['*', '_', '(', '`', ' ']);
        bare.starts_with("none") && is_none_remark(bare)
    };
    let milestone = of(Label::Milestone).or_else(|| value(&|name| name == "active milestone"));
    let status = of(Label::Status).or_else(|| front.text(&["status"]).map(str::to_lowercase));
    let in_front = front.text(&["status"]).unwrap_or_default().to_lowercase();
    let mut texts = vec![in_front, of(Label::Phase).unwrap_or_default()];
    texts.extend(status.clone());
    for scope in scopes(outline) {
        texts.extend(outline.paragraphs(&scope).map(|(_, text)| text.to_lowercase()));
    }
    milestone.is_some_and(|name| is_none(&name) || ships(&name))
        || status.is_some_and(|status| ships(&status) && !status.contains("phase"))
        || texts
            .iter()
            .map(|text| text.replace('_', " "))
            .any(|text| BETWEEN_MILESTONES.iter().any(|said| text.contains(said)))
}
