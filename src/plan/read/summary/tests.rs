use super::*;

fn parse(text: &str) -> Summary {
    Summary::parse(text, Path::new("phases/05.1-parser/05.1-02-SUMMARY.md")).value
}

fn deviations(front: &str, body: &str) -> (Option<u32>, Option<Vec<String>>) {
    let summary = parse(&format!("---\n{front}\n---\n{body}"));
    let texts = summary.deviations.map(|list| list.into_iter().map(|one| one.text).collect());
    (summary.deviation_count, texts)
}

#[test]
fn a_summary_of_the_first_tool_is_read_whole() {
    let text = "---\nphase: \"05.1\"\nplan: \"02\"\ntitle: Parser\nstatus: complete\ncompleted: 2026-02-11\ntasks_completed: 5\ntasks_total: 5\ncommit_hashes:\n  - 84e9493\n  - 0753326\nfiles_modified:\n  - src/a.rs\nduration_seconds: 90\nac_results:\n  - criterion: it parses\n    verdict: pass\n    evidence: a.rs\ndeviations: []\n---\n\nReads files.\n\n## Decisions\n\n| Decision | Rationale |\n|---|---|\n| Keep text | YAML lies |\n";
    let summary = parse(text);
    assert_eq!(summary.phase.as_deref(), Some("5.1"));
    assert_eq!(summary.plan.as_deref(), Some("2"));
    assert_eq!(summary.title.as_deref(), Some("Parser"));
    assert_eq!(summary.status, Some(PlanState::Complete));
    assert_eq!(summary.duration_minutes.map(Minutes::as_f64), Some(1.5));
    assert_eq!(summary.completed, NaiveDate::from_ymd_opt(2026, 2, 11));
    assert_eq!(summary.deviations, Some(Vec::new()));
    assert_eq!(summary.commits.unwrap(), ["84e9493", "0753326"]);
    assert_eq!(summary.files.unwrap(), ["src/a.rs"]);
    assert_eq!(summary.acceptance.unwrap()[0].verdict.as_deref(), Some("pass"));
    let decisions = summary.decisions.unwrap();
    assert_eq!(decisions[0].text, "Keep text");
    assert_eq!(decisions[0].rationale.as_deref(), Some("YAML lies"));
    assert_eq!(summary.patterns, None);
}

#[test]
fn a_summary_without_front_matter_is_read_from_its_body() {
    let text = "# Phase 5.1 Plan 2: Parser Summary\n\n**Reads what people write**\n\n## Performance\n\n- **Duration:** 13 min\n- **Completed:** 2025-12-24T14:57:40Z\n- **Tasks:** 3\n\n## Files Created/Modified\n- `src/a.rs` - new\n\n## Deviations from Plan\n\nNone - plan executed exactly as written.\n";
    let summary = parse(text);
    assert_eq!(summary.phase.as_deref(), Some("5.1"));
    assert_eq!(summary.plan.as_deref(), Some("2"));
    assert_eq!(summary.title.as_deref(), Some("Phase 5.1 Plan 2: Parser Summary"));
    assert_eq!(summary.status, None);
    assert_eq!(summary.duration_minutes.map(Minutes::as_f64), Some(13.0));
    assert_eq!(summary.completed, NaiveDate::from_ymd_opt(2025, 12, 24));
    assert_eq!(summary.tasks.completed, Some(3));
    assert_eq!((summary.deviation_count, summary.commits), (Some(0), None));
}

const TOLD: &str = "## Deviations\n- told one\n- told two\n";

/// Front matter, body, and the count and list that result from merging them.
type Case = (&'static str, &'static str, Option<u32>, Option<&'static [&'static str]>);

const BOTH: &[Case] = &[
    (
        "deviations:\n  - stated",
        "## Deviations\nTold in other words.\n",
        Some(1),
        Some(&["stated"]),
    ),
    ("deviations:\n  - stated", TOLD, Some(2), Some(&["told one", "told two"])),
    ("deviations: 3", TOLD, Some(3), Some(&["told one", "told two"])),
    ("deviations: 1", TOLD, Some(2), Some(&["told one", "told two"])),
    ("deviations: 3", "", Some(3), None),
    ("deviations: none", "", Some(0), Some(&[])),
    ("deviations: keine", "", Some(0), Some(&[])),
    ("plan: 1", "## Deviations\n\nAucune.\n", Some(0), Some(&[])),
    ("plan: 1", "## Deviations\n\n- Keine Abweichungen\n", Some(0), Some(&[])),
    ("deviations: \"None\"", "## Deviations\n\nOne word on the numbers.\n", Some(0), Some(&[])),
    ("deviations: []", TOLD, Some(2), Some(&["told one", "told two"])),
    ("deviations:\n  count: 2\n  items:\n    - one\n    - two", "", Some(2), Some(&["one", "two"])),
    ("deviations: {count: 2}", "", Some(2), None),
    ("deviations: [None]", "", Some(0), Some(&[])),
    ("deviations: See below", TOLD, Some(2), Some(&["told one", "told two"])),
    ("deviations: Moved the file", "", Some(1), Some(&["Moved the file"])),
    ("plan: 1", "## Deviations\n\nOne.\n\nMore on it.\n", Some(1), Some(&["One."])),
    ("plan: 1", "## Deviations\n\n**Total deviations:** 4 auto-fixed\n", Some(4), None),
    ("plan: 1", "", None, None),
    ("deviations:", "", None, None),
    ("plan: 1", "## Deviations\n", None, None),
    ("plan: 1", "## Deviations\n\nNone.\n", Some(0), Some(&[])),
    ("plan: 1", "- **Deviations:** 0\n", Some(0), Some(&[])),
    (
        "deviations:\n  - one\n  - two",
        "## Deviations\nSee frontmatter. By part:\n- a (1)\n- b (1)\n- c (0)\n",
        Some(2),
        Some(&["one", "two"]),
    ),
];

#[test]
fn front_matter_and_body_tell_one_list() {
    for (front, body, count, list) in BOTH {
        let list = list.map(|list| list.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(deviations(front, body), (*count, list), "{front} / {body}");
    }
}

#[test]
fn mappings_have_kinds() {
    let text = "---\ndeviations:\n  - {type: scope, description: Left out the port}\n  - code: DEVN-02\n    description: Moved it\n  - {\"id\":\"D1\",\"type\":\"process\",\"description\":\"Not run\"}\n  - DEVN-01: renamed it\n  - 'DEVN-05 (minor): old failure'\n---\n";
    let found: Vec<_> = parse(text)
        .deviations
        .unwrap()
        .into_iter()
        .map(|one| (one.text, one.kind.unwrap_or_default()))
        .collect();
    let expected = [
        ("Left out the port", "scope"),
        ("Moved it", "DEVN-02"),
        ("Not run", "process"),
        ("DEVN-01: renamed it", "DEVN-01"),
        ("DEVN-05 (minor): old failure", "DEVN-05"),
    ];
    assert_eq!(found, expected.map(|(text, kind)| (text.to_owned(), kind.to_owned())));
}

#[test]
fn a_deviation_is_read_whole() {
    let body = "## Deviations from Plan\n\n### Auto-fixed Issues\n\n**1. [Rule 1 - Bug] Fixed it**\n\
                - **Found during:** Task 1\n- **Issue:** It was: broken\n- **Fix:** Mended\n\
                - **Files modified:** `src/b.rs`, src/a.rs (new)\n\n---\n\n\
                ### DEVN-02: Moved\n- **Files modified:** c.rs\n\n**Total deviations:** 2\n\n\
                ## Files\n- **Files modified:** other.rs\n";
    let found = parse(body).deviations.unwrap();
    assert_eq!(found[0].issue.as_deref(), Some("It was: broken"));
    assert_eq!(found[0].fix.as_deref(), Some("Mended"));
    assert_eq!(found[0].files, ["src/b.rs", "src/a.rs"]);
    assert_eq!((found[0].line, found[1].line), (5, 13));
    assert_eq!(found[1].files, ["c.rs"]);
}

#[test]
fn a_span_is_marked_as_derived() {
    let mut summary = parse("---\nplan: 2\n---\n");
    let moment = |text: &str| crate::clock::parse_timestamp(text).unwrap();
    summary.derive_duration(&[moment("2026-02-15T11:05:00Z"), moment("2026-02-15T11:00:00Z")]);
    assert_eq!(summary.duration_minutes.map(Minutes::as_f64), Some(5.0));
    assert!(summary.duration_derived);
}

#[test]
fn what_is_not_understood_is_a_warning() {
    let parsed = Summary::parse("---\nstatus: odd\nduration: 336\n---\n", Path::new("a.md"));
    assert_eq!(parsed.value.duration_minutes, None);
    let lines: Vec<_> = parsed.warnings.iter().map(|one| one.place.line).collect();
    assert_eq!(lines, [Some(2), Some(3)]);
}

#[test]
fn tasks_may_be_listed() {
    for (front, expected) in [
        ("tasks:\n  - name: a\n  - name: b\n    status: complete", Some(2)),
        ("tasks:\n  - name: a\n    status: pending", None),
        ("tasks: {done: 3}", None),
    ] {
        let summary = Summary::parse(&format!("---\n{front}\n---\n"), Path::new("a.md")).value;
        assert_eq!(summary.tasks.completed, expected, "{front}");
    }
}

#[test]
fn json_lines_are_a_summary() {
    let text = "{\"p\":\"03\",\"n\":\"01-03\",\"t\":\"Compiler\",\"s\":\"complete\",\"dt\":\"2026-02-16\",\"tc\":3,\"tt\":3,\"ch\":[\"3620409\"],\"fm\":[\"a.sh\"],\"dv\":[\"Moved it\"]}\n";
    let summary = Summary::parse(text, Path::new("01-x/01-03.summary.jsonl")).value;
    assert_eq!(summary.title.as_deref(), Some("Compiler"));
    assert_eq!(summary.tasks.total, Some(3));
    assert_eq!(summary.commits.unwrap(), ["3620409"]);
    assert_eq!(summary.deviation_count, Some(1));
    let rows = "{\"p\":\"03-02\",\"s\":\"complete\",\"tc\":2,\"dev\":0}\n{\"id\":\"T1\",\"s\":\"complete\",\"c\":\"04eb9da\",\"f\":[\"a.md\"]}\n{\"id\":\"T2\",\"s\":\"complete\",\"c\":\"6ec0491\",\"f\":[\"b.md\"]}\n";
    let summary = Summary::parse(rows, Path::new("03-x/03-02.summary.jsonl")).value;
    assert_eq!(summary.plan.as_deref(), Some("2"));
    assert_eq!(summary.commits.unwrap(), ["04eb9da", "6ec0491"]);
    assert_eq!(summary.files.unwrap(), ["a.md", "b.md"]);
    assert_eq!(summary.status, Some(PlanState::Complete));
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(text in "(---\n)?(([a-z_-]{0,12}: ?)?[\\PC\n#*|`\\[\\]{}-]{0,30}\n){0,12}(---\n)?\\PC*") {
        let summary = Summary::parse(&text, Path::new("01-x/01-01-SUMMARY.md")).value;
        proptest::prop_assert_eq!(PlanState::stated(&text), summary.status);
    }
}

#[test]
fn the_end_of_the_template_is_neither_an_issue_nor_a_lesson() {
    for heading in ["Issues Encountered", "Blockers", "Lessons Learned"] {
        let told = "- The index is built twice\n\n*One more:* it is slow\n";
        let end = "---\n*Phase: 01-base*\n*Completed: 2026-02-11*\n";
        let summary = parse(&format!("# Summary\n\n## {heading}\n\n{told}\n{end}"));
        let notes: Vec<&str> = summary.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(notes, ["The index is built twice", "*One more:* it is slow"]);
    }
}
