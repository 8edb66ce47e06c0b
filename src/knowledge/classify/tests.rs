use super::*;
use crate::knowledge::store::parse_index;

const INDEX: &str = "# Index\n\n| key | title | type | tags | status | updated |\n|---|---|---|---|---|---|\n| test-runner | Test runner is vitest | convention | testing, vitest | active | 2026-01-01 |\n| old-runner | Jest runs all snapshot tests | convention | jest | superseded | 2026-01-01 |\n";

fn shown(finding: &str) -> String {
    let proposal = proposal(finding, &parse_index(INDEX).unwrap());
    match proposal.entry_type {
        Some(one) => one.as_str().to_owned(),
        None => proposal.surface.as_str().to_owned(),
    }
}

fn all(expected: &str, findings: &[&str]) {
    for finding in findings {
        let proposal = proposal(finding, &parse_index(INDEX).unwrap());
        assert_eq!(shown(finding), expected, "{finding}: {}", proposal.reason);
        assert_ne!(proposal.confidence, Confidence::High);
    }
}

#[test]
fn code_and_spec_facts_belong_nowhere() {
    all(
        "none",
        &[
            "the auth middleware is in src/auth/middleware.ts",
            "The auth middleware lives in `src/auth/middleware.ts`.",
            "function parse_config returns a Result",
            "parse() always returns None for empty input",
            "UserService is defined in services/user.py",
            "The spec says that sync is idempotent",
            "docs/specs/auth.md lists the login flow",
            "According to the plan, phase 3 adds caching",
            "commit 84e9493 renamed the module",
        ],
    );
}

#[test]
fn ephemera_and_findings_without_a_cue_are_not_kept() {
    all(
        "none",
        &[
            "ok done",
            "I just ran the tests and they pass",
            "All tests pass",
            "currently debugging the login page",
            "the button is blue",
            "Refactoring went well",
            "日本語のメモ",
        ],
    );
}

#[test]
fn active_entries_of_the_index_are_known_and_superseded_ones_are_not() {
    let found = proposal("The test runner is vitest.", &parse_index(INDEX).unwrap());
    assert_eq!(found.surface, Surface::None);
    assert_eq!(found.reason, "already known as test-runner");
    all(
        "decision",
        &[
            "We decided to move the test runner from vitest to bun because vitest is slow on CI machines",
        ],
    );
    all("convention", &["Always run all snapshot tests with Jest"]);
}

#[test]
fn a_finding_that_differs_in_a_word_updates_the_entry() {
    let known = parse_index(INDEX).unwrap();
    let found = proposal("The test runner is jest", &known);
    assert_eq!(found.surface, Surface::Entry);
    assert_eq!(found.key.as_deref(), Some("test-runner"));
    assert_eq!(
        found.reason,
        "which tool or setting the project uses; the key exists, update or supersede it"
    );
    // The type is the entry's own.
    let index = INDEX.replace("convention", "environment");
    let found = proposal("The test runner is jest", &parse_index(&index).unwrap());
    assert_eq!(found.entry_type, Some(EntryType::Environment));
    // No rule applies.
    let found = proposal("the slow test runner vitest", &known);
    assert_eq!(found.surface, Surface::None);
    assert_eq!(found.reason, "no sign that it is durable and reusable");
}

#[test]
fn dates_are_deadlines() {
    all(
        "deadline",
        &[
            "Merge freeze begins 2026-03-05 for the mobile release",
            "The API v1 must be gone by March 15",
            "Launch is on 12 April",
            "The certificate expires 2026-06-30",
            "Legal needs the audit before end of quarter",
        ],
    );
}

#[test]
fn choices_are_decisions() {
    all(
        "decision",
        &[
            "We decided to use Postgres because we need JSONB indexes",
            "We chose tokio over async-std because of its ecosystem",
            "Decision: REST, not GraphQL",
            "The team agreed on trunk-based development",
        ],
    );
    let bare = proposal("We decided to use Postgres", &[]);
    assert_eq!(bare.confidence, Confidence::Low);
}

#[test]
fn rules_are_conventions() {
    all(
        "convention",
        &[
            "Always write migrations with a down step",
            "Never import from the internal package",
            "never merge on Friday",
            "Naming convention: hooks start with use",
            "We always squash before merging",
            "All migrations must always be in db/migrations/",
            "Immer pnpm verwenden",
            "Nie direkt auf main pushen",
            "Keine Mocks in Integrationstests verwenden",
            "Toujours utiliser pnpm",
            "Ne jamais pousser sur main",
            "Siempre usar pnpm",
        ],
    );
}

#[test]
fn an_instruction_is_a_convention_only_if_it_is_to_be_remembered() {
    for text in [
        "use pnpm, not npm",
        "Prefer composition over inheritance",
        "format with ruff at line length 100",
        "Verwende pnpm statt npm",
        "Utiliser pnpm, pas npm",
        "Évite les mocks",
        "Utiliza pnpm, no npm",
    ] {
        let kept = (shown(text), type_by_rules(text));
        assert_eq!(kept, ("none".to_owned(), Some(EntryType::Convention)), "{text}");
    }
}

#[test]
fn an_error_with_a_remedy_is_a_gotcha_and_with_steps_a_playbook() {
    all(
        "gotcha",
        &[
            "Vite dev server crashes with EMFILE on macOS; workaround is to raise ulimit",
            "The build fails with error TS2307 unless codegen runs first",
            "sqlite is locked error in tests, fixed by using one connection",
            "TypeError: x is not a function; fix: pin node 20",
            "A ModuleNotFoundError of pytest is fixed by an editable install",
        ],
    );
    all(
        "debugging",
        &["When the queue hangs, first check the redis connection, then look at the worker log"],
    );
    all(
        "none",
        &[
            "There was an error in the log",
            "OrderForm shows each ValidationError beside its input, which requires a label",
            "AuthErrors must extend AppError",
            "An ErrorBoundary wraps the page, avoid it",
        ],
    );
}

#[test]
fn people_are_contacts_and_commands_environment() {
    all(
        "contact",
        &[
            "Ada owns the billing service",
            "Ask @ada about payments",
            "Ask Ada about DNS",
            "The platform team handles DNS, slack channel #platform-help",
            "security reports go to security@example.org",
        ],
    );
    all(
        "environment",
        &[
            "Run the tests with cargo test --features fail-point",
            "To deploy: `make deploy ENV=staging`",
            "Build with npm run build",
        ],
    );
}

#[test]
fn the_notepad_is_proposed_only_where_it_is_asked_for() {
    assert_eq!(shown("Pin this: the API key rotates hourly"), "notepad-priority");
    assert_eq!(shown("breadcrumb: parser half done"), "notepad-working");
    assert_eq!(shown("note to the user, review the copy"), "notepad-manual");
}

#[test]
fn keys_are_words_of_the_finding_and_tags_those_of_others() {
    let found = proposal(
        "Always mock the network in vitest and testing code",
        &parse_index(INDEX).unwrap(),
    );
    assert_eq!(found.key.as_deref(), Some("mock-network-vitest-testing-code"));
    assert_eq!(found.tags, ["testing", "vitest"]);
    let long = format!("Always {}", "extraordinarily ".repeat(9));
    let found = proposal(&long, &[]).key.unwrap();
    assert!(found.len() <= crate::knowledge::entry::MAX_KEY && !found.ends_with('-'), "{found}");
    let found = proposal("规则 convention", &[]).key.unwrap();
    assert_eq!(found, "convention");
    let found = proposal("\u{202e}2026-03-05 締め切り", &[]).key.unwrap();
    assert!(found.starts_with("2026-03-05") || found.starts_with("deadline-"), "{found}");
}

#[test]
fn a_proposed_key_is_one_that_write_accepts() {
    for finding in ["log", "The index.", "12", "it"] {
        let key = key_from_words(finding, EntryType::Decision);
        assert_eq!(key_fault(&key), None, "{finding}: {key}");
    }
    assert_eq!(key_from_words("the log", EntryType::Decision), "decision-log");
}

#[test]
fn a_key_keeps_the_word_that_negates() {
    for (text, key) in [
        ("do not use tabs", "not-tabs"),
        ("Not all tests can run in parallel.", "not-tests-run-parallel"),
        ("never log request bodies", "never-log-request-bodies"),
        ("don't push without review", "dont-push-without-review"),
        ("we cannot use node", "cannot-node"),
        ("there is no staging database", "no-staging-database"),
    ] {
        assert_eq!(key_from_words(text, EntryType::Convention), key);
    }
}

#[test]
fn a_long_title_is_compared_by_its_first_words() {
    let words: Vec<String> = (0..100_000).map(|number| format!("w{number}")).collect();
    let index = INDEX.replace("Test runner is vitest", &words.join(" "));
    let entries = parse_index(&index).unwrap();
    assert!(words_of(&entries[0]).len() < MAX_CHARACTERS);
}

#[test]
fn every_rule_of_the_table_is_read() {
    let Rules { parts, rule: rules } = toml::from_str(TABLE).unwrap();
    assert!(parts.len() > 5 && rules.len() > 20);
    for rule in &rules {
        for expression in rule.wanted.iter().chain(&rule.unless) {
            assert!(compiled(expression).is_ok(), "{expression}");
        }
        assert!(!rule.reason.contains(['\n', ':', '#']), "{}", rule.reason);
        assert!(rule.confidence != Some(Confidence::High), "no rule may claim high confidence");
        let is_entry = rule.to == Surface::Entry;
        assert_eq!(rule.confidence.is_some(), is_entry);
        assert!(rule.entry_type.is_some() || !is_entry);
    }
}

#[test]
fn umlauts_are_spelled_out_and_other_accents_go() {
    for (text, expected) in [
        ("F\u{fc}r \u{c4}rger", "fuer aerger"),
        ("fu\u{308}r", "fuer"),
        ("Stra\u{df}e", "strasse"),
        ("caf\u{e9} na\u{ef}ve \u{141}\u{f3}d\u{17a}", "cafe naive lodz"),
        ("\u{65e5}\u{672c} plain", "\u{65e5}\u{672c} plain"),
    ] {
        assert_eq!(transliterate(text), expected);
    }
}
