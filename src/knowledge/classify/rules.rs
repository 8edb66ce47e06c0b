//! The rules for classifying findings, in one table.

use regex_lite::Regex;

use crate::knowledge::notepad::NotepadSection;
use crate::knowledge::{Confidence, EntryType};

/// Where to keep a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Not kept: it is not durable, or recorded elsewhere already.
    Nowhere,
    /// In a section of the notepad.
    Note(NotepadSection),
    /// As an entry.
    Entry(EntryType, Confidence),
}

/// A rule: it applies if `cue` and `with` match, and `unless` does not.
pub(super) struct ClassifyRule {
    cue: &'static str,
    with: Option<&'static str>,
    unless: Option<&'static str>,
    /// Where to keep the finding if the rule applies.
    pub(super) destination: Destination,
    /// The reason, in one short line.
    pub(super) reason: &'static str,
}

use Confidence::{Low, Medium};
use Destination::{Entry, Note, Nowhere};
use EntryType::{
    Contact, Convention, Deadline, Debugging, Decision, Environment, Gotcha, Preference, Reference,
    SessionLog,
};

/// A day, month or quarter in its usual spellings; replaces `DATE` in the rules.
const DATE: &str = r"(?:\b\d{4}-\d{2}(?:-\d{2})?\b|\b\d{4}-q[1-4]\b|\bq[1-4](?: \d{4})?\b|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.? \d{1,2}(?:st|nd|rd|th)?\b|\bend of (?:the )?(?:week|month|quarter|year|sprint)\b)";
const WEEKDAY: &str = r"(?:\b(?:next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\bnext (?:week|month|quarter|sprint|year)\b)";
/// A choice between alternatives, by anyone; replaces `CHOICE`.
const CHOICE: &str = r"(?:\b(?:we|i|they|team|maintainers?|user|client) (?:have |has |had |all )?(?:decided|chose|chosen|agreed|settled|opted|picked|went with|switched|moved)\b|\bdecision: |\bdecided (?:to|on|against|for)\b|\b(?:chose|chosen|picked|selected) .*\b(?:over|instead of|rather than|because)\b|\b(?:rejected|ruled out)\b)";
/// A rule for everyone; replaces `RULE`.
const RULE: &str = r"(?:^(?:please )?(?:always|never)\b|\b(?:we|you|must|should|to|and|but|please) (?:always|never)\b|\bconvention|\b(?:must|should) (?:not )?(?:be|have|use|live|go|start|end|carry|come|stay|never|always)\b)";
/// Something that goes wrong; replaces `ERROR`.
///
/// A name such as `TypeError` counts with its message or where it occurs; otherwise it may just be a class.
const ERROR: &str = r"(?:\berrors?\b|\b(?-i:[A-Z]\w*Error)`?: |\b(?:an?|causes?|caused|gets?|got|hits?) (?:\w+ )?`?(?-i:[A-Z]\w*Error)\b|\bfail(?:s|ed|ing|ures?)?\b|\bpanic(?:s|ked)?\b|\bcrash(?:es|ed|ing)?\b|exception\b|\bbroken\b|\bbreaks?\b|\bhangs?\b|\btime[sd]? out\b|\btimeouts?\b|\bflaky\b|\btraceback\b|\bsegfaults?\b|\bdeadlocks?\b|\bbugs?\b|\bleaks?\b|\bcorrupt(?:s|ed)?\b|\brace condition\b|\bsilently\b|\bthrows?\b|\be[a-z]*\d{3,}\b|\b[45]\d\d\b)";
/// A remedy; replaces `FIX`.
const FIX: &str = r"(?:\bfix(?:es|ed)?\b|\bwork-?arounds?\b|\bwork around\b|\bsolutions?\b|\bsolve[sd]?\b|\bresolve[sd]?\b|\binstead\b|\bmust\b|\bmake sure\b|\bensure\b|\bavoid\b|\bunless\b|\botherwise\b|\bneeds? to be\b|\bclear(?:ing)? the\b|\brestart|\bpin(?:ning)? \b|\bonly works?\b|\brequires?\b|\bset `?[A-Z])";
/// A command-line program followed by a word, or anything in backticks; replaces `COMMAND`.
const COMMAND: &str = r"(?:`[^`]+`|\b(?:cargo|npm|npx|pnpm|yarn|bun|deno|make|docker|docker-compose|kubectl|helm|terraform|python3?|pip|uv|poetry|pytest|tox|go|gradle|gradlew|mvn|just|rake|bundle|rails|cmake|ninja|bazel|dotnet|swift|mix|composer|php|node|tsc|vitest|jest|git) [a-z./-]|(?:^|\s)\./[\w./-]+)";

/// Tasks, which are not durable; replaces `TODO`.
const TODO: &str = r"fix|look (?:at|into)|check|debug|investigate|finish|review|test|try|re-?run|continue|clean up|refactor";

/// All rules; the first that applies decides, and if none does, the finding is not kept.
pub(super) const RULES: &[ClassifyRule] = &[
    ClassifyRule {
        cue: r"\bpin (?:this|that|it)\b|\bpriority context\b|\bfor the next turns?\b",
        with: None,
        unless: None,
        destination: Note(NotepadSection::Priority),
        reason: "requested as context for the next turns",
    },
    ClassifyRule {
        cue: r"\bbreadcrumb|\bworking memory\b|\bwhere (?:i|we) (?:left off|stopped)\b",
        with: None,
        unless: None,
        destination: Note(NotepadSection::Working),
        reason: "a note about the current work, for a few days",
    },
    ClassifyRule {
        cue: r"\bmanual section\b|\bnote to (?:the user|self)\b",
        with: None,
        unless: None,
        destination: Note(NotepadSection::Manual),
        reason: "a note for the user to keep or drop",
    },
    ClassifyRule {
        cue: r"^\W*(?:never ?mind(?:[^\w-]|$)|(?:always|never)(?: again| (?:that|this|it))?\W*$)",
        with: None,
        unless: None,
        destination: Nowhere,
        reason: "contains nothing to keep",
    },
    ClassifyRule {
        cue: r"\b(?:decided|agreed|chose|going) to (?:first )?(?:TODO|start|begin|wait|stop|read|ask|revisit|postpone|move on|come back|take)\b",
        with: Some(
            r"\b(?:today|tonight|first|now|later|tomorrow|next|for the moment|this (?:morning|afternoon|week|session|turn|time))\b",
        ),
        unless: Some(r"DATE|\b(?:because|since|so that|in order to)\b"),
        destination: Nowhere,
        reason: "ephemeral, only about this session",
    },
    ClassifyRule {
        cue: r"\b(?:we|i|you|someone) (?:still |just |also )?(?:need|have|want|ought) to (?:TODO)\b|\b(?:user|client|customer|he|she|they) (?:just )?(?:asked|told|wants?|wanted|requested) (?:me|us|you) to (?:TODO|implement|add|write|update|run|deploy|rename|remove|change|make|create|find|explain|help|do)\b|\bask the (?:user|human|operator)\b",
        with: None,
        unless: Some("CHOICE|RULE|DATE"),
        destination: Nowhere,
        reason: "ephemeral, only about this session",
    },
    ClassifyRule {
        cue: r"docs/(?:specs|plans)/|\b(?:spec|specification|prd|plan|roadmap|requirements?|design doc) (?:says?|states?|requires?|defines?|lists?|calls? for)\b|\b(?:according to|as per|per) the (?:spec|specification|plan|prd|roadmap|requirements)\b|\bas specified\b|\bacceptance criteri|\breq-\d+\b|\bin the (?:spec|prd|roadmap)\b",
        with: None,
        unless: Some("CHOICE"),
        destination: Nowhere,
        reason: "a spec fact, stated in the spec",
    },
    ClassifyRule {
        cue: r"\bcommit [0-9a-f]{7,40}\b|\b(?:in|the) (?:last|latest|previous) commit\b|\bmerged (?:the )?(?:pr|mr|pull request|branch)\b|\b(?:pr|pull request) #?\d+ (?:was |is |got )?(?:merged|closed|opened)\b",
        with: None,
        unless: Some("CHOICE|RULE"),
        destination: Nowhere,
        reason: "history, recorded in git",
    },
    ClassifyRule {
        cue: r"^\W*(?:ok|okay|done|thanks|thank you|great|hello|hi|yes|no|lgtm)\b\W*(?:\w+\W*){0,3}$|\b(?:right now|just now|a moment ago|currently (?:running|working|looking|debugging|waiting)|in progress|wip|to-?do|for now|temporar(?:y|ily)|this (?:session|turn|conversation|run)|today i|next step|let me)\b|\b(?:i am|i'm) (?:about|going|working|looking|trying|still|now|currently)\b|\b(?:i will|i'll)\b|(?:^\W*|\bi |\bwe |\bi've |\bwe've )(?:have )?(?:just |already )?(?:ran|fixed|added|changed|updated|refactored|renamed|tried|read|wrote|looked|finished|started|deleted|removed)\b|\b(?:all |\d+ )?(?:unit )?tests? (?:now |all )?(?:pass|passes|passed|passing|are green|is green)\b|\bbuild (?:is green|passed|passes|succeeded)\b|\bfixed (?:a |the )?typo",
        with: None,
        unless: Some("CHOICE|RULE"),
        destination: Nowhere,
        reason: "ephemeral, only about this session",
    },
    ClassifyRule {
        cue: "CHOICE",
        with: Some(r"\b(?:because|since|so that|due to|in order to|as it|for its|after)\b"),
        unless: None,
        destination: Entry(Decision, Medium),
        reason: "a choice with its rationale",
    },
    ClassifyRule {
        cue: "CHOICE",
        with: None,
        unless: None,
        destination: Entry(Decision, Low),
        reason: "a choice without a rationale",
    },
    ClassifyRule {
        cue: r"\b(?:is|are|lives?|sits?|located|defined|implemented|declared|found|exported|handled|registered|resides?|kept|stored) (?:in|at|inside|under|by) (?:the )?(?:file |folder |module )?[`'\x22]?[\w.-]*(?:/[\w.-]+|\w\.(?:rs|ts|tsx|js|jsx|py|go|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|sql|sh|toml|json|ya?ml|html|css|vue|svelte|md)\b)",
        with: None,
        unless: Some("RULE|FIX|CHOICE"),
        destination: Nowhere,
        reason: "a code fact, stated in the code",
    },
    ClassifyRule {
        cue: r"\b(?:function|method|class|struct|module|component|enum|trait|interface|variable|constant|hook|file|endpoint|route|table|column|field|middleware|parser|handler|service|controller|package|crate)s? [`'\x22]?[\w:.()/-]+[`'\x22]? (?:always |never |also |only )?(?:returns?|takes?|accepts?|calls?|imports?|exports?|extends|implements?|has|have|contains?|inherits?|wraps?|uses?|is (?:called|defined|declared|exported|used))\b|\b[\w:.]+\(\)`? (?:always |never |also |only )?(?:returns?|takes?|accepts?|calls?|is called|is defined)\b|\b[\w/-]+\.[a-z]{1,4}:\d+\b",
        with: None,
        unless: Some("FIX|CHOICE"),
        destination: Nowhere,
        reason: "a code fact, stated in the code",
    },
    ClassifyRule {
        cue: r"\b(?:test(?:ing)? (?:runner|framework|library)|package manager|linter|formatter|bundler|build (?:tool|system)|type ?checker|orm|web framework|css framework|state management|http client|default branch|base branch|code style|indentation|line length|license|(?:node|python|ruby|java|go|rust) (?:version|edition)|deploy(?:ment)? target|hosting|ci (?:provider|system|service))s?(?: here)? (?:is|are) [`'\x22]?\w",
        with: None,
        unless: Some(
            r"ERROR|\b(?:is|are) (?:not|now|still|too|very|being|down|up|slow|fast|green|red|running|ready|missing|outdated|unclear|unknown|in|on|at)\b",
        ),
        destination: Entry(Convention, Low),
        reason: "which tool or setting the project uses",
    },
    ClassifyRule {
        cue: r"\b(?:outage|incident|post-?mortem|went down)\b",
        with: Some("DATE"),
        unless: Some(r"\b(?:by|before|until|due)\b"),
        destination: Entry(SessionLog, Medium),
        reason: "a dated incident",
    },
    ClassifyRule {
        cue: r"\b(?:by|before|until|till|through|due|from|starting|on) (?:the )?(?:DATE|WEEKDAY)",
        with: None,
        unless: Some("ERROR"),
        destination: Entry(Deadline, Medium),
        reason: "valid until a date",
    },
    ClassifyRule {
        cue: r"\b(?:deadline|due|freezes?|frozen|expir(?:es?|y)|cut-?off|end of life|eol|sunsets?|launch(?:es)?|releases?|ships?|no later than|ends?|starts?)\b",
        with: Some("DATE|WEEKDAY"),
        unless: None,
        destination: Entry(Deadline, Medium),
        reason: "valid until a date",
    },
    ClassifyRule {
        cue: r"^(?:please )?(?:always|never)\b|\bconventions?\b|\b(?:we|you|must|should|to|and|but|please) (?:always|never)\b",
        with: None,
        unless: None,
        destination: Entry(Convention, Medium),
        reason: "a rule",
    },
    ClassifyRule {
        cue: "ERROR",
        with: Some(
            r"\bto (?:debug|diagnose|find|trace|reproduce)\b|\bdiagnos|\bdebug|\bbisect|\b(?:first|then|start by) (?:check|look|inspect|run)|\bcheck (?:the|whether|if|for|that)\b|\binspect\b|\blook (?:at|for|in)\b|\bsymptoms?\b|\broot cause\b",
        ),
        unless: None,
        destination: Entry(Debugging, Medium),
        reason: "how to diagnose a class of errors",
    },
    ClassifyRule {
        cue: "ERROR",
        with: Some("FIX"),
        unless: None,
        destination: Entry(Gotcha, Medium),
        reason: "an error and its remedy",
    },
    ClassifyRule {
        cue: r"\b(?:always|never)\b",
        with: None,
        unless: Some("ERROR"),
        destination: Entry(Convention, Low),
        reason: "reads like a rule",
    },
    ClassifyRule {
        cue: r"\b(?:user|team|we|client|customer|maintainers?|they|she|he) (?:strongly )?(?:prefers?|likes?|would rather|dislikes?|hates?)\b|\bpreference\b",
        with: None,
        unless: None,
        destination: Entry(Preference, Medium),
        reason: "a preference of the user or the team",
    },
    ClassifyRule {
        cue: r"\b(?:contact|reach out to|owned by|owners?|maintained by|maintainers?|on-?call|point of contact|stakeholders?|responsible for|product manager|tech lead|team lead|ask the|escalate to)\b|\b(?:ask|talk to|ping) @?[a-z]+ (?:about|for|before|when|if|on)\b|\b[a-z]+ (?:owns|maintains|leads)\b|\bthe [a-z-]+ team\b|\b(?:channel|slack|teams|discord|irc)\b.*#[a-z]|#[a-z][\w-]+ (?:channel|on slack|in slack)|[\w.+-]+@[\w-]+\.[a-z]{2,}",
        with: None,
        unless: Some("ERROR"),
        destination: Entry(Contact, Medium),
        reason: "a person, team or channel to contact",
    },
    ClassifyRule {
        cue: r"\b(?:run|runs|running|build|builds|building|deploy|deploys|deploying|deployment|start|starts|install|installs|set ?up|launch|serve|migrate|lint|tests?|format)\b",
        with: Some("COMMAND"),
        unless: Some(r"\b(?:fails|failed|failing|errors?|crash(?:es|ed)|hangs|broken)(?:[^\w-]|$)"),
        destination: Entry(Environment, Medium),
        reason: "how to run, build, test or deploy",
    },
    ClassifyRule {
        cue: r"https?://\S+",
        with: Some(
            r"\b(?:docs?|documentation|dashboard|runbook|wiki|guide|board|tracker|glossary|reference|handbook)\b",
        ),
        unless: None,
        destination: Entry(Reference, Low),
        reason: "a link that is not in the code",
    },
    ClassifyRule {
        cue: "DATE",
        with: Some(r"(?:[a-z]|[^\x00-\x7f]){2}"),
        unless: Some(
            r"ERROR|\b(?:created|updated|modified|changed|written|generated|added|started|finished|last|since|version|copyright|today|yesterday|was|were)\b",
        ),
        destination: Entry(Deadline, Low),
        reason: "dated; the deadline is a guess",
    },
];

impl ClassifyRule {
    /// Returns whether the rule applies.
    pub(super) fn applies(&self, finding: &str) -> bool {
        has(self.cue, finding)
            && self.with.is_none_or(|cue| has(cue, finding))
            && !self.unless.is_some_and(|cue| has(cue, finding))
    }
}

fn has(cue: &str, finding: &str) -> bool {
    cues(cue).is_ok_and(|regex| regex.is_match(finding))
}

/// Compiles a cue with its placeholders replaced.
fn cues(cue: &str) -> Result<Regex, regex_lite::Error> {
    let parts = [
        ("TODO", TODO),
        ("CHOICE", CHOICE),
        ("RULE", RULE),
        ("ERROR", ERROR),
        ("FIX", FIX),
        ("COMMAND", COMMAND),
        ("DATE", DATE),
        ("WEEKDAY", WEEKDAY),
    ];
    let filled = parts.iter().fold(cue.to_owned(), |cue, (name, part)| cue.replace(name, part));
    Regex::new(&format!("(?i){filled}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cue_is_a_pattern_and_every_reason_one_line() {
        for rule in RULES {
            for cue in [Some(rule.cue), rule.with, rule.unless].into_iter().flatten() {
                assert!(cues(cue).is_ok(), "{cue}");
            }
            assert!(!rule.reason.contains(['\n', ':', '#']), "{}", rule.reason);
            let high = matches!(rule.destination, Entry(_, Confidence::High));
            assert!(!high, "no rule may claim high confidence");
        }
    }
}
