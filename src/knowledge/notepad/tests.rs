use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<(NotepadSection, String)> {
    let notepad = Notepad::parse(text);
    let content = |section| notepad.content(section).unwrap();
    let sections = notepad.headings.iter().filter_map(|heading| heading.which);
    sections.map(|section| (section, content(section))).collect()
}

#[test]
fn sections_are_found_under_decorated_headings_in_any_order() {
    let text = "# **MANUAL**\nmine\n### 📌 priority context (max 500 chars)\n- a\n\n# Working Memory\n- b\n";
    let expected = [
        (NotepadSection::Manual, "mine\n".to_owned()),
        (NotepadSection::Priority, "- a\n".to_owned()),
        (NotepadSection::Working, "- b\n".to_owned()),
    ];
    assert_eq!(found(text), expected);
}

#[test]
fn a_heading_of_the_users_ends_a_section_and_a_deeper_one_does_not() {
    let text = "## Priority Context\n- a\n### Why\nb\n## Mine\nc\n## Manual\nd\n";
    let expected =
        [(NotepadSection::Priority, "- a\n### Why\nb\n"), (NotepadSection::Manual, "d\n")];
    assert_eq!(found(text), expected.map(|(section, text)| (section, text.to_owned())));
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
fn all_sections_of_one_title_are_read_and_the_first_is_written() {
    let mut text = "## Working Memory\n- a\n## Mine\nc\n## Working Memory\n- [2026-01-01T00:00Z] b\n### Working Memory\nd\n".to_owned();
    let all = "- a\n- [2026-01-01T00:00Z] b\n### Working Memory\nd\n";
    let section = NotepadSection::Working;
    assert_eq!(Notepad::parse(&text).content(section).unwrap(), all);
    let (secrets, request_id) = (SecretPolicy::Refuse, None);
    let note = Note { section, text: "b", secrets, request_id, replaces_equal: true };
    insert(&mut text, &clock(), &note).unwrap();
    let expected = "## Working Memory\n- [2026-03-01T12:00Z] b\n- a\n## Mine\nc\n## Working Memory\n### Working Memory\nd\n";
    assert_eq!(text, expected);
}

/// Generates pieces that could be mistaken for structure, and ordinary ones.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(&b"# Vibekit Notepad\n\n"[..]),
        Just(&b"## Priority Context\n"[..]),
        Just(&b"## Working Memory\r\n"[..]),
        Just(&b"### Manual:\n"[..]),
        Just(&b"## Working Memory\n"[..]),
        Just(&b"# Manual\n"[..]),
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
        Just(&b"mine"[..]),
        Just("日本 🎉 \u{5d0}".as_bytes()),
    ];
    proptest::collection::vec(piece, 0..14)
        .prop_map(|pieces| String::from_utf8(pieces.concat()).unwrap())
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

fn content(notepad: &Notepad<'_>, section: NotepadSection) -> Option<String> {
    Some(notepad.content(section)?.trim().to_owned())
}

#[test]
fn a_breadcrumb_left_again_replaces_the_equal_one() {
    let note = Note {
        section: NotepadSection::Working,
        text: "same",
        secrets: SecretPolicy::Refuse,
        request_id: None,
        replaces_equal: true,
    };
    let mut text = "## Working Memory\n- [2026-02-28T08:00Z] other\n- [2026-02-27T08:00Z] same\n- [2026-02-26T08:00Z] same\n  and more\n".to_owned();
    insert(&mut text, &clock(), &note).unwrap();
    let expected = "## Working Memory\n- [2026-03-01T12:00Z] same\n- [2026-02-28T08:00Z] other\n- [2026-02-26T08:00Z] same\n  and more\n";
    assert_eq!(text, expected);
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
        let note = Note {
            section,
            text: &text,
            secrets: SecretPolicy::Refuse,
            request_id: None,
            replaces_equal: false,
        };
        let mut new = old.clone();
        if insert(&mut new, &clock(), &note).is_err() {
            prop_assert_eq!(new, old);
            return Ok(());
        }
        let (old_bytes, new_bytes) = (old.as_bytes(), new.as_bytes());
        let same = old_bytes.iter().zip(new_bytes).take_while(|(a, b)| a == b).count();
        let behind = old_bytes[same..].iter().rev().zip(new_bytes.iter().rev());
        let behind = behind.take_while(|(a, b)| a == b).count();
        prop_assert_eq!(same + behind, old.len(), "one insertion");
        let (was, is) = (Notepad::parse(&old), Notepad::parse(&new));
        for other in NotepadSection::ALL.into_iter().filter(|other| *other != section) {
            prop_assert_eq!(content(&was, other), content(&is, other));
        }
        let body = is.bodies(section).next().unwrap();
        let held = new[body].replace("\r\n", "\n");
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
    let text = "## Working Memory\n- [2026-02-22T12:00Z] to the minute\n- [2026-02-22T11:59Z] old\n* [2026-02-21T00:00Z] old\n- [2026-02-21] has no time\n- undated\n";
    let rest = "## Working Memory\n- [2026-02-22T12:00Z] to the minute\n- [2026-02-21] has no time\n- undated\n";
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
fn text_that_is_not_below_a_bullet_stays() {
    let old = "- [2020-01-01T10:00Z] old\n  below it\n\n";
    for mine in [" my own paragraph\n", " ### Mine\n", "mine\n"] {
        let text = format!("## Working Memory\n{old}{mine}");
        assert_eq!(prune(&text), format!("## Working Memory\n\n{mine}"), "{mine:?}");
    }
}

#[test]
fn an_indented_list_loses_only_its_old_bullets() {
    for indent in [" ", "  ", "   "] {
        let old = format!("{indent}- [2020-01-01T10:00Z] old\n{indent}    below\n");
        let new = format!("{indent}- [2099-01-02T10:00Z] new\n{indent}  - nested\n");
        let text = format!("## Working Memory\n{old}{old}{new}{old}{new}");
        assert_eq!(prune(&text), format!("## Working Memory\n{new}{new}"), "{indent:?}");
    }
    let stairs = "## Working Memory\n- [2020-01-01T10:00Z] old\n - [2020-01-02T10:00Z] old\n  - [2099-01-02T10:00Z] new\n";
    assert_eq!(prune(stairs), "## Working Memory\n  - [2099-01-02T10:00Z] new\n");
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
