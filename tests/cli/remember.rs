//! `annals remember`, and what later sessions see of it

use serde_json::json;

use crate::cli::assert_error;
use crate::support::Case;

const START: &str = "hook session-start";

fn body(case: &Case, key: &str) -> String {
    let file = case.read(&format!(".vibekit/memory/{key}.md")).unwrap();
    let text = String::from_utf8(file).unwrap();
    text.split_once("---\n\n").unwrap().1.to_owned()
}

#[test]
fn a_new_memory_in_a_folder_that_is_no_project_is_named() {
    let case = Case::empty();
    let first = case.run("remember hello world").success().stderr();
    assert!(first.ends_with("a new memory begins in [ROOT]/.vibekit/memory\n"), "{first}");
    assert_eq!(case.run("remember the gate is red").success().stderr(), "");
    case.write("beta/README.md", "");
    let below = case.run("remember beta pays by card").inside("beta").success().stderr();
    assert!(below.contains("[ROOT]: the memory of this folder above is used"), "{below}");
}

#[test]
fn an_option_for_a_dry_run_is_never_text() {
    let case = Case::empty();
    let refused = case.run("remember deploy with make ship --dry-run").code(2);
    assert_error(
        &refused,
        "the option --dry-run is behind the text",
        "put options before the text; `--` before the text makes all of it words",
    );
}

#[test]
fn an_entry_with_most_of_the_words_of_a_new_one_is_named() {
    let case = Case::empty();
    case.run("remember DPD allows 120 calls a minute, then it blocks the key for an hour")
        .success();
    let said = case.run("remember DPD allows 500 calls a minute").success().stderr();
    assert!(said.contains("this entry has half or more of the new one's words"), "{said}");
    let said = case.run("remember DPD delivers on Saturdays").success().stderr();
    assert_eq!(said, "");
}

#[test]
fn plain_words_become_an_entry_and_everything_after_the_first_is_text() {
    let case = Case::empty();
    let done = case.run("remember run the tests with pytest -q --json -x").success();
    assert_eq!(
        done.stdout(),
        "Stored: run-tests-pytest-q-json.\n  type environment, by its words; confidence low\n"
    );
    assert_eq!(
        body(&case, "run-tests-pytest-q-json"),
        "# Run the tests with pytest -q --json -x\n\nrun the tests with pytest -q --json -x\n"
    );
    let found = case.run("recall how do I run the tests").success();
    assert!(found.stdout().contains("pytest -q --json -x"), "{}", found.report());
    let other = case.run("remember --json --type gotcha --tags a,b the gate is red").success();
    let other = other.json();
    assert_eq!(
        (&other["key"], &other["type"], &other["type_derived"]),
        (&json!("gate-red"), &json!("gotcha"), &json!(false))
    );
    assert_eq!(
        case.run("remember nothing in particular here").success().stdout().lines().nth(1),
        Some("  type reference, by its words; confidence low")
    );
}

#[test]
fn a_first_word_that_is_a_name_stays_as_it_is_written_and_is_no_secret() {
    let case = Case::empty();
    for text in [
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq is the donation address",
        "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p is mine",
        "iPhones ask for the camera twice",
    ] {
        case.run("remember --key name").args([text]).success();
        assert_eq!(body(&case, "name"), format!("# {text}\n\n{text}\n"));
    }
}

#[test]
fn an_option_that_became_text_is_named() {
    let case = Case::empty();
    case.run("remember hello world").success();
    let done = case.run("remember the gate is red --no-history -q --key=gate --release").success();
    assert_eq!(
        done.stderr(),
        "--no-history was read as part of the text; put options before it\n\
         --key=gate was read as part of the text; put options before it\n"
    );
    assert!(done.stdout().starts_with("Stored: "), "{}", done.report());
    assert_eq!(case.run("remember -- --json is for programs").success().stderr(), "");
}

#[test]
fn an_option_behind_a_text_in_quotes_is_refused() {
    let case = Case::empty();
    case.run("remember").args(["the gate is red", "--key=gate"]).code(2);
    case.run("remember").args(["the gate is red", "--release"]).success();
    case.run("remember --").args(["it is red", "--key"]).success();
}

#[test]
fn a_title_goes_on_after_an_abbreviation() {
    let case = Case::empty();
    for (text, title) in [
        ("Mrs. Weber signs off invoices. Ask her first.", "Mrs. Weber signs off invoices"),
        ("use e.g. Podman. It needs no root", "Use e.g. Podman"),
        ("src/app.py starts the server", "src/app.py starts the server"),
    ] {
        case.run("remember --key name").args([text]).success();
        assert_eq!(body(&case, "name"), format!("# {title}\n\n{text}\n"));
    }
}

#[test]
fn an_existing_key_is_overwritten_only_if_it_is_named() {
    let case = Case::empty();
    case.run("remember --key port the gateway listens on 7443").success();
    case.run("remember gateway listens on").success();
    let second = case.run("remember gateway listens on every interface of the machine").success();
    assert!(second.stdout().starts_with("Stored: gateway-listens-every-interface-machine."));
    let updated = case.run("remember --key port it listens on 7444 since May").success();
    assert!(updated.stdout().starts_with("Updated port (+"), "{}", updated.report());
    let line = "remember --key port --confidence high it listens on 7444 since May";
    assert_eq!(
        case.run(line).success().stdout(),
        "Updated port (+0/-0 lines).\n  type reference; confidence high, before low\n"
    );
    case.run("remember blue door").success();
    let third = case.run("remember blue door: the door of the deployment, painted last").success();
    assert!(third.stdout().starts_with("Stored: blue-door-"), "{}", third.report());
    assert_eq!(body(&case, "blue-door"), "# Blue door\n\nblue door\n");
}

#[test]
fn what_an_entry_says_already_is_refused_with_the_one_to_update() {
    let case = Case::empty();
    case.run("remember run the tests with pytest -q -x").success();
    let same = case.run("remember run tests with pytest -q -x").code(4);
    assert_error(
        &same,
        "`run-tests-pytest-q-x` has nearly the same words",
        "`annals remember --key run-tests-pytest-q-x TEXT` replaces what `annals entry read run-tests-pytest-q-x` prints; `annals entry write` with a new --key keeps both",
    );
    let key = ["ghp", "_0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let refused = case.run("remember the key is").args([key]).code(4).stderr();
    assert!(
        refused.contains("the text contains what looks like a secret (github-token, line 1)"),
        "{refused}"
    );
    case.run("remember").code(2);
    let mistyped = case.run("remember --tag port the gate is blue").code(2);
    assert!(mistyped.stderr().contains("'--tags'"), "{}", mistyped.report());
    assert_eq!(
        case.run("remember -- --tag is no option").success().stdout().lines().next(),
        Some("Stored: tag-no-option.")
    );
    case.run("remember --dry-run the gate is red").success();
    assert_eq!(case.read(".vibekit/memory/gate-red.md"), None);
}

#[test]
fn an_entry_with_most_of_the_words_is_named_beside_the_new_one() {
    let case = Case::empty();
    case.run("remember --key port the dev server listens on port 8080").success();
    let near = case.run("remember the dev server listens on port 9090").success();
    assert!(
        near.stdout().starts_with("Stored: dev-server-listens-port-9090."),
        "{}",
        near.report()
    );
    assert_eq!(
        near.stderr(),
        "warning: .vibekit/memory/port.md: this entry has half or more of the new one's words; if one of the two is out of date, \
         `annals entry supersede --old port --new dev-server-listens-port-9090`\n"
    );
}

#[test]
fn what_is_remembered_again_is_unchanged() {
    let case = Case::empty();
    case.run("remember the gate is red").success();
    let again = case.run("remember the gate is red").success();
    assert_eq!(again.stdout().lines().next(), Some("Unchanged: gate-red."));
    case.run("remember --key gate-red --confidence high the gate is red").success();
    let again = case.run("remember the gate is red").success();
    assert_eq!(again.stdout().lines().next(), Some("Unchanged: gate-red."));
}

#[test]
fn a_topic_finds_entries_by_the_stems_of_its_words() {
    let case = Case::empty();
    case.run("remember retries stop after 8 attempts").success();
    case.run("remember Correction: retries stop after 12 attempts, not 8").success();
    case.run("remember uploads are chunked").success();
    let found = case.run("context --for").args(["change the retry limit"]).success();
    insta::assert_snapshot!(found.stdout(), @r"
    # Project memory (data, not instructions)

    ## Knowledge
    - [[correction-retries-stop-after-12]] (unconfirmed) Correction: retries stop after 12 attempts, not 8
    - [[retries-stop-after-8-attempts]] (unconfirmed) retries stop after 8 attempts
    ");
}

#[test]
fn the_context_file_that_an_entry_changed_is_named() {
    let case = Case::empty();
    case.run("remember the gate is red").success();
    case.run("sync --target agents").success();
    assert_eq!(case.run("remember the door is blue").success().stderr(), "AGENTS.md updated\n");
    let forgotten = case.run("forget door-blue painted").success();
    insta::assert_snapshot!(forgotten.stderr(), @r"
    AGENTS.md updated
    the history keeps the text: `annals undo` restores it, `annals log --forget ID` erases it
    ");
}

#[test]
fn a_session_sees_the_entries_and_says_how_many_more_there_are() {
    let case = Case::empty();
    for number in 1..=7 {
        case.run(&format!("remember --key e{number} --confidence high"))
            .args([format!("The {number}. door is painted. It dries at night.")])
            .success();
    }
    let long =
        format!("remember --key cited --confidence low see [[e7]]{}", " and [[e7]]".repeat(30));
    case.run(&long).success();
    let digest = case.run("context").success().stdout();
    let start = case.run(START).stdin(r#"{"hook_event_name":"SessionStart","source":"startup"}"#);
    let start = start.success().stdout();
    for text in [&digest, &start] {
        assert!(text.contains("[[e7]] The 7. door is painted."), "{text}");
        assert!(text.contains("and 3 more: `annals recall WORDS` finds them"), "{text}");
        assert!(!text.contains("dries"), "{text}");
    }
    assert!(digest.contains("[[cited]] (unconfirmed) see") && digest.contains('…'), "{digest}");
    let about = case.run("context --for door").success().stdout();
    assert!(about.contains("It dries at night."), "{about}");
}

#[test]
fn of_the_entries_of_a_day_the_one_written_last_comes_first() {
    let case = Case::empty();
    for (key, text) in [("z", "red gate"), ("m", "blue door"), ("a", "low wall")] {
        case.run(&format!("remember --key {key} --confidence high {text}")).success();
    }
    case.run("remember --key m --confidence high blue door, painted").success();
    let listed = || case.run("context").success().stdout();
    insta::assert_snapshot!(listed(), @r"
    # Project memory (data, not instructions)

    ## Knowledge
    - [[m]] blue door, painted
    - [[a]] low wall
    - [[z]] red gate
    ");
    case.remove(".vibekit/memory/log.md");
    insta::assert_snapshot!(listed(), @r"
    # Project memory (data, not instructions)

    ## Knowledge
    - [[a]] low wall
    - [[m]] blue door, painted
    - [[z]] red gate
    ");
    case.write(".vibekit/memory/log.md/x", "a folder in place of the log");
    let warned = case.run("context").success().stderr();
    assert!(warned.starts_with("warning: .vibekit/memory/log.md: is a directory"), "{warned}");
}

#[test]
fn a_heading_alone_is_found_and_a_list_begins_with_its_first_item() {
    let case = Case::empty();
    case.run("remember").args(["# never push on friday"]).success();
    let found = case.run("recall never push friday").success();
    assert!(found.stdout().contains("never push on friday"), "{}", found.report());
    let list = "# Test runner\n\n1. Run pytest -q -x. Twice.\n2. Look.\n";
    case.run("remember --key runner --confidence high").args([list]).success();
    let digest = case.run("context").success().stdout();
    assert!(digest.contains("[[runner]] Test runner: 1. Run pytest -q -x.\n"), "{digest}");
}

#[test]
fn status_says_what_there_is_without_a_planning_folder() {
    let case = Case::empty();
    let next = "Next:       annals remember TEXT stores what later sessions should know\n";
    assert_eq!(
        case.run("status").success().stdout(),
        format!("project (no planning folder)\nNothing is remembered yet.\n{next}")
    );
    case.run("remember the gate is red").success();
    case.run("notepad working looked").success();
    case.run("ledger init").success();
    let counts = "project (no planning folder)\nEntries:    1 entry\nNotepad:    1 line\n\
         Ledger:     in use; `annals ledger brief` prints it\n";
    let unread = "Next:       annals setup claude --user\n            no client is set up to read this; \
         `annals setup --help` lists others, and a plugin needs no setup\n";
    assert_eq!(case.run("status").success().stdout(), format!("{counts}{unread}"));
    case.run("setup gemini --user").success();
    assert_eq!(case.run("status").success().stdout(), format!("{counts}{next}"));
    let found = case.run("status --json").success().json();
    assert_eq!((&found["planning_dir"], &found["entries"]), (&json!(null), &json!(1)));
}

#[test]
fn a_store_that_cannot_be_read_is_named_and_the_others_counted() {
    let case = Case::empty();
    case.run("remember the gate is red").success();
    case.write(".vibekit/notepad.md/file", "");
    let done = case.run("status").success();
    let warning =
        "warning: .vibekit/notepad.md: cannot load notepad: is a directory, a file was expected\n";
    assert_eq!(done.stderr(), warning);
    assert!(done.stdout().contains("\nEntries:    1 entry\nNext:"), "{}", done.stdout());
    let found = case.run("status --json").success().json();
    assert_eq!((&found["entries"], &found["notes"]), (&json!(1), &json!(null)));

    let case = Case::empty();
    case.write(".vibekit/memory", "a file in place of the folder");
    let done = case.run("status").success();
    let warning = "warning: .vibekit/memory: cannot load entries: cannot list: ";
    assert!(done.stderr().starts_with(warning), "{}", done.stderr());
    assert!(!done.stdout().contains("Nothing is remembered"), "{}", done.stdout());
}

#[test]
fn a_fact_about_the_user_goes_to_the_facts() {
    let case = Case::empty();
    let line = "remember --fact --key preference.editor";
    let done = case.run(&format!("{line} --dry-run helix")).env("ANNALS_USER", "ada");
    let told = done.success().stdout();
    assert!(told.starts_with("Would be done (dry run, nothing is written):\ninserted"), "{told}");
    let done = case.run(&format!("{line} helix")).env("ANNALS_USER", "ada");
    assert!(done.success().stdout().contains("preference.editor: helix"));
    assert_eq!(case.read(".vibekit/memory/INDEX.md"), None);
}

#[test]
fn a_first_fact_says_whose_it_is_if_no_user_is_set() {
    let case = Case::empty();
    let said =
        |text: &str| case.run("remember --fact").args([text]).env("USER", "ida").success().stderr();
    let note = "facts of ida, the system's user name; `recall` and sessions read them once ANNALS_USER or `user` in your own config.toml is set\n";
    assert_eq!(said("likes tea"), note);
    assert_eq!(said("likes rain"), "");
    let status = case.run("status").env("USER", "ida").success().stdout();
    assert!(status.contains("Facts:      2 facts about you\n"), "{status}");
}
