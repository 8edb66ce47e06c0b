//! Detects, by its words, whether a passage names something that future plans will encounter again.
//!
//! The weight of each sign was chosen by reading deviations of real projects one by one. Words alone predict
//! only slightly better than chance, so the structure of a deviation is weighted as well.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// The signs of a passage.
#[expect(clippy::struct_excessive_bools, reason = "the signs are independent of each other")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs {
    /// The environment: something not installed, ignored by git, or set by CI.
    pub(crate) environment: bool,
    /// The name of an error.
    pub(crate) error: bool,
    /// A tool with its version.
    pub(crate) version: bool,
    /// A rule that applies beyond this plan: requires, must, cannot.
    pub(crate) general: bool,
    /// A convention of the code base.
    pub(crate) convention: bool,
    /// How the work was split and committed.
    pub(crate) process: bool,
    /// Work that was put off, or declared irrelevant.
    pub(crate) deferred: bool,
    /// That it was declared irrelevant.
    pub(crate) irrelevant: bool,
    /// Cleanup.
    pub(crate) cleanup: bool,
    /// The plan's own bookkeeping.
    pub(crate) bookkeeping: bool,
    /// Tests adapted to an intended change.
    pub(crate) test_upkeep: bool,
    /// The appearance of a user interface.
    pub(crate) interface: bool,
}

/// Compiles a pattern for bytes: the words are English, and Unicode word boundaries are slow.
fn byte_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).unicode(false).build()
}

macro_rules! sign {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| byte_pattern($pattern).expect("a constant pattern"));
    };
}

sign!(
    ENVIRONMENT,
    r"(?i)\b(?:(?:not|isn't|wasn't|aren't|never|no longer) (?:installed|available (?:on|in|locally)|on (?:the )?path|checked in|tracked)|not in (?:the )?(?:path|environment|worktree|virtualenv)|gitignored?|worktrees?|pre-commit|post-commit|commit hooks?|hooks? (?:blocks?|blocked|rejects?|rejected|fails?|failed|flags?|flagged|requires?)|ci|env(?:ironment)? var(?:iable)?s?|\.env|time(?:d )?-?outs?|sandbox(?:ed)?|docker|dockerfile|container|venv|virtualenv|command not found|cwd|working directory|race conditions?|races?|state leak\w*|leak(?:s|ed|ing)? state|shared state|shares? state|in-process state|flaky|cold start|port \d+|permission denied|lock ?file|package manager|toolchain|windows|macos|postinstall|peer dep\w*|dev deps?|git clone|fresh clone|rate limit\w*|network|offline)\b"
);
sign!(
    ERROR,
    r"\b(?:[A-Z]\w*(?:Error|Exception|Fault)|TS\d{4}|SC\d{4}|E\d{4}|CS\d{4}|ENOENT|EACCES|EPERM|EADDRINUSE|SIGSEGV|SIGKILL|[eE]xit code \d+|HTTP [45]\d\d|clippy::\w+)\b"
);
sign!(
    VERSION,
    r"\b(?:[A-Za-z][\w.+-]*[ @]v\d[\w.]*|[A-Z][\w+-]* \d+\.(?:\d+|x)[\w.]*|[\w-]+@\d[\w.]*|[\w-]+ ?(?:>=|<=|\^|~)\d[\w.]*|[a-z][\w-]* \d+\.\d+[\w.]*|v\d+(?:\.\d+)+)"
);
sign!(
    GENERAL,
    r"(?i)\b(?:requires?|required (?:by|for|to)|only (?:accepts?|has|have|allows?|supports?|works?|exposes?)|accepts? only|rejects?|rejected by|(?:does|do)(?:n't| not) (?:support|exist|accept|allow|expose|provide|resolve|include|return|work|have|match|handle|export|run|recogni[sz]e|apply)|no longer|cannot|can't|must(?: not)?|by default|immutable|expects?|never|always|ignores?|shadows?|throws?|strips?|silently|ha(?:s|ve) no|unsupported|deprecated|treats?|conflicts? with|incompatible|returns? (?:null|undefined|none|nil|empty|false)|not available|unavailable)\b"
);
sign!(
    CONVENTION,
    r"(?i)(?:\b(?:project|repo|repository|codebase|existing|actual|convention)\b.{0,60}\b(?:uses?|registers?|lives?|sits?|follows?|stores?|names?|is|are)\b|\bactually\b|\bin reality\b|\bis (?:flat|named|called)\b)"
);
sign!(
    PROCESS,
    r"(?i)\b(?:(?:one|single|separate|atomic|bundled|combined|same|own) commits?|commit(?:ted|s)? (?:together|separately|in (?:a |one |the )?(?:single|same|one)|as one|as a single)|commits? (?:also )?includes?|commit (?:per|for each) task|(?:included|bundled|folded|rolled) in(?:to)? .{0,30}commit|already (?:done|committed|implemented|complete[d]?|deleted|created|applied|satisfied|covered|present)|ahead of schedule|pre-staged|staged by|sequenc\w+|(?:task|commit) (?:order|ordering)|ordering|tests pass|combined into|merged into one|no (?:separate )?commit|inline rather than|parallel (?:dev )?agents?|work split|checkpoint)\b"
);
sign!(
    POSTPONED,
    r"(?i)\b(?:deferred|defer|out[ -]of[ -]scope|skipped|follow-?up|(?:future|later) (?:plan|phase|work|pr)s?|not in this (?:pr|plan))\b"
);
sign!(
    IRRELEVANT,
    r"(?i)\b(?:no functional|no (?:behaviou?r\w*|scope|user|material) (?:impact|change|creep)|not a (?:plan )?deviation|cosmetic|no impact|unrelated|harmless|as expected|non-blocking|functionally (?:equivalent|identical)|(?:is|are|was) (?:an? |the )?expected behaviou?r|(?:does|do)(?:n't| not) affect (?:the )?(?:results?|tests?|output|behaviou?r)|(?:comportamento|comportamiento) esperado|comportement attendu|n.{1,2}o afetam?|no afectan?|n'affectent? pas)\b"
);
sign!(
    CLEANUP,
    r"(?i)\b(?:unused|duplicated?|duplicates|orphan(?:ed)?|import order\w*|typos?|stale|lint(?:er|ing)?|formatting|dead code|whitespace|unreachable|prettier|rustfmt|redundant|doc(?:s|string)? (?:fix|update)|naming)\b"
);
sign!(
    BOOKKEEPING,
    r"(?i)(?:files_modified|\bplan (?:listed|counted|estimated|said \d)|\bnot listed\b|\bnot in (?:the )?(?:original |plan'?s? )?plan\b|amend(?:ed|ment)|acceptance criteri|front ?matter|\bline count|\bcount mismatch|\bwording\b|must_have|\brequirement ids?\b)"
);
sign!(
    TEST_UPKEEP,
    r"(?i)\b(?:tests? (?:expectations?|assertions?|fixtures?)|expectations?|assertions?|existing tests?|snapshots?|test (?:files?|cases?)|fixtures?)\b.{0,60}\b(?:updated|adjusted|rewritten|changed|relaxed|corrected|expected|match)|\b(?:updated|adjusted|fixed|rewrote|corrected|relaxed|changed)\b.{0,40}\b(?:tests?|fixtures?|assertions?|expectations?|snapshots?)\b"
);
sign!(
    INTERFACE,
    r"(?i)\b(?:button|page|tab|tabs|modal|dialog|layout|css|styling|icon|nav|sidebar|badge|tooltip|dropdown|checkbox|colou?rs?|padding|focus ring|screen)\b"
);

impl Signs {
    pub(crate) fn detect(text: &str) -> Self {
        let text = text.as_bytes();
        // `… has no impact, but it drops rows` goes on.
        let irrelevant = IRRELEVANT.find(text).is_some_and(|found| {
            let rest = &text[found.end()..];
            let mut words = rest.split(|byte| !byte.is_ascii_alphabetic());
            !words.any(|word| word == b"but" || word == b"however")
        });
        Self {
            environment: ENVIRONMENT.is_match(text),
            error: ERROR.is_match(text),
            version: VERSION.is_match(text),
            general: GENERAL.is_match(text),
            convention: CONVENTION.is_match(text),
            process: PROCESS.is_match(text),
            deferred: irrelevant || POSTPONED.is_match(text),
            irrelevant,
            cleanup: CLEANUP.is_match(text),
            bookkeeping: BOOKKEEPING.is_match(text),
            test_upkeep: TEST_UPKEEP.is_match(text),
            interface: INTERFACE.is_match(text),
        }
    }

    /// Returns whether a sign suggests that no other plan will encounter it.
    pub(crate) fn is_local(self) -> bool {
        self.process || self.deferred || self.cleanup || self.bookkeeping
    }

    /// Returns the total weight of the signs.
    pub(crate) fn weight(self) -> f64 {
        let weighed = [
            (self.environment, 2.5),
            (self.error, 1.5),
            (self.version, 1.5),
            (self.general, 1.0),
            (self.convention, 1.0),
            (self.process, -1.5),
            (self.deferred, -2.0),
            (self.cleanup, -2.0),
            (self.bookkeeping, -1.5),
            (self.test_upkeep, -1.0),
            (self.interface, -0.5),
        ];
        let present = weighed.iter().filter(|(is_present, _)| *is_present);
        present.map(|(_, weight)| weight).sum()
    }
}

/// Returns whether a text begins with an action in the past tense: `Fixed …`, `Added …`.
pub(crate) fn starts_with_past_verb(text: &str) -> bool {
    const IRREGULAR: &[&str] = &[
        "made", "built", "wrote", "set", "kept", "split", "put", "took", "chose", "ran", "rewrote",
        "left", "did", "cut", "used",
    ];
    const NOT_VERBS: &[&str] =
        &["need", "embed", "seed", "feed", "speed", "shared", "nested", "unexpected"];
    let word = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    IRREGULAR.contains(&word.as_str())
        || (word.ends_with("ed")
            && word.chars().all(char::is_alphabetic)
            && !NOT_VERBS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_found_by_words() {
        let env = Signs::detect("`env.dart` is gitignored and missing in worktrees");
        assert!(env.environment && !env.is_local());
        assert!(Signs::detect("fails with ModuleNotFoundError").error);
        assert!(Signs::detect("Click 8.x no longer accepts `mix_stderr`").version);
        assert!(Signs::detect("zod@4 exposes issues").version);
        assert!(Signs::detect("Tasks 2 and 3 went into one commit").process);
        assert!(Signs::detect("Removed an unused import").cleanup);
        assert!(!Signs::detect("Phase 3 added 2 plans").version);
    }

    #[test]
    fn past_verbs_are_recognised() {
        assert!(starts_with_past_verb("Fixed the lock") && starts_with_past_verb("Made it so"));
        assert!(
            !starts_with_past_verb("Shared state leaks") && !starts_with_past_verb("Locks block")
        );
    }
}
