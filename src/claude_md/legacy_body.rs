//! The bodies of the sections that a workflow's own generator writes, by their exact shapes.

use crate::planning::Decision;
use crate::planning::Skill;
use crate::planning::is_absent;
use crate::planning::present;
use crate::project::LayoutName;
use crate::text::fold;

/// What the block, or the stores that it is made from, hold: what may go from the rest of the file.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The core value.
    pub core_value: Option<&'a str>,
    /// Whose generator wrote the rest, if one did.
    pub layout: LayoutName,
    /// All recorded decisions, also those that the block leaves out.
    pub decisions: Vec<&'a Decision>,
    /// All recorded skills.
    pub skills: &'a [Skill],
}

/// What of a section is to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The generator wrote it, and the block says all that it says.
    Replaced,
    /// It is somebody's own.
    Kept,
    /// It has the generator's shape, and holds what is written nowhere else.
    Holds(String),
}

/// Judges `**Work:**`, `**Last shipped:**`, `**Milestone:**`, `**Phase:**` and `**Next action:**` lines.
pub(crate) fn active_context(body: &[&str], _: &Known<'_>) -> Verdict {
    let mut holds = None;
    for line in body {
        let Some((label, value)) = label(line) else {
            return Verdict::Kept;
        };
        let is_said_anew = match label {
            "Milestone" => true,
            "Phase" => is_phase(value),
            "Next action" => names_command(value),
            "Work" => value == "No active milestone" || is_absent(value),
            "Last shipped" => is_absent(value),
            _ => false,
        };
        if !is_said_anew {
            holds.get_or_insert(format!("a `{label}` line that is written nowhere else"));
        }
    }
    match holds {
        Some(what) => Verdict::Holds(what),
        None if body.is_empty() => Verdict::Kept,
        None => Verdict::Replaced,
    }
}

/// Judges the list that older generators wrote: the planning folder, then the position.
pub(crate) fn state(body: &[&str], _: &Known<'_>) -> Verdict {
    let Some((first, rest)) = body.split_first() else {
        return Verdict::Kept;
    };
    let names_folder = first
        .strip_prefix("- Planning directory: `.")
        .is_some_and(|folder| folder.trim_end_matches(['`', '/']).ends_with("planning"));
    let is_position = |line: &&str| {
        [
            "- Current Phase: ",
            "- Status: ",
            "- Project not yet defined",
        ]
        .iter()
        .any(|start| line.starts_with(start))
            || (line.starts_with("- Milestone: ") && line.ends_with(" phases)"))
    };
    if names_folder && rest.iter().all(is_position) {
        Verdict::Replaced
    } else {
        Verdict::Kept
    }
}

/// Judges a table `Decision | Date | Rationale`, or bullets.
pub(crate) fn decisions(body: &[&str], known: &Known<'_>) -> Verdict {
    let is_recorded = match body {
        [header, rule, rows @ ..] if header.starts_with('|') => {
            cells(header) == ["Decision", "Date", "Rationale"]
                && cells(rule).iter().all(|cell| is_dashes(cell))
                && rows.iter().all(|row| is_recorded_row(&cells(row), known))
        }
        [] => false,
        bullets => bullets.iter().all(|line| {
            let text = line.strip_prefix("- ").unwrap_or_default();
            !text.is_empty() && (is_absent(text) || recorded(text, known).is_some())
        }),
    };
    if is_recorded {
        Verdict::Replaced
    } else {
        Verdict::Kept
    }
}

/// Judges bullets `name (scope)`, or the placeholder that names the command to list them.
pub(crate) fn skills(body: &[&str], known: &Known<'_>) -> Verdict {
    let is_placeholder = |line: &str| {
        line.strip_prefix("_(Run /")
            .and_then(|rest| rest.strip_suffix(":skills to list)_"))
            .is_some_and(is_word)
    };
    let is_recorded = |line: &&str| {
        let text = line.strip_prefix("- ").unwrap_or_default();
        let name = text
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once(" ("))
            .map_or(text, |(name, _)| name);
        known.skills.iter().any(|skill| skill.name == name)
    };
    match body {
        [] => Verdict::Kept,
        [line] if is_placeholder(line) => Verdict::Replaced,
        lines if lines.iter().all(is_recorded) => Verdict::Replaced,
        _ => Verdict::Kept,
    }
}

/// Judges the fixed lines that name the workflow's commands.
pub(crate) fn commands(body: &[&str], known: &Known<'_>) -> Verdict {
    let layout = known.layout.as_str();
    let status = format!("Run /{layout}:status for current progress.");
    let help = [
        format!("Run /{layout}:help for all commands."),
        format!("Run /{layout}:help for all available commands."),
    ];
    let rest = match body {
        [
            "This project uses VBW (Vibe Better with Claude Code).",
            rest @ ..,
        ] => rest,
        all => all,
    };
    match rest {
        [one, two] if *one == status && help.iter().any(|help| help == two) => Verdict::Replaced,
        _ => Verdict::Kept,
    }
}

fn label(line: &str) -> Option<(&str, &str)> {
    let (label, value) = line.strip_prefix("**")?.split_once(":**")?;
    Some((label, value.trim()))
}

/// Tells whether a value has the shape `2 - Name (status)`, or says that there is none.
fn is_phase(value: &str) -> bool {
    let (number, rest) = value.split_once(" - ").unwrap_or_default();
    is_absent(value)
        || number.starts_with(|c: char| c.is_ascii_digit())
            && !number.contains(' ')
            && rest.ends_with(')')
}

fn names_command(value: &str) -> bool {
    is_absent(value) || LayoutName::prefixes().any(|prefix| value.contains(prefix))
}

fn cells(row: &str) -> Vec<&str> {
    let inner = row.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(str::trim).collect()
}

fn is_dashes(cell: &str) -> bool {
    cell.len() > 2 && cell.chars().all(|c| matches!(c, '-' | ':'))
}

/// Tells whether a row is the placeholder's, or a recorded decision with the same reason.
fn is_recorded_row(cells: &[&str], known: &Known<'_>) -> bool {
    let [text, _, rationale] = cells else {
        return false;
    };
    if is_absent(text) {
        return is_absent(rationale);
    }
    recorded(text, known).is_some_and(|decision| {
        present(rationale).is_none_or(|why| {
            let own = decision.rationale.as_deref();
            own.is_some_and(|own| fold(own) == fold(why))
        })
    })
}

fn recorded<'a>(text: &str, known: &Known<'a>) -> Option<&'a Decision> {
    let text = fold(text);
    let same = |decision: &&&Decision| fold(&decision.text) == text;
    known.decisions.iter().find(same).copied()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric())
}
