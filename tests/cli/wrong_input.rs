//! Documents on standard input and stored files that are none: told on one line or as one document, and nothing is lost.

use crate::cli::VBW;
use crate::support::{Case, Invocation, difference, on_two_threads};

/// Every command that reads standard input, and the exit codes that bad input may end with.
const READERS: &[(&str, &[i32])] = &[
    ("entry write --key k --type convention --confidence high --body-stdin", &[0, 1, 2, 4]),
    ("facts observe", &[0, 1, 2, 4]),
    ("facts import", &[0, 1, 2, 4]),
    ("facts turns --apply a", &[1, 2, 3, 4]),
    ("ledger update", &[0, 1, 4]),
    ("journal write", &[0, 1]),
    ("journal search", &[0, 1]),
    ("mcp", &[0, 1]),
    ("hook session-start", &[0]),
    ("hook post-tool-use", &[0]),
    ("hook pre-compact", &[0]),
    ("hook session-end", &[0]),
];

fn documents() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("nothing", Vec::new()),
        ("zeros", vec![0; 64]),
        ("no text", b"\xff\xfe\x80abc\n".to_vec()),
        ("ten megabytes", vec![b'a'; 10_000_000]),
        ("deep", vec![b'['; 200_000]),
        ("deep objects", b"{\"a\":".repeat(50_000)),
        ("null", b"null".to_vec()),
        ("a number", b"1e999".to_vec()),
        ("half a character", b"{\"user_input\":\"\\ud800\",\"content\":\"\\ud800\"}".to_vec()),
        ("escapes", b"{\"user_input\":\"x\",\"turn_id\":\"\\u001b[31m\"}".to_vec()),
        ("wrong types", b"{\"cwd\":7,\"hook_event_name\":[],\"user_input\":{}}".to_vec()),
        ("elsewhere", b"{\"hook_event_name\":\"SessionStart\",\"cwd\":\"../../../etc\"}".to_vec()),
    ]
}

fn own(run: Invocation<'_>) -> Invocation<'_> {
    run.env("ANNALS_USER", "ada")
}

#[test]
fn bad_documents_are_answered_on_every_command_that_reads_one() {
    let documents: Vec<_> = documents().into_iter().enumerate().collect();
    on_two_threads(&documents, |(number, (name, document))| {
        let case = Case::new(VBW);
        for (reader, (line, codes)) in READERS.iter().enumerate() {
            // Each document meets every reader, and each reader meets half of them in either form.
            let json = (number + reader) % 2 == 0;
            let run = own(case.run(line)).args(json.then_some("--json"));
            let outcome = run.stdin(document.clone()).output();
            assert!(outcome.crash().is_none(), "{name}: {}", outcome.report());
            let code = outcome.exit_code().unwrap();
            assert!(codes.contains(&code), "{name}: {}", outcome.report());
            let (out, error) = (outcome.stdout(), outcome.stderr());
            assert!(!out.contains('\u{1b}') && !error.contains('\u{1b}'), "{name}: {line}");
            if code == 0 || line.starts_with("mcp") {
                continue;
            }
            if json || line.starts_with("journal") {
                assert!(outcome.json().get("error").is_some(), "{name}: {}", outcome.report());
            } else {
                assert_eq!(out, "", "{name}: {}", outcome.report());
                assert!(error.contains("error: "), "{name}: {}", outcome.report());
            }
        }
    });
}

/// Names and numbers that lead elsewhere or nowhere, or that a terminal would obey.
const WORDS: &[&str] = &[
    "",
    "\n",
    "../../etc/passwd",
    "/etc/passwd",
    ".",
    "..",
    "a/b",
    "a\\b",
    "\u{1b}[31mred\u{7}",
    "-1",
    "INDEX",
    "99999999999999999999999",
    "\u{202e}",
];

/// Commands that take such a word where `@` stands.
const TAKERS: &[&str] = &[
    "entry read --key @",
    "entry delete --key @",
    "entry query --text @",
    "entry list --type @",
    "notepad read --section @",
    "notepad working @",
    "ledger pending --max-commits @",
    "ledger update --file @",
    "journal search @",
    "journal write --import @",
    "facts list @",
    "facts confirm @",
    "facts forget --key @",
    "facts list --db @",
    "recall @",
    "recall x --in @",
    "context --budget @",
    "context --for @",
    "setup @",
    "merge-file lines @ @ @",
    "mcp --tools @",
];

#[test]
fn bad_words_are_answered_and_lead_nowhere() {
    on_two_threads(TAKERS, |taker| {
        let case = Case::new(VBW);
        let before = case.tree();
        for word in WORDS {
            let arguments = taker.split(' ').map(|one| if one == "@" { word } else { one });
            let outcome = own(case.run("")).args(arguments).output();
            assert!(outcome.crash().is_none(), "{}", outcome.report());
            assert!(matches!(outcome.exit_code(), Some(0..=4)), "{}", outcome.report());
            let shown = outcome.stdout() + &outcome.stderr();
            assert!(!shown.contains('\u{1b}'), "{}", outcome.report());
        }
        let after = case.tree();
        let lost: Vec<_> =
            before.iter().filter(|(path, bytes)| after.get(*path) != Some(*bytes)).collect();
        assert!(lost.is_empty(), "{taker}: {lost:?}");
    });
}

#[test]
fn nothing_is_added_to_a_file_in_utf_16() {
    let utf_16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    for (file, line) in [
        ("CLAUDE.md", "sync"),
        ("AGENTS.md", "sync --target agents"),
        (".vibekit/memory/mine.md", "remember --key mine run the tests with cargo test"),
        (".vbw-planning/patterns/PATTERNS.md", "execute --all"),
    ] {
        for text in ["\u{feff}# Mine\r\n", "# Mine\r\n"] {
            let case = Case::new(VBW);
            case.write(file, utf_16(text));
            let before = case.tree();
            let refused = case.run(line).code(4);
            let message = format!("{file}:1: is not valid UTF-8, so it is not changed");
            assert!(refused.stderr().contains(&message), "{}", refused.report());
            assert_eq!(case.read(file).unwrap(), utf_16(text));
            let changed = difference(&before, &case.tree());
            assert!(changed.is_empty(), "{changed:?}");
        }
    }
}
