//! Parses a deviation with its details.

use serde::Serialize;

use crate::markdown::without_bullet;
use crate::plan::read::non_placeholder;
use crate::text::one_line;

/// A deviation from the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// The first line, verbatim: what was done differently.
    pub text: String,
    /// The kind, if stated: `DEVN-01`, `Rule 1 - Bug`, `plan-amendment`.
    pub kind: Option<String>,
    /// The severity, if stated in addition to the kind: `minor`, `critical`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The impact on the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impact: Option<String>,
    /// The affected files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Line number in the summary, from 1.
    pub line: usize,
}

/// The topic of a labelled part of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeviationPart {
    Issue,
    Cause,
    Fix,
    Impact,
    Files,
    Severity,
    /// A known part that does not describe the problem: a commit, a verification.
    Other,
}

/// The labels of each part, in all known spellings.
const LABELS: &[(DeviationPart, &[&str])] = &[
    (
        DeviationPart::Issue,
        &[
            "issue", "problem", "problem discovered", "defect", "description", "bug", "symptom",
            "actual", "finding", "reality", "discovered", "diagnosis",
        ],
    ),
    (
        DeviationPart::Cause,
        &["root cause", "cause", "reason", "reasoning", "why", "rationale", "justification"],
    ),
    (
        DeviationPart::Fix,
        &[
            "fix", "fixed", "resolution", "solution", "action", "action taken", "decision",
            "approach", "remedy", "workaround",
        ],
    ),
    (DeviationPart::Impact, &["impact", "effect", "user impact", "net impact"]),
    (
        DeviationPart::Files,
        &[
            "files modified", "files changed", "files created", "files added", "files affected",
            "files", "file",
        ],
    ),
    (DeviationPart::Severity, &["severity", "classification"]),
    (
        DeviationPart::Other,
        &[
            "found during", "found in", "verification", "verified", "committed in", "commit",
            "commits", "status", "rule", "rule applied", "type", "task", "note", "result",
            "outcome", "planned", "details", "change", "risk", "mitigation", "context", "total",
            "total deviations", "impact on plan",
        ],
    ),
];

impl DeviationPart {
    fn from_label(label: &str) -> Option<Self> {
        // Strips the remark: `**Fix (abc1234):**`, `**Defect (found by a user):**`.
        let name = label.split_once(" (").map_or(label, |(name, _)| name);
        let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is_named = |(_, names): &&(Self, &[&str])| names.contains(&name.as_str());
        LABELS.iter().find(is_named).map(|(part, _)| *part)
    }
}

/// Returns whether a label introduces a detail of the preceding deviation, or of all deviations.
pub(super) fn is_detail(label: &str) -> bool {
    DeviationPart::from_label(label).is_some()
}

impl Deviation {
    /// Returns a deviation with the kind and severity stated in its text.
    pub(super) fn from_text(text: &str, line: usize) -> Self {
        Self {
            text: text.to_owned(),
            kind: kind_of(text),
            severity: severity_of(text),
            line,
            ..Self::default()
        }
    }

    /// Sets the parts from the labels in `passage`, the deviation's own lines: `**Issue:** …`, `- **Fix:**
    /// …`.
    ///
    /// A value extends to the next label or blank line, so it may span several lines.
    pub(super) fn read_details(&mut self, passage: &str) {
        let mut open: Option<DeviationPart> = None;
        let mut value = String::new();
        for line in passage.lines() {
            let mut rest = line;
            while let Some((before, label, after)) = next_label(rest) {
                value.push_str(before);
                self.set_part(open, &std::mem::take(&mut value));
                open = DeviationPart::from_label(label).or(Some(DeviationPart::Other));
                rest = after;
            }
            if line.trim().is_empty() {
                self.set_part(open.take(), &std::mem::take(&mut value));
            }
            value.push_str(without_bullet(rest.trim()));
            value.push(' ');
        }
        self.set_part(open, &value);
    }

    /// Fills in missing parts from another description of the same deviation.
    pub(super) fn complete_from(&mut self, other: &Self) {
        let fill = |own: &mut Option<String>, other: &Option<String>| {
            if own.is_none() {
                own.clone_from(other);
            }
        };
        fill(&mut self.issue, &other.issue);
        fill(&mut self.cause, &other.cause);
        fill(&mut self.fix, &other.fix);
        fill(&mut self.impact, &other.impact);
        fill(&mut self.severity, &other.severity);
        if self.files.is_empty() {
            self.files.clone_from(&other.files);
        }
    }

    fn set_part(&mut self, part: Option<DeviationPart>, value: &str) {
        let value = one_line(value);
        let value = value.trim_matches(|c: char| c.is_whitespace() || "\u{2014}-|".contains(c));
        let Some(value) = non_placeholder(value).map(str::to_owned) else {
            return;
        };
        match part {
            Some(DeviationPart::Files) => self.files.extend(paths(&value)),
            Some(DeviationPart::Issue) => set(&mut self.issue, value),
            Some(DeviationPart::Cause) => set(&mut self.cause, value),
            Some(DeviationPart::Fix) => set(&mut self.fix, value),
            Some(DeviationPart::Impact) => set(&mut self.impact, value),
            Some(DeviationPart::Severity) => set(&mut self.severity, value.to_lowercase()),
            Some(DeviationPart::Other) | None => {}
        }
    }
}

fn set(field: &mut Option<String>, value: String) {
    if field.is_none() {
        *field = Some(value);
    }
}

/// Returns the text before the first bold label of a line, the label, and the rest.
fn next_label(line: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = line[from..].find("**").map(|at| at + from) {
        let inner = &line[at + 2..];
        let end = inner.find("**")?;
        let (name, after) = (&inner[..end], &inner[end + 2..]);
        let label = match name.trim_end().strip_suffix(':') {
            Some(label) => Some((label, after)),
            None => after.strip_prefix(':').map(|after| (name, after)),
        };
        // Within a sentence, only known labels count.
        let is_at_start = line[..at].trim_matches([' ', '\t', '-', '*', '+']).is_empty();
        if let Some((label, after)) = label
            && (is_at_start || DeviationPart::from_label(label).is_some())
        {
            return Some((&line[..at], label, after));
        }
        from = at + 2 + end + 2;
    }
    None
}

/// Returns the paths in a list of files: ``src/a.rs (new), `b.rs` ``.
pub(super) fn paths(list: &str) -> Vec<String> {
    let path = |entry: &str| {
        let word = entry.split_whitespace().next()?;
        let path = word.trim_matches(|c: char| "`*\"'".contains(c));
        let is_path = path.contains(['.', '/']) && path.contains(char::is_alphanumeric);
        is_path.then(|| path.to_owned())
    };
    list.split([',', ';']).filter_map(path).collect()
}

/// Returns the kind stated at the start of a deviation's text: `[Rule 1 - Bug] …`, `DEVN-01 (minor): …`.
pub(super) fn kind_of(text: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "plan-amendment", "process-exception", "code-fix", "pre-existing", "minor", "critical",
        "blocking", "architectural",
    ];
    let text = text.trim_start_matches(['*', '_', '~', '`', ' ']);
    if let Some((tag, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (tag.len() <= 48).then(|| tag.trim().to_owned());
    }
    if let Some(rest) = text.strip_prefix("DEVN-") {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        return (digits > 0).then(|| format!("DEVN-{}", &rest[..digits]));
    }
    // Later in the text, these words are part of the description.
    let head: String = text.chars().take(64).collect::<String>().to_lowercase();
    let head = head.split(". ").next().unwrap_or_default();
    if let Some(rest) = head.strip_prefix("rule ") {
        let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        return (!number.is_empty()).then(|| format!("Rule {number}"));
    }
    let is_tag = |word: &&&str| {
        head.find(**word).is_some_and(|at| {
            let before = head[..at].chars().next_back();
            let after = head[at + word.len()..].chars().next();
            let opens = before.is_none_or(|c| "(: ".contains(c));
            let closes = after.is_some_and(|c| "):,".contains(c));
            opens && closes
        })
    };
    WORDS.iter().find(is_tag).map(|word| (*word).to_owned())
}

/// Returns the severity in the brackets after a code: `DEVN-03 (critical, plan-amended): …`.
fn severity_of(text: &str) -> Option<String> {
    const SEVERITIES: &[&str] = &["minor", "moderate", "major", "critical", "low", "high"];
    let text = text.trim_start_matches(['*', '_', '[', ' ']);
    let rest = text.strip_prefix("DEVN-")?;
    let head = rest.split(':').next()?.to_lowercase();
    let mut words = head.split(|c: char| !c.is_alphabetic());
    words.find(|word| SEVERITIES.contains(word)).map(str::to_owned)
}

/// Returns whether a text says that there is no deviation: `None.`, `No deviations`, `Plan executed exactly
/// as written`.
pub(super) fn is_none(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    if let Some(rest) = text.strip_prefix("none") {
        // "None of the tests could run" is a deviation.
        return !rest.starts_with(char::is_alphanumeric) && !rest.starts_with(" of ");
    }
    [
        "no deviation",
        "no other deviation",
        "no further deviation",
        "no additional deviation",
        "no significant deviation",
        "no major deviation",
        "no functional deviation",
        "no material deviation",
        "no plan deviation",
        "zero deviation",
        "n/a",
        "nothing to report",
        "plan executed exactly",
        "plan executed as written",
        "executed exactly as",
        "plan followed exactly",
        "not applicable",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || text.is_empty()
}

/// Returns whether a text names a deviation rule of a workflow: `[Rule 1 - Bug] …`, `DEVN-02: …`.
pub(super) fn names_rule(text: &str) -> bool {
    let is_number = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '-']);
        rest.starts_with(|c: char| c.is_ascii_digit())
    };
    let lower = text.chars().take(100).collect::<String>().to_lowercase();
    let head = lower.trim_start_matches(|c: char| c.is_ascii_digit() || "*_~`[(. ".contains(c));
    let opens = ["rule", "devn"].iter().any(|word| head.strip_prefix(word).is_some_and(is_number));
    opens || lower.split("(rule").skip(1).any(is_number)
}

/// Returns whether an entry says that it is not a deviation: `(not a deviation)`, `kept small, as planned`.
pub(super) fn is_not_a_deviation(text: &str) -> bool {
    const DENIALS: &[&str] =
        &["not a deviation", "not a plan deviation", "not deviations", "no deviation from"];
    let lower = text.to_lowercase();
    let has = |words: &str| lower.contains(words);
    let is_denied = DENIALS.iter().any(|words| has(words));
    let is_planned = has(" as planned") || has("(as planned");
    let is_negated = ["not ", "n't ", "instead", "but "].iter().any(|word| has(word));
    !names_rule(text) && (is_denied || (is_planned && !is_negated))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(passage: &str) -> Deviation {
        let mut deviation = Deviation::default();
        deviation.read_details(passage);
        deviation
    }

    #[test]
    fn labelled_parts_are_read_whole() {
        let found = read(
            "**1. [Rule 3 - Blocking] Missing crate**\n- **Found during:** Task 2\n\
             - **Issue:** The crate is not\n  in the lock file\n- **Root cause:** An old cache\n\
             - **Fix:** Ran `cargo fetch`\n- **Files modified:** Cargo.lock, `src/a.rs` (new)\n- **Commit:** abc1234\n",
        );
        assert_eq!(found.issue.as_deref(), Some("The crate is not in the lock file"));
        assert_eq!(found.cause.as_deref(), Some("An old cache"));
        assert_eq!(found.fix.as_deref(), Some("Ran `cargo fetch`"));
        assert_eq!(found.files, ["Cargo.lock", "src/a.rs"]);
    }

    #[test]
    fn parts_on_one_line_are_parted() {
        let found = read("Wrong date. **Issue:** It was a number. **Fix:** Read it as text.");
        assert_eq!(found.issue.as_deref(), Some("It was a number."));
        assert_eq!(found.fix.as_deref(), Some("Read it as text."));
    }

    #[test]
    fn bold_words_in_a_sentence_are_no_label() {
        let found = read("- **Issue:** It is **not** there: gone\n");
        assert_eq!(found.issue.as_deref(), Some("It is **not** there: gone"));
    }

    #[test]
    fn kind_and_severity_stand_in_front() {
        let found = Deviation::from_text("DEVN-03 (critical, plan-amended): the spec was wrong", 1);
        assert_eq!(found.kind.as_deref(), Some("DEVN-03"));
        assert_eq!(found.severity.as_deref(), Some("critical"));
        assert_eq!(Deviation::from_text("DEVN-01: a high wall", 1).severity, None);
    }
}
