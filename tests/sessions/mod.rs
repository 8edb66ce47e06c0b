//! Transcripts of the clients' sessions: what is read of them, and what is not.

mod hostile;
mod made;
mod search;

use std::fs;

use annals::project::{Environment, OpenRequest, Project};
use annals::sessions;

use crate::sessions::made::{script, write};
use crate::support::Case;

/// A session in which something fails and is fixed.
const WORK: &str = "\
> Why does the loader crash?
- I run its tests first, and use the release profile instead of the debug one, which takes minutes.
ran cargo test gauge
! error[E0308]: mismatched types
! in src/load.rs
wrote src/load.rs
ran cargo test gauge
- The loop began at one. It passes now.
> thanks, commit it
ran git commit -m fix
- Committed.
";

/// Turns the reading of transcripts on, as the user.
fn turn_on(case: &Case) {
    let folder = case.home().join(".config/annals");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "sessions = true\n").unwrap();
}

/// Opens the project of a case.
fn open(case: &Case) -> Project {
    let variables = [("HOME", case.home().to_owned())];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    turn_on(case);
    Project::open(OpenRequest {
        directory: case.root().to_owned(),
        environment: Environment::new(variables),
        ..OpenRequest::default()
    })
    .unwrap()
}

/// Returns the units of all sessions, in a line or more each.
fn units(case: &Case) -> String {
    let mut shown = String::new();
    for transcript in sessions::transcripts(&open(case)).newest {
        let read = sessions::read(&transcript).unwrap().unwrap();
        assert_eq!(read.broken, 0);
        for unit in &read.units {
            let date = unit.date.unwrap();
            let text = unit.text.replace('\n', " / ");
            shown.push_str(&format!("{date} {}: {text}\n", unit.kind.as_str()));
        }
        let files: Vec<&str> = read.files.iter().map(String::as_str).collect();
        shown.push_str(&format!("wrote {}\n", files.join(", ")));
    }
    shown
}

#[test]
fn a_session_reads_the_same_in_every_client() {
    for client in ["claude", "codex", "gemini", "opencode"] {
        let case = Case::empty();
        let text = format!("# {client} 2026-03-01\n{WORK}");
        write(&case, 1, &script(&text)[0]);
        insta::allow_duplicates! {
            insta::assert_snapshot!(units(&case), @r"
            2026-03-01 asked: Why does the loader crash?
            2026-03-01 failed: ran cargo test gauge failed: / error[E0308]: mismatched types / in src/load.rs / Fixed by: / - edited src/load.rs / - ran cargo test gauge
            2026-03-01 decided: I run its tests first, and use the release profile instead of the debug one, which takes minutes.
            2026-03-01 worked on: ran cargo test gauge / edited src/load.rs
            2026-03-01 answered: The loop began at one. It passes now.
            2026-03-01 asked: thanks, commit it
            2026-03-01 worked on: ran git commit -m fix
            2026-03-01 answered: Committed.
            wrote src/load.rs
            ");
        }
    }
}

#[test]
fn plans_and_summaries_are_kept() {
    for client in ["claude", "codex", "gemini", "opencode"] {
        let case = Case::empty();
        let text = format!("# {client} 2026-03-01\n> Plan it\nplan 1. Measure\nplan 2. Cut\n");
        write(&case, 1, &script(&text)[0]);
        let units = units(&case);
        assert!(units.contains("summary: 1. Measure / 2. Cut"), "{client}: {units}");
    }
}

#[test]
fn sessions_are_listed_with_their_first_question_and_files() {
    let case = Case::empty();
    for (number, client) in ["claude", "codex", "gemini", "opencode"].into_iter().enumerate() {
        let text = format!("# {client} 2026-03-0{}\n{WORK}", number + 1);
        write(&case, number + 1, &script(&text)[0]);
    }
    turn_on(&case);
    let listed = case.run("sessions --json").success().json();
    let mut rows = listed["sessions"].as_array().unwrap().clone();
    rows.sort_by_key(|row| row["date"].to_string());
    let shown: Vec<String> = rows
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            format!("{} {} {} {}", text("date"), text("question"), row["files"][0], text("resume"))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    2026-03-01 Why does the loader crash? "src/load.rs" claude --resume 00000001-1111-4222-8333-444444444444
    2026-03-02 Why does the loader crash? "src/load.rs" codex resume 00000002-1111-4222-8333-444444444444
    2026-03-03 Why does the loader crash? "src/load.rs" gemini --resume 00000003-1111-4222-8333-444444444444
    2026-03-04 Why does the loader crash? "src/load.rs" opencode --session ses_4
    "#);
}

#[test]
fn nothing_is_read_before_the_user_turns_it_on() {
    let case = Case::empty();
    case.write("CLAUDE.md", "# A project\n");
    write(&case, 1, &script(&format!("# claude 2026-03-01\n{WORK}"))[0]);
    let refused = case.run("sessions").code(2);
    assert!(refused.stderr().contains("annals setup CLIENT --sessions"), "{}", refused.stderr());
    case.run("recall --in sessions loader").code(2);
    case.write("annals.toml", "sessions = true\n");
    let refused = case.run("sessions").code(4);
    assert!(refused.stderr().contains("can only be set by the user"), "{}", refused.stderr());
    case.remove("annals.toml");

    case.run("setup claude --sessions").success();
    assert!(case.run("sessions").success().stdout().contains("Why does the loader crash?"));
    let dry = case.run("sessions --off --dry-run").success().stdout();
    insta::assert_snapshot!(dry, @r"
    Would be done (dry run, nothing is written):
    Transcripts are no longer read; the indexes of them are gone.
    ");
    case.run("sessions").success();
    case.run("sessions --off").success();
    case.run("sessions").code(2);
    assert!(!case.home().join(".config/annals/config.toml").exists());
}

#[test]
fn a_client_that_is_set_up_for_the_user_is_not_set_up_for_the_project_as_well() {
    let case = Case::empty();
    case.run("setup claude --user").success();
    let before = case.whole_tree();
    case.run("setup claude --sessions").success();
    case.run("sessions").success();
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn turning_it_on_keeps_the_user_s_other_settings() {
    let case = Case::empty();
    let folder = case.home().join(".config/annals");
    fs::create_dir_all(&folder).unwrap();
    let own = "# mine\nhistory = true # always\n";
    fs::write(folder.join("config.toml"), own).unwrap();
    case.run("setup codex --sessions").success();
    case.run("setup claude --sessions").success();
    let with = fs::read_to_string(folder.join("config.toml")).unwrap();
    assert_eq!(with, format!("{own}sessions = [\"claude\", \"codex\"]\n"));
    case.run("sessions --off").success();
    assert_eq!(fs::read_to_string(folder.join("config.toml")).unwrap(), own);
    case.run("setup vbw --sessions").code(2);
}

#[test]
fn only_sessions_of_the_project_and_its_worktrees_are_read() {
    let case = Case::empty();
    case.git_init().write("a", "a").commit("Begin", "2026-03-01T10:00:00Z");
    let tree = case.root().with_file_name("tree");
    case.program("git worktree add -q ../tree").success();
    let root = case.root().to_str().unwrap();
    let tree = tree.to_str().unwrap();
    case.write("other/.git/HEAD", "ref: refs/heads/main\n");
    let places = [
        root.to_owned(),
        tree.to_owned(),
        format!("{root}/src"),
        format!("{root}/other"),
        format!("{root}-two"),
        format!("{root}/../elsewhere"),
        "/".to_owned(),
    ];
    for (number, place) in places.iter().enumerate() {
        let path = write(&case, number, &script(&format!("# codex 2026-03-01\n> {number}\n"))[0]);
        let text = fs::read_to_string(&path).unwrap();
        let (own, there) = (format!("\"cwd\":\"{root}\""), format!("\"cwd\":\"{place}\""));
        fs::write(&path, text.replace(&own, &there)).unwrap();
    }
    turn_on(&case);
    let listed = case.run("sessions --json").success().json();
    let rows = listed["sessions"].as_array().unwrap();
    let mut found: Vec<&str> = rows.iter().map(|row| row["question"].as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, ["0", "1", "2"]);
}

#[test]
fn what_may_be_worth_an_entry_is_proposed_and_not_written() {
    let case = Case::empty();
    let text = "# claude 2026-03-01\n> How do we write to the store?\n\
                - Never write to the store without the lock: two processes lost 40 lines on 12 January.\n\
                > ok\n- Done.\n";
    write(&case, 1, &script(text)[0]);
    turn_on(&case);
    let before = case.whole_tree();
    let proposed = case.run("sessions propose").success().stdout();
    assert!(proposed.contains("Never write to the store without the lock"), "{proposed}");
    assert!(!proposed.contains("Done."), "{proposed}");
    assert_eq!(case.whole_tree(), before);
}
