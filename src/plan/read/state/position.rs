//! Parses the statements of STATE.md about the position.

use std::ops::Range;

use crate::markdown::{FrontMatter, Label, Node, Outline, TableRow};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::state::phase_value::PhaseValue;
use crate::plan::read::state::progress_value;
use crate::plan::read::status::is_status;
use crate::plan::read::{
    Claim, Located, PhaseNumber, PhaseNumbering, StatedPhase, heading, non_placeholder,
};
use crate::text::strip_prefix_ignore_case;

/// Sections about the position.
const SECTIONS: &[&str] = &[
    "current phase", "current position", "active phase", "position", "current status",
    "current state", "project status", "status", "progress",
];

/// Titles of sections about the current phase in other languages, in lower case.
const SECTIONS_IN_OTHER_LANGUAGES: &[&str] = &[
    "aktuelle phase",
    "aktueller stand",
    "estado actual",
    "estado atual",
    "fase actual",
    "fase atual",
    "phase actuelle",
    "position actuelle",
    "posicao atual",
    "posición actual",
    "posição atual",
    "текущая позиция",
    "текущая фаза",
    "当前位置",
    "当前阶段",
];

/// Those of them that are often about the whole project, in prose.
const OF_THE_WHOLE: &[&str] = &["aktueller stand", "estado actual", "estado atual"];

/// Labels of the current phase, in lower case.
const PHASE_LABELS: &[&str] = &[
    "phase",
    "current phase",
    "active phase",
    "aktuelle phase",
    "fase",
    "fase actual",
    "fase atual",
    "phase actuelle",
    "текущая фаза",
    "фаза",
    "当前阶段",
];

/// Returns the ranges in which labels are about the position: the head of the file, and the position
/// sections.
pub(super) fn scopes(outline: &Outline<'_>) -> Vec<Range<usize>> {
    outline
        .sections()
        .iter()
        .enumerate()
        .filter_map(|(index, section)| {
            // The head is what precedes the first heading, and what follows it if it is the title. A title further
            // down comes from a file that was pasted, as do the comments of its front matter.
            if index == 0 || index == 1 && section.level == 1 {
                return Some(section.own.clone());
            }
            let title = heading::words(&section.title);
            let is_position = SECTIONS.contains(&title.as_str())
                || SECTIONS_IN_OTHER_LANGUAGES.contains(&title.as_str())
                || SECTIONS[..2].iter().any(|name| title.starts_with(name));
            is_position.then(|| section.own.clone())
        })
        .collect()
}

/// Returns all statements about the position, in file order.
pub(super) fn claims(
    front: &FrontMatter,
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> Vec<Located<Claim>> {
    let mut claims = front_claims(front, outline.text(), numbering);
    for scope in scopes(outline) {
        for label in outline.labels(&scope) {
            read_label(&label, numbering, &mut claims);
        }
        for label in rows(outline, &scope) {
            read_label(&label, numbering, &mut claims);
        }
    }
    claims.extend(unlabelled_phase(outline, &claims, numbering));
    claims.sort_by_key(|claim| claim.range.start);
    claims
}

/// Returns the rows of two-column tables as labels: `| Current phase | 2 of 4 (Name) |`.
///
/// Counts are skipped: in such tables they refer to the project as often as to the phase.
fn rows(outline: &Outline<'_>, scope: &Range<usize>) -> Vec<Label> {
    const COUNTS: &[&str] = &["phases", "total phases", "plans", "plans complete"];
    let tables = outline.tables(scope).filter(|table| table.header.len() == 2);
    let label = |row: &TableRow| {
        let name = row.cells.first()?.trim_matches(['*', '`', ':', ' ']);
        let is_count = COUNTS.iter().any(|count| name.eq_ignore_ascii_case(count));
        (!is_count).then_some(())?;
        Some(Label {
            name: name.to_owned(),
            value: row.cells.get(1)?.clone(),
            range: row.ranges.get(1)?.clone(),
            line: row.line,
            is_bold: false,
        })
    };
    tables.flat_map(|table| &table.rows).filter_map(label).collect()
}

/// Returns the labels of the current phase that neither contain a number nor say that there is no phase.
pub(super) fn unclear_phases(outline: &Outline<'_>) -> Vec<Located<String>> {
    let scopes = scopes(outline);
    let labels = scopes.iter().flat_map(|scope| outline.labels(scope));
    labels
        .filter(|label| is_phase_label(&label.name))
        .filter(|label| {
            PhaseValue::parse(Span::from_label(label), PhaseNumbering::Plain).number.is_none()
        })
        .filter(|label| {
            let lower = label.value.to_lowercase();
            let says_none = is_none_remark(&lower) || is_status(&lower);
            let is_over = ["complete", "milestone", "shipped", "all phases"];
            !says_none && !is_over.iter().any(|word| lower.contains(word))
        })
        .map(|label| Span::from_label(&label).with_value(label.value.clone()))
        .collect()
}

fn is_phase_label(name: &str) -> bool {
    PHASE_LABELS.contains(&name.to_lowercase().as_str())
}

fn read_label(label: &Label, numbering: PhaseNumbering, claims: &mut Vec<Located<Claim>>) {
    let value = Span::from_label(label);
    if is_phase_label(&label.name) {
        push_phase(PhaseValue::parse(value, numbering), claims);
        return;
    }
    match label.name.to_lowercase().as_str() {
        "status" | "phase status" | "current status" if non_placeholder(value.text).is_some() => {
            claims.push(value.with_value(Claim::Status(value.text.to_owned())));
        }
        "current phase name" | "phase name" if non_placeholder(value.text).is_some() => {
            claims.push(value.with_value(Claim::Name(value.text.to_owned())));
        }
        "plan" | "current plan" => progress_value::plan(value, claims),
        "plans" | "plans complete" => progress_value::plans(value, claims),
        "phases" | "total phases" => {
            if let Some((digits, total)) = value.leading_number() {
                claims.push(digits.with_value(Claim::Total(total)));
            }
        }
        "progress" | "overall progress" => progress_value::progress(value, claims),
        _ => {}
    }
}

fn push_phase(value: PhaseValue, claims: &mut Vec<Located<Claim>>) {
    claims.extend(value.index.map(|stated| stated.map(Claim::Index)));
    claims.extend(value.number.map(|stated| stated.map(Claim::Phase)));
    claims.extend(value.total.map(|stated| stated.map(Claim::Total)));
    claims.extend(value.name.map(|stated| stated.map(Claim::Name)));
    claims.extend(value.status.map(|stated| stated.map(Claim::PhaseStatus)));
}

/// Parses a phase stated without a label: `## Current Phase`, then `Phase 2: Name — IN PROGRESS`.
fn unlabelled_phase(
    outline: &Outline<'_>,
    claims: &[Located<Claim>],
    numbering: PhaseNumbering,
) -> Vec<Located<Claim>> {
    let mut found = Vec::new();
    if claims.iter().any(|claim| matches!(claim.value, Claim::Phase(_))) {
        return found;
    }
    let is_about_phase = |title: &&&str| !OF_THE_WHOLE.contains(*title);
    let translated = SECTIONS_IN_OTHER_LANGUAGES.iter().filter(is_about_phase);
    let titles: Vec<&str> = SECTIONS[..4].iter().chain(translated).copied().collect();
    for section in heading::sections(outline, &titles) {
        let Some((block, text)) = outline.paragraphs(&section.own).next() else {
            continue;
        };
        let line = text.lines().next().unwrap_or_default();
        let line_start = line.trim_start_matches('*');
        let mut words = ["phase ", "fase ", "Фаза ", "фаза "].iter();
        if words.any(|word| strip_prefix_ignore_case(line_start, word).is_some()) {
            let start = block.range.start;
            push_phase(
                PhaseValue::parse(Span::new(line, start, block.line), numbering),
                &mut found,
            );
            break;
        }
    }
    found
}

/// Constructor of a claim from a number.
type CountClaim = fn(u32) -> Claim;

/// Parses the front matter fields about the position.
fn front_claims(front: &FrontMatter, text: &str, numbering: PhaseNumbering) -> Vec<Located<Claim>> {
    let mut claims = Vec::new();
    if let Some(span) = span_of(text, front.get(&["current_phase", "phase"])) {
        push_phase(PhaseValue::parse(span, numbering), &mut claims);
    }
    if let Some(span) = span_of(text, front.get(&["current_phase_name"])) {
        claims.push(span.with_value(Claim::Name(span.text.to_owned())));
    }
    if let Some(span) = span_of(text, front.get(&["status"])) {
        claims.push(span.with_value(Claim::Status(span.text.to_owned())));
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
        if let Some((digits, number)) = span_of(text, node).and_then(Span::leading_number) {
            claims.push(digits.with_value(claim(number)));
        }
    }
    claims
}

/// Locates a scalar of the front matter in its line.
fn span_of<'a>(text: &'a str, node: Option<&Node>) -> Option<Span<'a>> {
    let node = node?;
    let value = non_placeholder(node.as_text()?)?;
    let start: usize =
        text.split_inclusive('\n').take(node.line.saturating_sub(1)).map(str::len).sum();
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
    let texts = |claims: &[&Located<Claim>], of: fn(&Claim) -> Option<&String>| {
        claims.iter().find_map(|claim| of(&claim.value)).cloned()
    };
    let both = || body.iter().chain(&front).map(|claim| &claim.value);
    StatedPhase {
        number: both().find_map(phase_number),
        total: both().find_map(|claim| match claim {
            Claim::Total(total) => Some(*total),
            _ => None,
        }),
        name: texts(&body, phase_name).or_else(|| texts(&front, phase_name)),
        status: texts(&body, status)
            .or_else(|| texts(&body, phase_status))
            .or_else(|| texts(&front, status)),
        progress_percent: both().find_map(|claim| match claim {
            Claim::Percent(percent) => Some(*percent),
            _ => None,
        }),
    }
}

fn phase_number(claim: &Claim) -> Option<PhaseNumber> {
    match claim {
        Claim::Phase(number) => Some(number.clone()),
        _ => None,
    }
}

fn phase_name(claim: &Claim) -> Option<&String> {
    match claim {
        Claim::Name(name) => Some(name),
        _ => None,
    }
}

fn status(claim: &Claim) -> Option<&String> {
    match claim {
        Claim::Status(status) => Some(status),
        _ => None,
    }
}

fn phase_status(claim: &Claim) -> Option<&String> {
    match claim {
        Claim::PhaseStatus(status) => Some(status),
        _ => None,
    }
}
