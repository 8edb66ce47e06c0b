//! What a repository plants in the very form that annals reads: links to files of the user's that would parse,
//! tables that never end.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::attack::{SECRET, tool_calls};
use crate::support::Case;

const START: &str =
    "{\"session_id\": \"s1\", \"hook_event_name\": \"SessionStart\", \"source\": \"startup\"}";

/// A token as a vendor forms it, in parts, since this file is looked through for keys as well.
fn token() -> String {
    format!("ghp{}{}", "_", "Ab1xQ9zT4mN7vK2pL8sD3fG6hJ5wR0yC1uEb")
}

/// The example project, and a file of the user's beside it.
fn beside(name: &str, text: &str) -> (Case, PathBuf) {
    let case = Case::new("examples/vbw-project");
    let folder = case.root().parent().unwrap().join("outside");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
    (case, folder)
}

fn replace_by_link(case: &Case, place: &str, target: &Path) {
    let link = case.root().join(place);
    if link.is_dir() {
        fs::remove_dir_all(&link).unwrap();
    } else if link.exists() {
        fs::remove_file(&link).unwrap();
    }
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(target, link).unwrap();
}

fn holds_canary(case: &Case) -> Vec<String> {
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(SECRET);
    let all = case.whole_tree().into_iter();
    all.filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

#[test]
fn a_link_to_patterns_of_the_users_is_not_read_where_it_would_be_written() {
    let patterns = format!(
        "# Patterns\n\n### Phase 1: Private (2026-01-02)\n\n**What failed:**\n- {SECRET} diary: the `x` fails on y\n"
    );
    let (case, folder) = beside("PATTERNS.md", &patterns);
    for (place, target) in [
        (".vbw-planning/patterns/PATTERNS.md", folder.join("PATTERNS.md")),
        (".vbw-planning/patterns", folder.clone()),
    ] {
        replace_by_link(&case, place, &target);
        for line in [
            "sync", "sync --dry-run", "context", "report", "plan", "execute --all",
            "patterns note -m x",
        ] {
            let run = case.run(line).output();
            assert!(!run.stdout().contains(SECRET), "{place}: {}", run.report());
            assert!(!run.stderr().contains(SECRET), "{place}: {}", run.report());
        }
        for event in ["session-start", "session-end"] {
            let run = case.run(&format!("hook {event}")).stdin(START).output();
            assert!(!run.stdout().contains(SECRET), "{place}: {}", run.report());
        }
        assert_eq!(holds_canary(&case), [""; 0], "{place}");
        fs::remove_file(case.root().join(place)).unwrap();
    }
    assert_eq!(fs::read_to_string(folder.join("PATTERNS.md")).unwrap(), patterns);
}

#[test]
fn a_link_to_a_project_file_of_the_users_is_not_carried_into_a_milestone() {
    let text = format!("# Mine\n\n**Core value:** {SECRET}\n\n## Requirements\n\n- {SECRET}\n");
    let (case, folder) = beside("PROJECT.md", &text);
    for place in ["PROJECT.md", "ROADMAP.md"] {
        replace_by_link(&case, &format!(".vbw-planning/{place}"), &folder.join("PROJECT.md"));
    }
    for line in ["ship --force", "milestone new two", "sync"] {
        let run = case.run(line).output();
        assert!(!run.stdout().contains(SECRET), "{}", run.report());
    }
    assert_eq!(holds_canary(&case), [""; 0]);
}

#[test]
fn a_link_into_the_repositorys_own_folder_is_not_read() {
    let case = Case::new("examples/vbw-project");
    case.git_init();
    let config = case.root().join(".git/config");
    let own = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{own}# {SECRET}\n")).unwrap();
    for (place, line) in [
        (".vbw-planning/RESUME.md", "resume"),
        (".vibekit/notepad.md", "notepad read"),
        (".vbw-planning/PROJECT.md", "context"),
    ] {
        replace_by_link(&case, place, &config);
        let run = case.run(line).output();
        assert!(!run.stdout().contains(SECRET), "{place}: {}", run.report());
    }
}

#[test]
fn a_link_to_a_file_of_credentials_is_not_read() {
    let case = Case::new("examples/vbw-project");
    for (file, place, line) in [
        (".env", ".vbw-planning/RESUME.md", "resume"),
        (".env.local", ".vibekit/notepad.md", "notepad read"),
        ("certs/server.pem", "docs/memory/STATE.md", "ledger brief"),
    ] {
        case.write(file, format!("# {SECRET}\n\n- {SECRET}\n"));
        replace_by_link(&case, place, &case.root().join(file));
        let run = case.run(line).output();
        assert!(!run.stdout().contains(SECRET), "{place}: {}", run.report());
        let expected = "leads to a file with credentials";
        assert!(run.stderr().contains(expected), "{}", run.report());
    }
}

#[test]
fn a_key_in_planning_files_reaches_no_model() {
    let (token, case) = (token(), Case::new("examples/vbw-project"));
    for name in ["ROADMAP.md", "STATE.md", "PROJECT.md"] {
        let path = format!(".vbw-planning/{name}");
        let text = String::from_utf8(case.read(&path).unwrap()).unwrap();
        let text = text.replace("Low-Stock Alerts", &format!("Low-Stock Alerts {token}"));
        case.write(&path, text.replacen('\n', &format!(" {token}\n"), 1));
    }
    case.git_init();
    case.commit(&format!("Use {token}"), "2026-02-01T12:00:00Z");
    let run = case.run("mcp --tools all").stdin(tool_calls().stdin);
    let answers = run.success();
    assert!(!answers.stdout().contains(&token), "{}", answers.report());
    for event in ["session-start", "session-end"] {
        let run = case.run(&format!("hook {event}")).stdin(START).success();
        assert!(!run.stdout().contains(&token), "{}", run.report());
    }
    for line in [
        "status", "plan", "resume", "patterns insights", "patterns list", "ledger brief",
        "ledger pending", "context", "milestone list", "recall stock",
    ] {
        let (text, json) = (case.run(line), case.run(&format!("{line} --json")));
        for run in [text.output(), json.output()] {
            assert!(!run.stdout().contains(&token), "{}", run.report());
        }
    }
    case.run("ship --force").success();
    for (path, bytes) in case.whole_tree() {
        let is_copied =
            ["ROADMAP.md", "STATE.md", "PROJECT.md"].iter().any(|name| path.ends_with(name));
        let is_record = path.starts_with(".annals/") || path.starts_with(".git/");
        let holds = String::from_utf8_lossy(&bytes).contains(&token);
        assert!(is_copied || is_record || !holds, "{path}");
    }
}

#[test]
fn requests_are_not_set_aside_through_a_link_in_place_of_the_history() {
    let (case, folder) = beside("kept.md", "kept\n");
    case.write(".annals/requests-entries.jsonl", "any bytes\n");
    replace_by_link(&case, ".annals/history", &folder);
    case.run("notepad working x --request-id r1").code(4);
    let left: Vec<_> = fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_search_cache_of_views_is_not_asked() {
    let case = Case::new("examples/vbw-project");
    let first = case.run("recall stock --json").success().json();
    let cache = case.root().join(".annals/index.db");
    fs::remove_file(&cache).unwrap();
    let planted = Connection::open(&cache).unwrap();
    let endless = "CREATE VIEW owner(identity) AS WITH RECURSIVE c(x) AS \
                   (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) || '' FROM c;";
    planted.execute_batch(endless).unwrap();
    drop(planted);
    let again = case.run("recall stock --json").success().json();
    assert_eq!(again["hits"], first["hits"]);
}
