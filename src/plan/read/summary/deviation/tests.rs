use std::path::Path;

use super::*;

fn read(text: &str) -> (Option<u32>, Vec<Deviation>) {
    let document = Document::parse(text, Path::new("a.md"), &mut Vec::new());
    let (count, list) = deviations(&document);
    (count, list.unwrap_or_default())
}

fn items(text: &str) -> Vec<(String, String)> {
    read(text).1.into_iter().map(|item| (item.text, item.kind.unwrap_or_default())).collect()
}

fn item(text: &str, kind: &str) -> (String, String) {
    (text.to_owned(), kind.to_owned())
}

#[test]
fn fixes_are_entries_and_their_details_are_not() {
    let text = "## Deviations from Plan\n\n### Auto-fixed Issues\n\n**1. [Rule 1 - Bug] Wrong date**\n- **Found during:** Task 2\n- **Issue:** It was a number\n- **Fix:** Read it as text\n\n**2. [Rule 3 - Blocking] Missing crate**\n- **Found during:** Task 3\n\n---\n\n**Total deviations:** 2 auto-fixed (1 bug, 1 blocking)\n**Impact on plan:** None\n\n## Issues Encountered\n- Not one\n";
    assert_eq!(
        items(text),
        [
            item("[Rule 1 - Bug] Wrong date", "Rule 1 - Bug"),
            item("[Rule 3 - Blocking] Missing crate", "Rule 3 - Blocking"),
        ]
    );
    assert_eq!(read(text).0, Some(2));
}

#[test]
fn bullets_without_labels_below_a_head_tell_the_problem() {
    let text = "## Deviations\n\n**[Rule 1 - Bug] Fixed the date**\n- The field held\n  a `u8`\n- Read as text\n- **Files:** `a.rs`\n\n**[Rule 3] Added crates:**\n- `serde`\n\n**Impact:** none\n- no more\n";
    let found = read(text).1;
    assert_eq!(found[0].issue.as_deref(), Some("The field held a `u8`. Read as text"));
    assert_eq!((&*found[0].files, &found[1].issue), (&["a.rs".to_owned()][..], &None));
}

#[test]
fn decisions_in_a_section_of_both_are_no_deviations() {
    let head = "## Decisions & Deviations\n\n";
    for (text, expected) in [
        ("- Kept one table\n- Split it later\n", None),
        ("We kept one table.\n", None),
        ("- Kept one table\n- [Rule 1 - Bug] Wrong date\n", Some(1)),
        ("- No deviations\n- Kept one table\n", Some(0)),
        ("**Decisions:**\n- Kept one table\n\n**Deviations:**\n- Task 3 skipped\n", Some(1)),
        ("### Decisions\n- Kept one table\n\n### Deviations\n- Task 3 skipped\n", Some(1)),
    ] {
        assert_eq!(read(&format!("{head}{text}")).0, expected, "{text}");
    }
    assert_eq!(read("## Deviations from Decisions\n- Task 3 skipped\n").0, Some(1));
}

#[test]
fn headings_bullets_tables_and_bold_leads_are_entries() {
    for (text, expected) in [
        (
            "## Deviations\n### DEVN-02: Moved the file\nIt was in the way.\n\n### DEVN-02: Renamed it\n- **Fix:** x\n",
            vec![
                item("DEVN-02: Moved the file", "DEVN-02"),
                item("DEVN-02: Renamed it", "DEVN-02"),
            ],
        ),
        (
            "## Deviations\n- Task 3 skipped: not needed\n- **Telemetry not added**: no place for it\n  - a detail\n- None.\n",
            vec![
                item("Task 3 skipped: not needed", ""),
                item("**Telemetry not added**: no place for it", ""),
            ],
        ),
        (
            "## Deviations\n\n| ID | Description | Impact |\n|---|---|---|\n| DEVN-01 | Moved it | None |\n| None | No deviations from plan | N/A |\n",
            vec![item("Moved it", "DEVN-01")],
        ),
        (
            "## Deviations\n**Scope narrowed.** The module is not wired.\n\n**Hash noted.** Keys are sorted.\n",
            vec![
                item("**Scope narrowed.** The module is not wired.", ""),
                item("**Hash noted.** Keys are sorted.", ""),
            ],
        ),
        (
            "## Deviations\n### Auto-added: Migration\n- **Found during:** Task 1\n\n### Minor scope\n- One more test\n",
            vec![item("Auto-added: Migration", ""), item("One more test", "")],
        ),
        (
            "## Task 1\n### Deviations\n- first\n## Task 2\n### Deviations\n- second\n",
            vec![item("first", ""), item("second", "")],
        ),
        (
            "## Deviations\nThree judgment-call deviations:\n\n1. Pinned the model\n2. Removed the schema\n",
            vec![item("Pinned the model", ""), item("Removed the schema", "")],
        ),
    ] {
        assert_eq!(items(text), expected, "{text}");
    }
}

#[test]
fn none_is_none_in_many_words() {
    for text in [
        "None",
        "None.",
        "- None",
        "**None.**",
        "- No deviations.",
        "None - plan executed exactly as written.",
        "None. All must-haves met.",
        "None remaining as contract deviations. ~~DEVN-02~~",
        "_Plan executed exactly as written._",
        "There were no deviations.",
        "The plan was executed exactly as written.",
        "Plan executed without deviations.",
        "Executed as planned.",
        "All 2 tasks completed exactly as specified.",
        "Everything went according to plan.",
        "Es gab keine Abweichungen.",
        "None - all good, but note the order.",
        "No deviations: all tests except the slow ones ran.",
        "Sin desviaciones.",
        "Отклонений нет.",
        "无。",
        "没有偏差。",
    ] {
        let found = read(&format!("## Deviations from Plan\n\n{text}\n"));
        assert_eq!(found, (Some(0), Vec::new()), "{text}");
    }
    for text in [
        "None of the tests could run",
        "None, except that the cache was left out.",
        "No deviations, but the cache was left out.",
        "Executed as one commit",
        "As planned we could not use sled; replaced by sqlite",
        "Implemented as specified in RFC 7231 instead of the draft",
        "Sin desviaciones, excepto la caché",
        "Plan executed without the tests",
    ] {
        assert_eq!(read(&format!("## Deviations\n\n{text}\n")).0, Some(1), "{text}");
        assert_eq!(items(&format!("## Deviations\n- {text}\n")).len(), 1, "{text}");
    }
}

#[test]
fn what_follows_a_none_is_no_deviation() {
    for text in [
        "None - plan executed exactly as written.\n\n**Verification performed:**\n- imports checked\n- all tests pass\n",
        "**None - plan executed exactly as written**\n\nThe plan asked for two checks, and both were made.\n",
        "None. Every must-have is met:\n\n- \u{2713} The page exists\n- The second page exists, too\n\n**Order kept.** As asked.\n",
        "None.\n\n### Deferred Issues\n\n**1. Slow build**\n- **Symptom:** minutes\n",
        "None material. Two notes:\n\n1. **Kept the name.** It was taken.\n2. Ran the build twice\n",
        "- None.\n- Ran the build twice\n",
        "None.\n\n| Path | Deviation |\n|---|---|\n| a | 3 % |\n",
    ] {
        let found = read(&format!("## Deviations from Plan\n\n{text}"));
        assert_eq!(found, (Some(0), Vec::new()), "{text}");
    }
}

#[test]
fn what_names_its_rule_counts_behind_a_none() {
    for text in [
        "None major - two in the text.\n\n1. **[Rule 1 - Bug] Wrong date.** It was a number.\n2. **[Rule 3 - Blocking] No crate.** Added.\n",
        "None beyond the following:\n\n- [Rule 1] Wrong date\n- [Rule 3] No crate\n",
        "None beyond these two:\n\n- Wrong date\n- No crate\n",
        "None, except for the following:\n\n- Wrong date\n- No crate\n",
    ] {
        assert_eq!(items(&format!("## Deviations\n\n{text}")).len(), 2, "{text}");
    }
}

#[test]
fn a_heading_over_numbered_entries_is_none_itself() {
    let text = "## Deviations\n\n### Rule 3 \u{2014} Auto-fixed blocking issues\n\n**1. Wrong date**\n- **Fix:** x\n\n\
                **2. [Rule 3] No crate**\n- **Issue:** y\n\n### Auto-fixed Issues (Rule 1: Bugs)\n\n**3. No lock**\n- **Fix:** z\n";
    assert_eq!(
        items(text),
        [item("Wrong date", ""), item("[Rule 3] No crate", "Rule 3"), item("No lock", "")]
    );
}

#[test]
fn decisions_checks_and_measurements_are_no_deviations() {
    for text in [
        "### Decisions (followed plan)\n- D-01: one file\n- D-02: two files\n",
        "### Deferred Enhancements\n- Several calendars\n",
        "### [Verified, not trusted] The checks fire\n\n| Pattern | Good file |\n|---|---|\n| `a` | MATCH |\n",
        "### Scope Notes\n- The first task was complete already\n",
        "### Rule 1/2/3 issues: None.\n",
        "**No other deviations.** No rule was needed.\n",
        "- **Scope note (not a deviation):** the second walk was left alone\n",
    ] {
        let text =
            format!("## Deviations\n\n**1. [Rule 1 - Bug] Wrong date**\n- **Fix:** x\n\n{text}");
        assert_eq!(items(&text), [item("[Rule 1 - Bug] Wrong date", "Rule 1 - Bug")], "{text}");
    }
}

#[test]
fn a_heading_with_labels_in_brackets_is_one_deviation() {
    let text = "## Deviations\n\n### Iter 1 \u{2014} cells in one column\n\n**Defect (a user's first try):** Cells stacked.\n\n\
                **Fix (0a1b2c3):** A wrapper.\n\n- **Inline**: kept\n\n| Path | left |\n|---|---|\n| text | 30px |\n";
    let (_, found) = read(text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].issue.as_deref(), Some("Cells stacked."));
    assert_eq!(found[0].fix.as_deref(), Some("A wrapper."));
}
