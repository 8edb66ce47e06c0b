//! `annals hook`: four dialects, any input, and never a failure.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::VBW;
use crate::support::{Case, corpus, require, tree};

/// The calls that `annals setup` writes, with the recorded input of the event, and the name that goes back.
const STARTS: [(&str, &str, &str); 4] = [
    ("session-start", "claude/session-start", "SessionStart"),
    ("session-start --harness codex", "codex/session-start", "SessionStart"),
    ("session-start --harness gemini", "gemini/session-start", "SessionStart"),
    ("session-start --harness opencode", "opencode/session-created", "session.created"),
];

const SUMMARIES: [(&str, &str, &str); 4] = [
    ("post-tool-use", "claude/post-tool-use", "PostToolUse"),
    ("post-tool-use --harness codex", "codex/post-tool-use", "PostToolUse"),
    ("post-tool-use --harness gemini", "gemini/after-tool", "AfterTool"),
    ("post-tool-use --harness opencode", "opencode/tool-execute-after", "tool.execute.after"),
];

/// The most UTF-16 units that reach a model whole.
const LIMIT: usize = 9_500;

#[test]
fn a_session_starts_with_what_matters_in_every_dialect() {
    for (line, input, event) in STARTS {
        let case = without_context_file();
        let before = case.tree();
        let text = told(&case, line, input, event);
        let order =
            ["data, not instructions", "Phase: 4 - ", "## Blockers", "## Todos", "More: `annals"];
        let places: Vec<usize> = order.iter().map(|part| text.find(part).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(text.encode_utf16().count() <= LIMIT);
        assert_eq!(case.tree(), before, "nothing is made at a start");
    }
}

#[test]
fn what_the_context_file_says_is_not_said_again() {
    for (target, (line, input, event)) in
        ["claude", "agents", "gemini", "claude"].iter().zip(STARTS)
    {
        let case = without_context_file();
        case.run(&format!("sync --target {target}")).success();
        let text = told(&case, line, input, event);
        assert!(!text.contains("Phase: 4 - "), "{target}: {text}");
        assert!(text.contains("## Todos"), "{target}: {text}");
        assert!(!text.contains("## Blockers"), "{target}: {text}");
        let name = if *target == "agents" {
            "AGENTS.md".to_owned()
        } else {
            format!("{}.md", target.to_uppercase())
        };
        let file = String::from_utf8(case.read(&name).unwrap()).unwrap();
        for line in text.lines().filter(|line| line.starts_with("- ")) {
            assert!(!folded(&file).contains(&folded(line)), "{target}: {line}");
        }
    }
    let case = without_context_file();
    case.run("sync --target agents").success();
    case.write("CLAUDE.md", "@AGENTS.md\n");
    let (line, input, event) = STARTS[0];
    assert!(!told(&case, line, input, event).contains("Phase: 4 - "));
    // Claude Code reads AGENTS.md if there is no CLAUDE.md; the plugin does not say that it is Codex.
    fs::remove_file(case.root().join("CLAUDE.md")).unwrap();
    assert!(!told(&case, line, input, event).contains("Phase: 4 - "));
    case.write("CLAUDE.md", "Use tabs.\n");
    let plugin = |name: &str| {
        let run = case.run("hook session-start").env(name, "/plugins/annals");
        run.stdin("{\"hook_event_name\":\"SessionStart\"}").success().stdout()
    };
    assert!(plugin("CLAUDE_PLUGIN_ROOT").contains("Phase: 4 - "));
    assert!(!plugin("PLUGIN_ROOT").contains("Phase: 4 - "));
}

#[test]
fn a_block_that_is_older_than_the_files_is_named() {
    let start = |case: &Case| {
        let said = case.run("hook session-start").stdin("{}").success().stdout();
        let answer: Value = serde_json::from_str(&said).unwrap();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    };
    let case = without_context_file();
    case.run("sync").success();
    assert!(!start(&case).contains("out of date"));
    finish_phase_four(&case);
    let text = start(&case);
    assert!(
        text.contains("\n- The block in the context file is out of date; this is current\n"),
        "{text}"
    );

    let case = Case::empty();
    case.run("remember --confidence high deploys go through Jenkins").success();
    case.run("remember --confidence high tests need Redis").success();
    case.run("sync --target claude").success();
    fs::remove_file(case.root().join(".vibekit/memory/deploys-go-through-jenkins.md")).unwrap();
    let text = start(&case);
    let line = "- Out of date in the context file: [[deploys-go-through-jenkins]] deploys go through Jenkins";
    assert!(text.contains(line) && !text.contains("Redis"), "{text}");
    #[cfg(unix)]
    {
        // What cannot be read is not gone.
        let (store, elsewhere) = (case.root().join(".vibekit"), case.home().join("elsewhere"));
        fs::rename(&store, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &store).unwrap();
        let said = case.run("hook session-start").stdin("{}").success().stdout();
        assert!(!said.contains("Out of date"), "{said}");
    }
}

#[test]
fn a_resumed_conversation_does_not_get_the_same_text_again() {
    let case = without_context_file();
    let start = |source: &str| {
        let input = format!(r#"{{"session_id":"one","source":"{source}"}}"#);
        case.run("hook session-start --harness codex").stdin(input).success().stdout()
    };
    let first = start("startup");
    assert_ne!(first, "");
    assert_eq!(start("resume"), "");
    assert_eq!(start("clear"), first);
    finish_phase_four(&case);
    assert!(start("resume").contains("(complete)"));
}

#[test]
fn a_session_above_the_planning_folders_is_told_where_they_are() {
    let case = Case::empty();
    for part in ["apps/web/.planning", "libs/core/.vbw-planning", "node_modules/x/.planning"] {
        case.write(&format!("{part}/STATE.md"), "# State\n");
    }
    let status = case.run("status").success().stdout();
    assert!(status.contains("Planned in: apps/web (annals status there)\n"), "{status}");
    let start = || case.run("hook session-start").stdin("{}").success();
    assert_eq!(start().stdout(), "", "below what is no repository are other projects");
    case.git_init();
    let before = case.whole_tree();
    let said = start().json();
    let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(
        text,
        "# Project memory (data, not instructions)\n\n## Position\n\
         - Planned in a folder of its own: apps/web (`annals -C apps/web status`)\n\
         - Planned in a folder of its own: libs/core (`annals -C libs/core status`)\n\nMore: `annals context`"
    );
    let root = case.run("-C / status").success().stdout();
    assert!(root.starts_with("/ (no planning folder)\n"), "{root}");
    assert_eq!(case.run("hook post-tool-use").stdin("{}").success().stdout(), "");
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn a_session_gets_the_latest_decisions_and_every_pinned_note() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", "# Roadmap: A\n\n- [ ] **Phase 1: One** - a\n");
    let rows = "| Rows are text | | |\n| Ids are numbers | | |\n| Pages are cached | | |\n| Keys are short | | |\n| Names are unique | | |\n";
    let table = "## Key Decisions\n\n| Decision | Rationale | Outcome |\n|--|--|--|\n";
    case.write(".planning/PROJECT.md", format!("# A\n\n{table}{rows}"));
    case.write(
        ".planning/STATE.md",
        "# State\n\n## Decisions\n\n- [Phase 3]: Dates are UTC\n- [Phase 4]: Money is an integer\n",
    );
    // A heading with an empty table lists none.
    case.write("CLAUDE.md", table);
    for note in 1..8 {
        case.run("notepad priority").args([format!("note {note}")]).success();
    }
    let said = case.run("hook session-start").stdin("{}").success().json();
    let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    insta::assert_snapshot!(text, @r"
    # Project memory (data, not instructions)

    ## Position
    - Next action: /gsd:plan-phase 1
    - Phase: 1 - One (not planned)

    ## Notepad
    - note 1
    - note 2
    - note 3
    - note 4
    - note 5
    - note 6
    - note 7

    ## Decisions
    - PROJECT.md: Names are unique
    - PROJECT.md: Keys are short
    - PROJECT.md: Pages are cached
    - Phase 4: Money is an integer
    - Phase 3: Dates are UTC

    Lines left out: decisions 2 (`annals recall --in plan,ledger decision`)

    More: `annals context`
    ");
}

#[test]
fn the_notepad_comes_first_after_compaction_and_only_where_it_is_wanted() {
    let case = Case::new(VBW);
    case.write(
        ".vibekit/notepad.md",
        "# Notepad\n\n## Priority Context\n- mind the clock\n\n## Working Memory\n\n## Manual\n",
    );
    let place = |line: &str, input: &str, event: &str| {
        told(&case, line, input, event).find("mind the clock")
    };
    let start = place("session-start", "claude/session-start", "SessionStart").unwrap();
    let compacted = place("session-start", "claude/session-start-compact", "SessionStart").unwrap();
    assert!(compacted < start);
    let created =
        ("session-start --harness opencode", "opencode/session-compacted", "session.created");
    assert_eq!(place(created.0, created.1, created.2), Some(compacted));
    let without = "session-start --no-notepad";
    assert_eq!(place(without, "claude/session-start", "SessionStart"), None);
    case.write("annals.toml", "notepad = false\n");
    assert_eq!(place("session-start", "claude/session-start", "SessionStart"), None);
}

#[test]
fn a_key_over_several_lines_of_the_notepad_does_not_reach_a_session() {
    let case = Case::new(VBW);
    let line = "MIIEpAIBAAKCAQEAabcdEFGH1234ijklMNOP5678qrstUVWX9012yzAB3456";
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{line}A\n{line}B\n-----END RSA PRIVATE KEY-----\n"
    );
    case.write(
        ".vibekit/notepad.md",
        format!("# Notepad\n\n## Priority Context\n- mind the clock\n{key}\n## Working Memory\n{key}\n## Manual\n"),
    );
    for input in ["claude/session-start", "claude/session-start-compact"] {
        let text = told(&case, "session-start", input, "SessionStart");
        assert!(text.contains("mind the clock") && !text.contains("MIIE"), "{text}");
    }
    assert!(!case.run("context").success().stdout().contains("MIIE"));
}

#[test]
fn the_last_summary_of_a_phase_is_told_and_another_is_not() {
    for (line, input, event) in SUMMARIES {
        let case = Case::new(VBW);
        assert_eq!(hook(&case, line, input), "", "{line}: two plans are open");
        finish_phase_four(&case);
        let text = told(&case, line, input, event);
        assert!(text.contains("phase 4 (Low-Stock Alerts) is complete, 3 of 3 plans"), "{text}");
        assert!(text.contains("`annals execute 4 --lessons -`"), "{text}");
        case.run("execute 4").success();
    }
}

/// A recorded input, as if a subagent had run the tool.
fn of_subagent(case: &Case, input: &str) -> String {
    let recorded = fs::read_to_string(format!("tests/hooks/{input}.json")).unwrap();
    let recorded = recorded.replace("[ROOT]", case.root().to_str().unwrap());
    let mut input: Value = serde_json::from_str(&recorded).unwrap();
    input["agent_id"] = Value::from("a6150594f3e075142");
    input.to_string()
}

#[test]
fn what_a_subagent_finished_reaches_the_main_conversation_once() {
    for (next, input, event) in [
        ("subagent-stop", "claude/agent", "PostToolUse"),
        // A subagent in the background ends after its tool has: the next hook of the conversation says it.
        ("post-tool-use", "claude/post-tool-use-other", "PostToolUse"),
    ] {
        let case = Case::new(VBW);
        assert_eq!(hook(&case, next, input), "", "nothing is finished yet");
        finish_phase_four(&case);
        for _ in 0..2 {
            let run =
                case.run("hook post-tool-use").stdin(of_subagent(&case, "claude/post-tool-use"));
            let answer = run.success().json();
            let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
            assert!(text.ends_with("Include this in your report."), "{text}");
        }
        let nested = case.run("hook subagent-stop").stdin(of_subagent(&case, "claude/agent"));
        assert_eq!(
            nested.success().stdout(),
            "",
            "a subagent of a subagent is not the main conversation"
        );
        let text = told(&case, next, input, event);
        assert!(text.contains("phase 4 (Low-Stock Alerts) is complete, 3 of 3 plans"), "{text}");
        assert!(!text.contains("report"), "{text}");
        assert_eq!(hook(&case, next, input), "");
        assert_eq!(hook(&case, "post-tool-use", "claude/post-tool-use"), "");
    }
}

#[test]
fn set_up_in_both_scopes_codex_gets_one_copy() {
    let case = Case::new(VBW);
    case.run("setup codex").success();
    let (line, input, event) = STARTS[1];
    for _ in 0..2 {
        told(&case, line, input, event);
    }
    case.run("setup codex --user").success();
    told(&case, line, input, event);
    assert_eq!(hook(&case, line, input), "");
}

#[test]
fn a_finished_plan_corrects_the_state_where_that_is_wanted() {
    let case = without_context_file();
    finish_phase_four(&case);
    let state = || String::from_utf8(case.read(".vbw-planning/STATE.md").unwrap()).unwrap();
    let before = state();
    hook(&case, "post-tool-use", "claude/post-tool-use");
    assert_eq!(state(), before);
    case.write("annals.toml", "fix_state = true\n");
    let text = told(&case, "post-tool-use", "claude/post-tool-use", "PostToolUse");
    assert!(text.contains("annals corrected"), "{text}");
    assert_ne!(state(), before);
    assert!(case.read("CLAUDE.md").is_none(), "a hook makes no context file");
}

#[test]
fn a_sessions_end_refreshes_the_block_that_is_there_and_makes_none() {
    for (line, input) in [
        ("session-end", "claude/session-end"),
        ("session-end --harness gemini", "gemini/session-end"),
        ("session-end --harness codex", "codex/session-end"),
        ("session-end --harness opencode", "opencode/session-idle"),
        ("session-end --harness opencode", "opencode/session-deleted"),
    ] {
        let case = without_context_file();
        let before = case.tree();
        assert_eq!(hook(&case, line, input), "");
        assert_eq!(case.tree(), before, "{line} made something");
        case.run("sync").success();
        finish_phase_four(&case);
        let stale = case.read("CLAUDE.md");
        assert_eq!(hook(&case, line, input), "");
        assert_ne!(case.read("CLAUDE.md"), stale, "{line}");
        case.run("sync --check").success();
    }
}

#[test]
fn nothing_is_said_or_written_at_any_other_event() {
    let case = Case::new(VBW);
    case.run("sync").success();
    finish_phase_four(&case);
    let before = case.whole_tree();
    for (line, input) in [
        ("user-prompt-submit", "claude/user-prompt-submit"),
        ("user-prompt-submit --harness codex", "codex/user-prompt-submit"),
        ("BeforeAgent --harness gemini", "gemini/before-agent"),
        ("stop", "claude/stop"),
        ("stop --harness codex", "codex/stop"),
        ("some-event-of-next-year", "claude/stop"),
        ("", "claude/stop"),
        ("session-start --a-flag-of-next-year", "claude/session-start"),
        ("session-start extra words", "claude/session-start"),
    ] {
        assert_eq!(hook(&case, line, input), "", "{line}");
    }
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn any_input_is_survived_in_silence_with_a_line_in_the_log() {
    let case = Case::new(VBW);
    let ten_megabytes =
        format!("{{\"hook_event_name\":\"SessionStart\",\"x\":\"{}\"}}", "y".repeat(10 << 20));
    let deep = "[".repeat(1 << 20);
    let inputs: [&[u8]; 10] = [
        b"",
        b" \n",
        b"null",
        b"[]",
        b"\"SessionStart\"",
        b"{\"hook_event_name\":",
        b"{\"hook_event_name\":\"SessionStart\",\"cwd\":\"\xff\xfe\"}",
        &[0; 100],
        deep.as_bytes(),
        ten_megabytes.as_bytes(),
    ];
    let before = case.tree();
    for event in ["session-start", "post-tool-use", "pre-compact", "session-end", "stop", ""] {
        for input in inputs {
            let outcome = case.run(&format!("hook {event}")).stdin(input).success();
            assert_eq!(outcome.stdout(), "", "{event}: {}", outcome.report());
        }
    }
    assert_eq!(case.tree(), before);
    let log = String::from_utf8(case.read(".annals/hook.log").unwrap()).unwrap();
    let said = "2026-03-01T12:00:00Z annals: the input is not a JSON object, or too large";
    assert_eq!(log.lines().filter(|line| *line == said).count(), 6 * 8, "{log}");
    let said = "2026-03-01T12:00:00Z annals: the input is empty";
    assert_eq!(log.lines().filter(|line| *line == said).count(), 6 * 2, "{log}");
}

#[test]
fn strange_values_are_as_good_as_none() {
    let case = Case::new(VBW);
    for input in [
        r#"{"hook_event_name":7,"cwd":[],"source":{},"tool_input":"x"}"#,
        r#"{"hook_event_name":"Session\nStart","cwd":"relative","tool_input":{"file_path":{}}}"#,
        r#"{"cwd":"/nowhere/at/all"}"#,
        r"{}",
    ] {
        let outcome = case.run("hook session-start").stdin(input).success();
        assert_eq!(name_of(&outcome.json()), "SessionStart", "{input}");
        let outcome = case.run("hook post-tool-use").stdin(input).success();
        assert_eq!(outcome.stdout(), "", "{input}");
    }
}

#[test]
fn a_folder_without_memory_gets_nothing_and_keeps_nothing() {
    for git in [false, true] {
        let case = Case::empty();
        if git {
            case.git_init();
        }
        let before = case.whole_tree();
        for (line, input, _) in STARTS.into_iter().chain(SUMMARIES) {
            assert_eq!(hook(&case, line, input), "");
        }
        assert_eq!(hook(&case, "session-end", "claude/session-end"), "");
        assert_eq!(case.whole_tree(), before);
    }
}

#[test]
fn the_sessions_own_folder_names_the_project() {
    let case = Case::new(VBW);
    fs::create_dir_all(case.root().join("sub")).unwrap();
    let elsewhere = Case::empty();
    let input = format!("{{\"cwd\":{:?}}}", case.root().join("sub"));
    let outcome = elsewhere.run("hook session-start").stdin(input).success();
    assert_eq!(name_of(&outcome.json()), "SessionStart");
    let by_variable = elsewhere.run("hook session-start").stdin("{}");
    let by_variable = by_variable.env("CLAUDE_PROJECT_DIR", case.root()).success();
    assert_eq!(by_variable.json(), outcome.json());
    assert!(elsewhere.whole_tree().is_empty());
}

#[test]
fn a_problem_goes_to_the_log_and_not_to_the_session() {
    let case = Case::new(VBW);
    case.run("sync").success();
    let edited = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    case.write("CLAUDE.md", edited + "<!-- annals:end -->\n");
    let outcome = case.run("hook session-end").stdin("{}").success();
    assert_eq!((outcome.stdout(), outcome.stderr()), (String::new(), String::new()));
    let log = String::from_utf8(case.read(".annals/hook.log").unwrap()).unwrap();
    assert!(
        log.starts_with("2026-03-01T12:00:00Z SessionEnd: CLAUDE.md:1: the markers of the block"),
        "{log}"
    );
    case.write("annals.toml", "nonsense = 1\n");
    let outcome = case.run("hook session-start").stdin("{}").success();
    assert_eq!(outcome.stdout(), "");
}

#[test]
fn the_largest_real_folders_fit_below_the_limit() {
    let Some(corpus) = corpus() else {
        return;
    };
    let mut seen = 0;
    for folder in project_folders(&corpus) {
        let input = format!("{{\"hook_event_name\":\"SessionStart\",\"cwd\":{folder:?}}}");
        let case = Case::empty();
        let outcome = case.run("hook session-start").stdin(input).success();
        if outcome.stdout().is_empty() {
            continue;
        }
        let answer = outcome.json();
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        assert!(text.encode_utf16().count() <= LIMIT, "{}", folder.display());
        let tokens = annals::text::estimate_tokens(&text);
        assert!(tokens <= 1_200, "{}: {tokens} tokens", folder.display());
        let lists = text.split("\n## ").map(|list| list.matches("\n- ").count());
        assert!(lists.max().unwrap() <= 5, "{}", folder.display());
        let context = fs::read_to_string(folder.join("CLAUDE.md")).unwrap_or_default();
        let known: Vec<String> = context.lines().map(folded).collect();
        for line in text.lines().filter(|line| line.starts_with("- ")) {
            assert!(!known.contains(&folded(line)), "{}: {line}", folder.display());
        }
        seen += 1;
    }
    assert!(seen > 0);
}

/// Returns the words of a text, so that two forms of one line are equal.
fn folded(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!(" {} ", words.join(" "))
}

fn project_folders(corpus: &Path) -> Vec<std::path::PathBuf> {
    let names = tree_of_folders(corpus, 3);
    let is_planned = |folder: &std::path::PathBuf| {
        [".vbw-planning", ".yolo-planning", ".planning"]
            .iter()
            .any(|name| folder.join(name).is_dir())
    };
    names.into_iter().filter(is_planned).collect()
}

fn tree_of_folders(folder: &Path, depth: usize) -> Vec<std::path::PathBuf> {
    let mut found = vec![folder.to_owned()];
    if depth > 0 {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for below in entries.filter(|path| path.is_dir() && !path.is_symlink()) {
            found.extend(tree_of_folders(&below, depth - 1));
        }
    }
    found
}

/// Runs a hook on a recorded input and returns what it printed; stderr must stay empty.
fn hook(case: &Case, line: &str, input: &str) -> String {
    let recorded = fs::read_to_string(format!("tests/hooks/{input}.json")).unwrap();
    let recorded = recorded
        .replace("[ROOT]", case.root().to_str().unwrap())
        .replace("[HOME]", case.home().to_str().unwrap());
    let outcome = case.run(&format!("hook {line}")).stdin(recorded).success();
    outcome.stdout()
}

fn told(case: &Case, line: &str, input: &str, event: &str) -> String {
    let answer: Value = serde_json::from_str(&hook(case, line, input)).unwrap();
    assert_eq!(name_of(&answer), event);
    assert_eq!(answer.as_object().unwrap().len(), 1);
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

fn name_of(answer: &Value) -> String {
    answer["hookSpecificOutput"]["hookEventName"].as_str().unwrap().to_owned()
}

fn without_context_file() -> Case {
    let case = Case::new(VBW);
    fs::remove_file(case.root().join("CLAUDE.md")).unwrap();
    case
}

fn finish_phase_four(case: &Case) {
    let folder = ".vbw-planning/phases/04-low-stock-alerts";
    let first =
        String::from_utf8(case.read(&format!("{folder}/04-01-SUMMARY.md")).unwrap()).unwrap();
    for plan in ["02", "03"] {
        let summary = first
            .replace("04-01", &format!("04-{plan}"))
            .replace("plan: 01", &format!("plan: {plan}"));
        case.write(&format!("{folder}/04-{plan}-SUMMARY.md"), summary);
    }
    assert_eq!(tree(&case.root().join(folder)).len(), 6);
}

#[test]
fn a_breadcrumb_is_left_before_a_compaction_and_read_after_it() {
    for (line, input) in [
        ("pre-compact", "claude/pre-compact"),
        ("pre-compact --harness codex", "codex/pre-compact"),
        ("pre-compact --harness gemini", "gemini/pre-compress"),
    ] {
        let case = Case::new(VBW);
        assert_eq!(hook(&case, line, input), "");
        let notepad = String::from_utf8(case.read(".vibekit/notepad.md").unwrap()).unwrap();
        let crumb = notepad.lines().find(|line| line.starts_with("- [2026-03-01T12:00Z] "));
        let crumb = crumb.unwrap_or_else(|| panic!("{notepad}"));
        assert!(crumb.contains(": phase 4 - Low-Stock Alerts ("), "{crumb}");
        assert!(crumb.ends_with("next /vbw:vibe --execute 4"), "{crumb}");
        let text = told(&case, "session-start", "claude/session-start-compact", "SessionStart");
        let place = text.find("Before compaction (").unwrap();
        assert!(text.find("## Blockers").unwrap() > place, "{text}");
        let text = told(&case, "session-start", "claude/session-start", "SessionStart");
        assert!(!text.contains("Before compaction ("), "{text}");
    }
    let unplanned = Case::empty();
    unplanned.run("remember the gate is red").success();
    assert_eq!(hook(&unplanned, "pre-compact", "claude/pre-compact"), "");
    assert_eq!(unplanned.read(".vibekit/notepad.md"), None);
}

#[test]
fn the_ledger_is_told_and_is_memory_enough() {
    if !require("git") {
        return;
    }
    let case = Case::empty();
    case.git_init();
    case.write("a", "b");
    case.commit("First", "2026-02-01T08:00:00Z");
    case.run("ledger init").success();
    let constraints = String::from_utf8(case.read("docs/memory/CONSTRAINTS.md").unwrap()).unwrap();
    let rule =
        constraints.replacen("## Rules\n", "## Rules\n- Never write outside of the root\n", 1);
    assert_ne!(rule, constraints);
    case.write("docs/memory/CONSTRAINTS.md", rule);
    let text = told(&case, "session-start", "claude/session-start", "SessionStart");
    assert!(text.contains("## Constraints\n"), "{text}");
    assert!(text.contains("- Rules: Never write outside of the root\n"), "{text}");
}

#[test]
fn a_part_that_cannot_be_read_does_not_take_the_rest_with_it() {
    let case = Case::new(VBW);
    fs::create_dir_all(case.root().join(".vibekit/notepad.md")).unwrap();
    let text = told(&case, "session-start", "claude/session-start", "SessionStart");
    assert!(text.contains("## Blockers"), "{text}");
    let log = String::from_utf8(case.read(".annals/hook.log").unwrap()).unwrap();
    assert!(log.contains(".vibekit/notepad.md: cannot load notepad: is a directory"), "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_hook_that_runs_out_of_time_leaves_no_child_process() {
    use std::os::unix::fs::PermissionsExt;

    if !require("git") {
        return;
    }
    let case = Case::new(VBW);
    case.run("sync").success();
    case.git_init();
    case.commit("Begin", "2026-02-01T10:00:00Z");
    // A git that hangs, and a process of its own that does.
    case.write("bin/git", "#!/bin/sh\nsleep 600 &\necho $$ $! >>\"$PIDS\"\nwait\n");
    let git = case.root().join("bin/git");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let pids = case.root().join("pids");
    let path = format!("{}:/usr/bin:/bin", case.root().join("bin").display());
    case.run("hook session-end --harness claude")
        .stdin("{}")
        .env("PATH", path)
        .env("PIDS", &pids)
        .success();
    let started = fs::read_to_string(&pids).unwrap();
    let ids: Vec<&str> = started.split_whitespace().collect();
    assert!(ids.len() >= 2, "{started}");
    for id in ids {
        // Killed is soon gone, or waits only for whoever counts the dead.
        let is_alive = || {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let state = stat.rsplit(") ").next().unwrap_or_default().to_owned();
            !stat.is_empty() && !state.starts_with('Z')
        };
        assert!((0..100_000).any(|_| !is_alive()), "process {id} is still there");
    }
}

#[test]
fn the_start_has_the_whole_state_of_the_ledger() {
    let case = Case::empty();
    case.run("ledger init").success();
    let update = serde_json::json!({
        "state": {"objective": "Ship", "active_work": ["read", "write", "seek"], "blockers": ["CI is down"],
            "next_actions": ["call ops"],
            "quick_reference": {"run": "make run", "test": "make test", "entry_point": "src/main.rs"}},
        "constraints": [
            {"op": "add", "section": "Infrastructure", "bullet": "alpha host"},
            {"op": "add", "section": "Infrastructure", "bullet": "beta queue"},
            {"op": "add", "section": "Rules", "bullet": "never rewrite lines"},
            {"op": "add", "section": "Rules", "bullet": "tests before merge"},
            {"op": "add", "section": "Rules", "bullet": "times are UTC"},
            {"op": "add", "section": "Hazards", "bullet": "the purge left the index behind (fixed 2026-02-17)"},
            {"op": "add", "section": "Hazards", "bullet": "prod shares the staging disk"}]
    });
    case.run("ledger update").stdin(update.to_string()).success();
    let (line, input, event) = STARTS[0];
    let text = told(&case, line, input, event);
    for part in
        ["CI is down", "call ops", "make test", "src/main.rs", "prod shares the staging disk"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("the purge left"), "{text}");
}
