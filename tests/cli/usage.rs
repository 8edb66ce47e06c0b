//! Wrong command lines and calls for help: one form for all, as text and as JSON.

use serde_json::json;

use crate::cli::{VBW, assert_error, assert_hinted};
use crate::support::{Case, listed_commands};

/// Command lines that clap refuses, the line it is told with, and the way out.
const WRONG: &[(&str, &str, &str)] = &[
    ("xyzzy", "unrecognized subcommand 'xyzzy'", "`annals --help` lists the commands"),
    ("inspekt", "unrecognized subcommand 'inspekt'", "did you mean `annals inspect`?"),
    ("serch", "unrecognized subcommand 'serch'", "did you mean `annals recall`?"),
    ("delet", "unrecognized subcommand 'delet'", "did you mean `annals forget`?"),
    ("facts remov", "unrecognized subcommand 'remov'", "did you mean `annals facts forget`?"),
    (
        "milestone create x",
        "invalid value 'create' for '[ACTION]' [possible values: list, new, switch]",
        "did you mean `annals milestone new`?",
    ),
    (
        "setup cursor",
        "invalid value 'cursor' for '<TARGET>' [possible values: claude, codex, gemini, opencode, qwen, copilot, vbw, gsd, git]",
        "did you mean `annals sync --target agents`?",
    ),
    ("status --jsn", "unexpected argument '--jsn' found", "a similar argument exists: '--json'"),
    ("status extra", "unexpected argument 'extra' found", "`annals status --help` has an example"),
    ("inspect", "`annals inspect` needs <FILE>...", "`annals inspect --help` has an example"),
    (
        "setup",
        "`annals setup` needs <TARGET> (claude, codex, gemini, opencode, qwen, copilot, vbw, gsd, git)",
        "`annals setup --help` has an example",
    ),
    (
        "recall --limt 3 x",
        "unexpected argument '--limt' found",
        "a similar argument exists: '--limit'",
    ),
    (
        "notepad --request port is open",
        "unexpected argument '--request' found",
        "a similar argument exists: '--request-id'",
    ),
    (
        "context --budget 99999999999999999999",
        "--budget <TOKENS> takes a smaller number, not '99999999999999999999'",
        "`annals context --help` has an example",
    ),
    (
        "status --color purple",
        "invalid value 'purple' for '--color <WHEN>' [possible values: auto, always, never]",
        "`annals status --help` has an example",
    ),
    (
        "sync --target codx",
        "invalid value 'codx' for '--target <NAME>' [possible values: claude, agents, gemini]",
        "a similar value exists: 'codex'",
    ),
    (
        "log --limit many",
        "--limit <N> takes a positive whole number, not 'many'",
        "`annals log --help` has an example",
    ),
    (
        "log --limit=-5",
        "--limit <N> takes a positive whole number, not '-5'",
        "`annals log --help` has an example",
    ),
    (
        "sync --stdout --check",
        "the argument '--stdout' cannot be used with '--check'",
        "`annals sync --help` has an example",
    ),
    (
        "status --project",
        "a value is required for '--project <DIR>' but none was supplied",
        "`annals status --help` has an example",
    ),
];

#[test]
fn a_wrong_command_line_is_one_line_and_a_hint() {
    let case = Case::new(VBW);
    let before = case.whole_tree();
    for (line, message, hint) in WRONG {
        assert_error(&case.run(line).code(2), message, hint);
    }
    assert_eq!(before, case.whole_tree());
}

#[test]
fn a_wrong_command_line_is_one_document_too() {
    let case = Case::new(VBW);
    for (line, message, hint) in WRONG {
        let outcome = case.run("--json").args(line.split(' ')).code(2);
        outcome.stdout_json(&json!({"error": {
            "kind": "usage", "message": message, "place": null, "hint": hint
        }}));
        assert_eq!(outcome.stderr(), "", "{line}");
    }
    // Behind `--` it is a file's name, and no wish for JSON.
    let outcome = case.run("inspect -- --json").code(2);
    assert!(outcome.stderr().starts_with("error: --json: "), "{}", outcome.report());
}

#[test]
fn without_a_command_the_help_is_shown_and_it_is_wrong_use() {
    let case = Case::empty();
    let outcome = case.run("").code(2);
    assert_eq!(outcome.stdout(), "");
    assert!(outcome.stderr().contains("\nUsage: annals "), "{}", outcome.report());
    let document = case.run("--json").code(2);
    assert_eq!(document.json()["error"]["kind"], "usage");
    assert_eq!(document.stderr(), "");
}

#[test]
fn help_and_version_are_results() {
    let case = Case::empty();
    for line in ["--help", "-h", "status --help", "help sync", "--version", "-V"] {
        let text = case.run(line).success();
        assert!(!text.stdout().contains('\u{1b}'), "{line}");
        assert_eq!(text.stderr(), "", "{line}");
        if line != "help sync" {
            let document = case.run("--json").args(line.split(' ')).success();
            document.stdout_json(&json!({"text": text.stdout()}));
        }
    }
    let version = case.run("--version").success().stdout();
    assert_eq!(version, format!("annals {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_argument_that_is_not_unicode_is_an_error_like_any_other() {
    let case = Case::new(VBW);
    let outcome = case.shell("\"$ANNALS\" \"$(printf 'st\\377')\"").code(2);
    assert_hinted(&outcome, "");
}

#[test]
fn the_help_of_every_command_has_an_example_that_names_it() {
    let case = Case::empty();
    let help = case.run("--help --all").success().stdout();
    let mut commands = 0;
    for name in names(&help) {
        let text = case.run(&name).args(["--help"]).success().stdout();
        let example = text.split("Example: ").nth(1);
        let example = example.unwrap_or_else(|| panic!("{name}:\n{text}"));
        assert!(example.starts_with(&format!("annals {name}")), "{name}: {example}");
        commands += 1;
    }
    assert!(commands >= 8, "{help}");
    assert!(help.contains("Exit codes: 0 done, 1 failed"), "{help}");
}

#[test]
fn each_line_of_help_has_a_description() {
    let case = Case::empty();
    let whole = case.run("--help --all").success().stdout();
    assert_eq!(case.run("help --all").success().stdout(), whole);
    let names: Vec<String> = names(&whole).collect();
    assert!(names.len() >= 34, "{whole}");
    let short = case.run("--help").success().stdout();
    for line in ["-h", "help"] {
        assert_eq!(case.run(line).success().stdout(), short, "{line}");
    }
    assert_eq!(case.run("").code(2).stderr(), short);
    assert!(short.lines().count() <= 40, "{short}");
    let mut helps = vec![whole];
    helps.extend(names.iter().map(|name| case.run(name).args(["--help"]).success().stdout()));
    for help in helps {
        for (name, description) in listed_commands(&help) {
            assert!(description.len() > 8, "{name} has no description:\n{help}");
        }
    }
}

#[test]
fn a_newcomer_finds_the_main_commands_first() {
    let help = Case::empty().run("--help").success().stdout();
    let first = help.lines().skip_while(|line| *line != "Remember and find:").skip(1);
    let first: Vec<&str> = first
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(first, ["remember", "recall", "forget", "context"]);
    let all = Case::empty().run("--help --all").success().stdout();
    assert!(all.contains("\nOptions:\n  -C, --project "), "{all}");
}

#[test]
fn the_options_of_a_command_come_before_the_global_ones() {
    let help = Case::empty().run("sync --help").success().stdout();
    let (own, global) = help.split_once("\nGlobal options:\n").unwrap();
    assert!(own.contains("\nOptions:\n      --check"), "{help}");
    assert!(own.contains("  -h, --help"), "{help}");
    assert!(!own.contains("--no-history"), "{help}");
    assert!(global.starts_with("  -C, --project <DIR>"), "{help}");
    assert!(global.contains("--no-history"), "{help}");
    assert!(!global.contains("\n      --check"), "{help}");
}

#[test]
fn an_unknown_command_is_met_by_what_it_means_or_resembles() {
    let case = Case::empty();
    for (line, meant) in [
        ("search x", "recall"),
        ("list", "entry list"),
        ("phase", "plan"),
        ("cost", "doctor"),
        ("note x", "notepad working"),
        ("diagnose", "doctor"),
        ("entry search x", "entry query"),
        ("facts search x", "facts retrieve"),
        ("stauts", "status"),
        ("entry wirte", "entry write"),
    ] {
        let outcome = case.run(line).code(2);
        let hint = format!("hint: did you mean `annals {meant}`?");
        assert!(outcome.stderr().contains(&hint), "{}", outcome.report());
    }
}

fn names(help: &str) -> impl Iterator<Item = String> {
    let names = listed_commands(help).into_iter().map(|(name, _)| name);
    names.filter(|name| name != "help")
}
