//! Parses the statements of STATE.md about the position.

use std::ops::Range;

use crate::markdown::{FrontMatter, Node, Outline};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::status::{is_status, split_status};
use crate::plan::read::vocabulary::{BETWEEN_MILESTONES, Label, PHASE_WORDS, POSITION};
use crate::plan::read::{Claim, Located, PhaseNumbering, StatedPhase, heading, non_placeholder};
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

/// Returns all statements about the position, in file order.
pub(super) fn claims(
    front: &FrontMatter,
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> Claims {
    let mut claims = front_claims(front, outline.text(), numbering);
    for label in scopes(outline).iter().flat_map(|scope| outline.labels(scope)) {
        let value = Span::from_label(&label);
        let text = || non_placeholder(value.text).map(str::to_owned);
        match Label::from_name(&label.name) {
            Some(Label::Phase) => push_phase(value, numbering, &mut claims),
            Some(Label::Status) => {
                claims.extend(text().map(|text| value.with_value(Claim::Status(text))));
            }
            Some(Label::PhaseName) => {
                claims.extend(text().map(|text| value.with_value(Claim::Name(text))));
            }
            Some(Label::Plan) => push_plan(value, &mut claims),
            Some(Label::Plans) => push_plans(value, &mut claims),
            Some(Label::Phases) => {
                let total = value.leading_number();
                claims.extend(total.map(|(digits, total)| digits.with_value(Claim::Total(total))));
            }
            Some(Label::Progress) => push_progress(value, &mut claims),
            _ => {}
        }
    }
    // A phase may stand in its section without a label: `Phase 2: Name — IN PROGRESS`.
    if !claims.iter().any(|claim| matches!(claim.value, Claim::Phase(_))) {
        let mut sections = heading::sections(outline, &POSITION[..4]);
        let first = sections.find_map(|section| outline.paragraphs(&section.own).next());
        if let Some((block, text)) = first {
            let line = text.lines().next().unwrap_or_default();
            if strip_prefix_ignore_case(line.trim_start_matches('*'), "phase ").is_some() {
                let span = Span::new(line, block.range.start, block.line);
                push_phase(span, numbering, &mut claims);
            }
        }
    }
    claims.sort_by_key(|claim| claim.range.start);
    claims
}

/// Returns the labels of the current phase that neither contain a number nor say that there is no phase.
pub(super) fn unclear_phases(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> Vec<Located<String>> {
    const OVER: &[&str] = &["complete", "milestone", "shipped", "all phases"];
    let scopes = scopes(outline);
    let labels = scopes.iter().flat_map(|scope| outline.labels(scope));
    let unclear = labels.filter(|label| {
        let lower = label.value.to_lowercase();
        let mut claims = Claims::new();
        push_phase(Span::from_label(label), numbering, &mut claims);
        let says_none = is_none_remark(&lower) || is_status(&lower);
        Label::from_name(&label.name) == Some(Label::Phase)
            && claims.is_empty()
            && !says_none
            && !OVER.iter().any(|word| lower.contains(word))
    });
    unclear.map(|label| Span::from_label(&label).with_value(label.value.clone())).collect()
}

/// Parses the notations for the current phase; nothing, unless a number follows the optional word `Phase`.
///
/// ```text
/// 4 of 4 (Name) — COMPLETE     Phase 4                2 — Name
/// 15 (slug) - EXECUTING        Phase 10 - Name        3b (planned)
/// 6 of 15 (06.1 Name)          11/12: Name            Phase 2: Name — IN PROGRESS
/// ```
fn push_phase(value: Span<'_>, numbering: PhaseNumbering, claims: &mut Claims) {
    let mut value = value.trim_chars(&['*', '`']);
    // `Phase: Phase 10 - Name`
    while let Some(rest) =
        PHASE_WORDS.iter().find_map(|word| strip_prefix_ignore_case(value.text, word))
    {
        value = value.suffix(rest.trim_start_matches(':'));
    }
    let Some((number, rest)) = numbering.split(value.text) else { return };
    let mut number = value.part(0..value.text.len() - rest.len()).with_value(number);
    let mut rest = value.suffix(rest);
    if let Some((after, (digits, total))) = rest.after_of().zip(rest.total()) {
        claims.push(digits.with_value(Claim::Total(total)));
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
                claims.push(number.map(|number| Claim::Index(number.ordinal())));
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
    let stated = |span: Option<Span<'_>>, claim: fn(String) -> Claim| {
        let span = span?.trim_chars(&['*', '_', '`']);
        (!span.text.is_empty()).then(|| span.with_value(claim(span.text.to_owned())))
    };
    claims.extend(stated(name, Claim::Name));
    claims.extend(stated(status, Claim::PhaseStatus));
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
    let total = rest.total();
    if total.is_some() || rest.text.is_empty() || rest.text.starts_with('(') {
        claims.push(digits.with_value(Claim::CurrentPlan(current)));
    }
    claims.extend(total.map(|(digits, total)| digits.with_value(Claim::PlansTotal(total))));
}

/// Parses the number of complete plans: `5/5`, `0/TBD`, `0/3 complete`; a single number as in `3 (wave 1: …)`
/// is the total.
fn push_plans(value: Span<'_>, claims: &mut Claims) {
    let Some((digits, number)) = value.leading_number() else { return };
    let rest = value.after(digits.text.len());
    let total = rest.total();
    let is_done = total.is_some() || rest.text.starts_with('/');
    let claim = if is_done { Claim::PlansComplete } else { Claim::PlansTotal };
    claims.push(digits.with_value(claim(number)));
    claims.extend(total.map(|(digits, total)| digits.with_value(Claim::PlansTotal(total))));
}

/// Parses `[####------] 40%`, `100%`, `v2.1 ██████ 100%`, `3/3 phases`.
fn push_progress(value: Span<'_>, claims: &mut Claims) {
    claims.extend(bar(value).map(|bar| bar.with_value(Claim::Bar(bar.text.to_owned()))));
    claims.extend(percent(value));
    let leading = value.leading_number().and_then(|(digits, number)| {
        Some((digits, number, value.after(digits.text.len()).total()?))
    });
    let Some((digits, number, (digits_of_total, total))) = leading else {
        claims.extend(share(value));
        return;
    };
    let unit = value.text.to_lowercase();
    if unit.contains("phase") {
        claims.push(digits.with_value(Claim::PhasesComplete(number)));
        claims.push(digits_of_total.with_value(Claim::Total(total)));
    } else if unit.contains("plan") {
        claims.push(digits.with_value(Claim::PlansComplete(number)));
        claims.push(digits_of_total.with_value(Claim::PlansTotal(total)));
    }
}

/// Finds the counts restated by a percentage: `16/17 plans (94%)`, `40% (2 of 5 phases)`.
fn share(value: Span<'_>) -> Option<Located<Claim>> {
    let mut rest = value;
    loop {
        let start = rest.text.find(|c: char| c.is_ascii_digit())?;
        let (digits, done) = rest.after(start).leading_number()?;
        rest = rest.after(start + digits.text.len());
        if let Some((_, all)) = rest.total() {
            return Some(digits.with_value(Claim::Share(done, all)));
        }
    }
}

/// Finds the first percentage; a fraction is rounded.
fn percent(value: Span<'_>) -> Option<Located<Claim>> {
    let end = value.text.find('%')?;
    let start = value.text[..end].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let digits = value.part(start..end);
    let (whole, fraction) = digits.text.split_once('.').unwrap_or((digits.text, ""));
    let rounded = u32::from(fraction.starts_with(['5', '6', '7', '8', '9']));
    let percent = whole.parse::<u32>().ok()?.checked_add(rounded)?;
    Some(digits.with_value(Claim::Percent(percent)))
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

/// A field of the front matter, and what it claims.
type Field = (&'static str, fn(String) -> Claim);

/// Parses the front matter fields about the position.
fn front_claims(front: &FrontMatter, text: &str, numbering: PhaseNumbering) -> Claims {
    type CountClaim = fn(u32) -> Claim;
    let mut claims = Claims::new();
    if let Some(span) = span_of(text, front.get(&["current_phase", "phase"])) {
        push_phase(span, numbering, &mut claims);
    }
    let texts: [Field; 2] = [("current_phase_name", Claim::Name), ("status", Claim::Status)];
    for (key, claim) in texts {
        let span = span_of(text, front.get(&[key]));
        claims.extend(span.map(|span| span.with_value(claim(span.text.to_owned()))));
    }
    let counts: [(&str, CountClaim); 5] = [
        ("total_phases", Claim::Total),
        ("completed_phases", Claim::PhasesComplete),
        ("total_plans", Claim::AllPlansTotal),
        ("completed_plans", Claim::AllPlansComplete),
        ("percent", Claim::Percent),
    ];
    let progress = front.get(&["progress"]);
    for (key, claim) in counts {
        let node = progress.and_then(|node| node.get(&[key])).or_else(|| front.get(&[key]));
        let number = span_of(text, node).and_then(Span::leading_number);
        claims.extend(number.map(|(digits, number)| digits.with_value(claim(number))));
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
    let mut found = StatedPhase::default();
    let (front, body): (Vec<_>, Vec<_>) = claims.iter().partition(|claim| claim.range.start < body);
    let mut after_name = None;
    for (claims, is_front) in [(body, false), (front, true)] {
        for claim in claims {
            match &claim.value {
                Claim::Phase(number) => _ = found.number.get_or_insert_with(|| number.clone()),
                Claim::Total(total) => _ = found.total.get_or_insert(*total),
                Claim::Percent(percent) => _ = found.progress_percent.get_or_insert(*percent),
                Claim::Name(name) => _ = found.name.get_or_insert_with(|| name.clone()),
                Claim::Status(own) => _ = found.status.get_or_insert_with(|| own.clone()),
                Claim::PhaseStatus(own) if !is_front => _ = after_name.get_or_insert(own),
                _ => {}
            }
        }
        found.status = found.status.take().or_else(|| after_name.cloned());
    }
    found
}

/// Returns whether the front matter, a label or a line about the position says that no milestone is active.
pub(super) fn is_between(
    front: &FrontMatter,
    outline: &Outline<'_>,
    labels: &[(String, String)],
) -> bool {
    let says_none_is_active = |lower: &str| {
        let words = lower.replace('_', " ");
        BETWEEN_MILESTONES.iter().any(|said| words.contains(said))
    };
    // A dash or a placeholder is not `none`.
    let begins_none = |lower: &str| {
        let bare = lower.trim_start_matches(['*', '_', '(', '`', ' ']);
        bare.starts_with("none") && is_none_remark(bare)
    };
    let ships = |lower: &str| {
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.any(|word| matches!(word, "shipped" | "archived"))
    };
    let values = |meaning: Label| {
        let own = labels.iter().filter(move |(name, _)| Label::from_name(name) == Some(meaning));
        own.map(|(_, value)| value.to_lowercase())
    };
    let statuses: Vec<String> =
        values(Label::Status).chain(front.text(&["status"]).map(str::to_lowercase)).collect();
    let names_milestone = |lower: &str| lower.contains("milestone");
    let has_ended = statuses
        .iter()
        .any(|lower| names_milestone(lower) && lower.contains("complete") || ships(lower));
    // A phase that shipped does not count.
    let has_shipped = |lower: &String| {
        lower.starts_with("shipped")
            || lower.starts_with("archived")
            || names_milestone(lower) && ships(lower) && !lower.contains("phase")
    };
    let active = || labels.iter().find(|(name, _)| name == "active milestone");
    let milestone = values(Label::Milestone).next();
    let milestone = milestone.or_else(|| Some(active()?.1.to_lowercase()));
    milestone.is_some_and(|lower| begins_none(&lower) || ships(&lower))
        || statuses.iter().any(|lower| says_none_is_active(lower) || has_shipped(lower))
        || values(Label::Phase).any(|phase| {
            let is_complete = phase.contains("complete");
            says_none_is_active(&phase)
                || phase.starts_with("milestone") && is_complete
                || begins_none(&phase) && (has_ended || is_complete)
        })
        || scopes(outline).iter().flat_map(|scope| outline.paragraphs(scope)).any(|(_, text)| {
            text.lines().map(str::to_lowercase).any(|line| {
                says_none_is_active(&line) || begins_none(&line) && line.contains("complete")
            })
        })
}
