//! Notes in markdown: Serena's, basic-memory's and Claude Code's own.

use crate::exchange::{case, counts, entry, import, keys_of, reasons, twice};
use crate::support::Case;

#[test]
fn serenas_notes_become_entries() {
    let case = case("serena");
    let report = twice(&case, "serena serena");
    assert_eq!(counts(&report), [2, 0, 1, 0], "{report:#}");
    assert!(reasons(&report).contains("serena/empty.md:null: is empty"));
    let structure = entry(&case, "codebase-structure");
    assert!(structure.contains("type: architecture"), "{structure}");
    assert!(structure.contains("See [[suggested-commands]] and gone."), "{structure}");
    assert!(entry(&case, "suggested-commands").contains("type: environment"));
}

#[test]
fn a_project_with_notes_can_be_named_whole() {
    let case = Case::empty();
    case.write(".serena/memories/style.md", "Two spaces.\n");
    let report = import(&case, "serena .");
    assert_eq!(keys_of(&report), ["style"]);
}

#[test]
fn basic_memory_notes_keep_tags_types_and_links() {
    let case = case("basic");
    let report = twice(&case, "basic-memory basic");
    assert_eq!(counts(&report)[..3], [3, 0, 0], "{report:#}");
    assert!(reasons(&report).contains("basic/broken.md:"), "{report:#}");
    let auth = entry(&case, "authentication-design");
    for expected in [
        "type: decision",
        "tags: [auth, security, jwt]",
        "confidence: medium",
        "- [decision] Tokens expire after 15 minutes #security #jwt\n",
        "- implements [[api-rules]]\n",
        "- relates_to Session Store|the store\n",
        "Imported from basic-memory: design/auth.md\n",
    ] {
        assert!(auth.contains(expected), "{expected}\n{auth}");
    }
    assert!(entry(&case, "api-rules").contains("- required_by [[authentication-design]]"));
    assert!(entry(&case, "unclosed").contains("Still a text."));
}

#[test]
fn tags_past_the_maximum_are_left_out_with_a_warning() {
    let case = Case::empty();
    let numbered = |before: &str, after: &str, count: usize| -> String {
        let tag = |number| format!("{before}{number}{after}");
        (1..=count).map(tag).collect()
    };
    for (name, front, line) in [
        ("list", numbered("- t", "\n", 501), String::new()),
        ("line", format!("  {}t0\n", numbered("t", ", ", 500)), String::new()),
        ("text", "- t0\n".to_owned(), numbered(" #t", "", 500)),
        ("most", "- t0\n".to_owned(), numbered(" #t", "", 499)),
    ] {
        let text = format!("---\ntags:\n{front}---\n# {name}\n\n- [fact] {name}{line}\n");
        case.write(&format!("notes/{name}.md"), &text);
    }
    let report = import(&case, "basic-memory notes");
    assert_eq!(counts(&report), [4, 0, 0, 3], "{}", reasons(&report));
    for name in ["line", "list", "text"] {
        let expected =
            format!("notes/{name}.md:null: has more than 500 tags; the rest is left out\n");
        assert!(reasons(&report).contains(&expected), "{}", reasons(&report));
        let entry = entry(&case, name);
        let tags = entry.lines().find(|line| line.starts_with("tags:"));
        assert_eq!(tags.unwrap().split(',').count(), 500);
    }
    let most = entry(&case, "most");
    assert!(most.contains(", t499]"), "{most}");
}

#[test]
fn claude_codes_memory_is_its_topics_and_what_the_index_says_itself() {
    let case = case("claude");
    let report = twice(&case, "claude-code claude/memory/MEMORY.md");
    assert_eq!(counts(&report), [4, 0, 2, 0], "{report:#}");
    assert_eq!(keys_of(&report), ["debugging", "feedback-tests", "project-memory", "build"]);
    let reasons = reasons(&report);
    assert!(reasons.contains("claude/memory/MEMORY.md:3: points to debugging.md"), "{reasons}");
    assert!(
        reasons.contains("claude/memory/MEMORY.md:12: points to feedback_tests.md"),
        "{reasons}"
    );
    let feedback = entry(&case, "feedback-tests");
    assert!(feedback.contains("type: preference"), "{feedback}");
    assert!(feedback.contains("How the user wants tests\n\nTests use"), "{feedback}");
    assert!(entry(&case, "project-memory").contains("`missing.md` is not there"));
    assert!(entry(&case, "build").contains("type: environment"));
}

#[cfg(unix)]
#[test]
fn links_and_other_files_are_told_and_not_followed() {
    let case = Case::empty();
    case.write("notes/a.md", "A.\n");
    case.write("notes/b.png", "no text");
    case.write("outside.md", "Private.\n");
    let notes = case.root().join("notes");
    std::os::unix::fs::symlink("../outside.md", notes.join("link.md")).unwrap();
    std::os::unix::fs::symlink("..", notes.join("loop")).unwrap();
    let report = twice(&case, "basic-memory notes");
    assert_eq!(counts(&report), [1, 0, 0, 3], "{report:#}");
    assert_eq!(keys_of(&report), ["a"]);
}

#[test]
fn what_is_not_there_is_said() {
    let case = Case::empty();
    for format in ["server-memory", "serena", "basic-memory", "claude-code", "claude-mem"] {
        let outcome = case.run(&format!("import {format} nowhere")).code(3);
        assert!(outcome.stderr().contains("nowhere"), "{}", outcome.report());
    }
    let outcome = case.run("import notion x").code(2);
    assert!(
        outcome.stderr().contains("possible values: server-memory, serena"),
        "{}",
        outcome.report()
    );
}

#[test]
fn every_section_of_claude_codes_memory_is_imported() {
    let case = Case::empty();
    case.write(
        "memory/MEMORY.md",
        "# Memory\n\n## Notes\n\none\n\n# Another top\n\ntwo\n\n### sub\n\nthree\n\n## Notes\n\n\
         - [Empty](empty.md): never deploy on fridays\n\n## Notes (2)\n\nfour\n",
    );
    case.write("memory/empty.md", "");
    let report = case.run("import claude-code memory --json").success().json();
    let texts: String = keys_of(&report).iter().map(|key| entry(&case, key)).collect();
    for text in ["one", "two", "three", "never deploy on fridays", "four"] {
        assert!(texts.contains(text), "{text}: {report:#}");
    }
    let again = case.run("import claude-code memory --json").success().json();
    assert_eq!(again["counts"]["imported"], 0, "{again:#}");
    assert_eq!(again["counts"]["skipped"], 1, "{again:#}");
}
