//! Where the work left the plan: one list, though front matter and body often tell it twice.

use serde::Serialize;

use crate::markdown::Node;
use crate::planning::document::Document;
use crate::planning::summary::told::Told;

/// A deviation from the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// What was done otherwise, verbatim.
    pub text: String,
    /// Its kind, where it has one: `DEVN-01`, `Rule 1 - Bug`, `minor`, `plan-amendment`.
    pub kind: Option<String>,
}

impl Deviation {
    /// Returns a deviation with the kind that its text names.
    pub(super) fn of_text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            kind: kind_of(text),
        }
    }
}

/// The deviations of a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Deviations {
    /// How many there are; it may exceed the list where only a number is given.
    pub(super) count: u32,
    /// What they are; nothing where only their number is known.
    pub(super) list: Option<Vec<Deviation>>,
}

impl Deviations {
    /// Reads the deviations of front matter and body.
    ///
    /// A list in the front matter is whole, unless the body lists more in its own words; a number
    /// there is explained by the body. A summary that tells of no deviation has none.
    pub(super) fn of(document: &Document<'_>) -> Self {
        let stated = Stated::of(document);
        let told = Told::of(document);
        match stated {
            Stated::List(list) => {
                let list = if told.items.len() > list.len() && !told.refers_to_front {
                    told.items
                } else {
                    list
                };
                Self::whole(list)
            }
            Stated::Count(stated) => {
                let told = told.at_most(stated as usize);
                let count = stated.max(length(&told));
                Self {
                    count,
                    list: (count == 0 || !told.is_empty()).then_some(told),
                }
            }
            Stated::Nothing => {
                let total = told.total;
                let list = told.at_most(total.unwrap_or(1) as usize);
                match total {
                    Some(total) if list.is_empty() && total > 0 => Self {
                        count: total,
                        list: None,
                    },
                    _ => Self::whole(list),
                }
            }
        }
    }

    fn whole(list: Vec<Deviation>) -> Self {
        Self {
            count: length(&list),
            list: Some(list),
        }
    }
}

fn length(list: &[Deviation]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

/// What the front matter states.
enum Stated {
    Nothing,
    Count(u32),
    List(Vec<Deviation>),
}

impl Stated {
    fn of(document: &Document<'_>) -> Self {
        let Some(node) = document.field(&["deviations", "deviation_count", "deviations_count"])
        else {
            return Self::Nothing;
        };
        if let Some(text) = node.as_text() {
            let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = text[..text.len() - digits.len()].parse();
            let refers = text.to_lowercase().starts_with("see ");
            return match number {
                Ok(number) => Self::Count(number),
                Err(_) if is_none(text) => Self::Count(0),
                Err(_) if refers => Self::Nothing,
                Err(_) => Self::List(vec![Deviation::of_text(text)]),
            };
        }
        let listed = node.get(&["items", "list", "details"]).unwrap_or(node);
        let count = node.get(&["count", "total"]).and_then(Node::as_text);
        if let (true, Some(Ok(count))) = (listed == node, count.map(str::parse)) {
            return Self::Count(count);
        }
        let list: Vec<_> = listed.elements().into_iter().filter_map(of_node).collect();
        if list.is_empty() {
            Self::Count(0)
        } else {
            Self::List(list)
        }
    }
}

/// Reads one entry: a text, or a mapping of what and which kind.
fn of_node(node: &Node) -> Option<Deviation> {
    const TEXTS: &[&str] = &[
        "description",
        "deviation",
        "text",
        "what",
        "summary",
        "issue",
        "title",
        "detail",
        "details",
        "note",
    ];
    const KINDS: &[&str] = &[
        "code",
        "type",
        "kind",
        "rule",
        "category",
        "severity",
        "classification",
        "id",
    ];
    let text = node.get(TEXTS).and_then(Node::as_text);
    let Some(text) = text else {
        let text = node.flat();
        return (!text.is_empty() && !is_none(&text)).then(|| Deviation::of_text(&text));
    };
    let code = node.get(&["id"]).and_then(Node::as_text);
    let kind = code
        .filter(|code| code.starts_with("DEVN"))
        .or_else(|| node.get(KINDS).and_then(Node::as_text));
    (!is_none(text)).then(|| Deviation {
        text: text.to_owned(),
        kind: kind.map(str::to_owned).or_else(|| kind_of(text)),
    })
}

/// Tells whether a text says that there is no deviation: `None.`, `No deviations`, `Plan executed exactly as written`.
pub(super) fn is_none(text: &str) -> bool {
    let text = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    if let Some(rest) = text.strip_prefix("none") {
        // "None of the tests could run" is one.
        return !rest.starts_with(char::is_alphanumeric) && !rest.starts_with(" of ");
    }
    [
        "no deviation",
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

/// Returns the kind that a deviation's text names in front: `[Rule 1 - Bug] …`, `DEVN-01 (minor): …`.
fn kind_of(text: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "plan-amendment",
        "process-exception",
        "code-fix",
        "pre-existing",
        "minor",
        "critical",
        "blocking",
        "architectural",
    ];
    let text = text.trim_start_matches(['*', '_', '~', '`', ' ']);
    if let Some((tag, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (tag.len() <= 48).then(|| tag.trim().to_owned());
    }
    if let Some(rest) = text.strip_prefix("DEVN-") {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        return (digits > 0).then(|| format!("DEVN-{}", &rest[..digits]));
    }
    // Further on the same words are part of the story.
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
