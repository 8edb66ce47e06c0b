use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<(NotepadSection, &str)> {
    let notepad = Notepad::parse(text);
    let sections = notepad.sections.clone();
    let content = |section| &text[notepad.content(section).unwrap()];
    let pairs = sections.iter().map(|found| (found.which, content(found.which)));
    pairs.collect()
}

#[test]
fn sections_are_found_under_odd_headings_in_any_order() {
    let text = "# **MANUAL**\nmine\n### 📌 priority context (max 500 chars)\n- a\n\n---\nWorking Memory\n-----\n- b\n";
    let expected = [
        (NotepadSection::Manual, "mine\n"),
        (NotepadSection::Priority, "- a\n"),
        (NotepadSection::Working, "- b\n"),
    ];
    assert_eq!(found(text), expected);
    let bold = "**Priority Context:**\n- a\n\n**Working Memory**\n- b\n";
    let expected = [(NotepadSection::Priority, "- a\n"), (NotepadSection::Working, "- b\n")];
    assert_eq!(found(bold), expected);
}

#[test]
fn a_rule_at_the_end_is_not_content() {
    let alone = "## Priority Context\n- a\n\n---\n";
    assert_eq!(found(alone), [(NotepadSection::Priority, "- a\n")]);
    let followed = format!("{alone}## Manual\nb\n");
    let expected = [(NotepadSection::Priority, "- a\n"), (NotepadSection::Manual, "b\n")];
    assert_eq!(found(&followed), expected);
    let between = "## Manual\na\n\n---\nb\n";
    assert_eq!(found(between), [(NotepadSection::Manual, "a\n\n---\nb\n")]);
}

#[test]
fn a_heading_of_the_users_ends_a_section_and_a_deeper_one_does_not() {
    let text = "## Priority Context\n- a\n### Why\nb\n## Mine\nc\n## Manual\nd\n";
    let expected =
        [(NotepadSection::Priority, "- a\n### Why\nb\n"), (NotepadSection::Manual, "d\n")];
    assert_eq!(found(text), expected);
}

#[test]
fn headings_in_fences_quotes_and_comments_are_text() {
    for text in
        ["```\n## Manual\n```\n", "> ## Manual\n", "<!--\n## Manual\n-->\n", "- ## Manual\n"]
    {
        assert_eq!(found(text), [], "{text:?}");
    }
    assert_eq!(found("## Manual testing steps\n"), []);
}

#[test]
fn a_second_heading_of_a_section_counts_as_text() {
    let text = "## Manual\na\n### Manual\nb\n";
    assert_eq!(found(text), [(NotepadSection::Manual, "a\n### Manual\nb\n")]);
}

/// Generates pieces that could be mistaken for structure, and ordinary ones.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"# Vibekit Notepad\n\n"[..]),
        Just(&b"## Priority Context\n"[..]),
        Just(&b"## Working Memory\r\n"[..]),
        Just(&b"### Manual:\n"[..]),
        Just(&b"**Working Memory**\n"[..]),
        Just(&b"Manual\n===\n"[..]),
        Just(&b"## Mine\n"[..]),
        Just(&b"- [2026-01-01T00:00Z] old\n"[..]),
        Just(&b"  - nested\r\n"[..]),
        Just(&b"> - quoted\n"[..]),
        Just(&b"```\n"[..]),
        Just(&b"<!--"[..]),
        Just(&b"-->\n"[..]),
        Just(&b"---\n"[..]),
        Just(&b"\n"[..]),
        Just(&b"\r\n"[..]),
        Just(&b"\xff\xc3"[..]),
        Just(&b"mine"[..]),
        Just("日本 🎉 \u{5d0}".as_bytes()),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn noted() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("## Working Memory"),
        Just("\n### Priority Context\n"),
        Just("\n**Manual**\n"),
        Just("\n"),
        Just("\n#### deep\n"),
        Just("```"),
        Just("<!--"),
        Just("---"),
        Just("a fact"),
        Just("日🎉"),
    ];
    proptest::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

fn clock() -> Clock {
    Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()
}

fn content(notepad: &Notepad<'_>, text: &str, section: NotepadSection) -> Option<String> {
    Some(text[notepad.content(section)?].trim().to_owned())
}

#[test]
fn a_working_note_made_again_replaces_the_equal_one() {
    let note = |text| Note {
        section: NotepadSection::Working,
        text,
        secrets: SecretPolicy::Refuse,
        request_id: None,
    };
    let old = "## Working Memory\n- [2026-02-28T08:00Z] other\n- [2026-02-27T08:00Z] same\n- [2026-02-26T08:00Z] same\n  and more\n";
    let mut bytes = old.as_bytes().to_vec();
    insert(&mut bytes, &clock(), &note("same")).unwrap();
    let expected = "## Working Memory\n- [2026-03-01T12:00Z] same\n- [2026-02-28T08:00Z] other\n- [2026-02-26T08:00Z] same\n  and more\n";
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn a_note_goes_below_a_final_rule_and_above_a_rule_between_sections() {
    let noted = |old: &str| {
        let note = Note {
            section: NotepadSection::Manual,
            text: "b",
            secrets: SecretPolicy::Refuse,
            request_id: None,
        };
        let mut new = old.as_bytes().to_vec();
        insert(&mut new, &clock(), &note).unwrap();
        String::from_utf8(new).unwrap()
    };
    let last = noted("## Manual\na\n\n---\n");
    assert!(last.starts_with("## Manual\na\n\n---\n"), "{last}");
    let parted = noted("## Manual\na\n\n---\n## Mine\nc\n");
    assert!(parted.ends_with("\n---\n## Mine\nc\n"), "{parted}");
    assert!(parted.starts_with("## Manual\na\n"), "{parted}");
}

proptest! {
    #[test]
    fn any_note_in_any_text_keeps_every_other_byte_and_section(
        old in hostile(), text in noted(), section in 0_usize..3,
    ) {
        let section = NotepadSection::ALL[section];
        let text = match section {
            NotepadSection::Working => text.replace('\n', " "),
            _ => text,
        };
        let note = Note { section, text: &text, secrets: SecretPolicy::Refuse, request_id: None };
        let mut new = old.clone();
        if insert(&mut new, &clock(), &note).is_err() {
            prop_assert_eq!(new, old);
            return Ok(());
        }
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let behind = old[same..].iter().rev().zip(new.iter().rev());
        let behind = behind.take_while(|(a, b)| a == b).count();
        prop_assert_eq!(same + behind, old.len(), "one insertion");
        let (before, after) = (same_length_text(&old), same_length_text(&new));
        let (was, is) = (Notepad::parse(&before), Notepad::parse(&after));
        for other in NotepadSection::ALL.into_iter().filter(|other| *other != section) {
            let was = content(&was, &before, other);
            prop_assert_eq!(was, content(&is, &after, other));
        }
        let body = is.section(section).unwrap().body.clone();
        let held = after[body].replace("\r\n", "\n");
        prop_assert!(held.contains(&text), "{held:?}");
    }
}

fn prune(text: &str) -> String {
    let now = parse_timestamp("2026-03-01T12:00Z").unwrap();
    let mut rest = text.to_owned();
    for range in old_bullets(text, now).into_iter().rev() {
        rest.replace_range(range, "");
    }
    rest
}

#[test]
fn only_bullets_older_than_seven_days_are_removed() {
    let text = "## Working Memory\n- [2026-02-22T12:00Z] to the minute\n- [2026-02-22T11:59Z] old\n* [2026-02-22] the day is not over\n- [2026-02-21] old\n- undated\n";
    let rest = "## Working Memory\n- [2026-02-22T12:00Z] to the minute\n* [2026-02-22] the day is not over\n- undated\n";
    assert_eq!(prune(text), rest);
}

#[test]
fn only_indented_lines_below_a_bullet_are_removed_with_it() {
    let text = "## Working Memory\r\n- [2026-01-01T00:00Z] old\r\n  wrapped\r\n\r\n  - nested\r\n\r\nmine\r\n- [2026-01-02T00:00Z] old\r\nbelow\r\n";
    assert_eq!(prune(text), "## Working Memory\r\n\r\nmine\r\nbelow\r\n");
}

#[test]
fn other_sections_fences_and_quotes_are_left_alone() {
    let text = "## Priority Context\n- [2026-01-01T00:00Z] a\n## Working Memory\n```\n- [2026-01-01T00:00Z] b\n```\n> - [2026-01-01T00:00Z] c\n\n- d\n  - [2026-01-01T00:00Z] e\n## Manual\n- [2026-01-01T00:00Z] f\n";
    assert_eq!(prune(text), text);
}

#[test]
fn an_indented_list_loses_only_its_old_bullets() {
    for indent in [" ", "  ", "   "] {
        let old = format!("{indent}- [2020-01-01T10:00Z] old\n{indent}    below\n");
        let new = format!("{indent}- [2099-01-02T10:00Z] new\n{indent}  - nested\n");
        let text = format!("## Working Memory\n{old}{old}{new}{old}{new}");
        assert_eq!(prune(&text), format!("## Working Memory\n{new}{new}"), "{indent:?}");
    }
    let stairs =
        "## Working Memory\n- [2020-01-01] old\n - [2020-01-02] old\n  - [2099-01-02] new\n";
    assert_eq!(prune(stairs), "## Working Memory\n  - [2099-01-02] new\n");
}

#[test]
fn a_bullet_with_an_invalid_time_is_kept() {
    let text = "## Working Memory\n- [2026-13-01T00:00Z] a\n- [TODO] b\n";
    assert_eq!(prune(text), text);
}

proptest! {
    #[test]
    fn any_text_keeps_what_is_no_old_bullet(
        lines in proptest::collection::vec(prop_oneof![
            Just("## Working Memory"), Just("## Manual"), Just("## Mine"),
            Just("- [2026-01-01T00:00Z] old"), Just("- [2026-03-01T00:00Z] new"),
            Just("  - [2026-01-01T00:00Z] old"),
            Just("  below"), Just("```"), Just("mine"), Just(""), Just("> quoted"), Just("日本"),
        ], 0..24),
        is_crlf in any::<bool>(),
    ) {
        let newline = if is_crlf { "\r\n" } else { "\n" };
        let text = lines.join(newline);
        let rest = prune(&text);
        let foreign = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("old") && *line != "  below");
            let lines = lines.filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        prop_assert_eq!(foreign(&text), foreign(&rest));
        // A bullet that was nested in a removed one stands alone now, and may be too old itself.
        prop_assert_eq!(foreign(&text), foreign(&prune(&rest)));
    }
}
