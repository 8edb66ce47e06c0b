use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;

const BLOCK: &str = "# shop\n\n**Core value:** sell\n\n## Active Context\n\n**Phase:** 1\n";
const OTHER: &str = "# shop\n\n**Core value:** sell more\n";

/// Nothing is known, and no generator is at work.
fn known() -> &'static Recorded<'static> {
    static NOTHING: std::sync::LazyLock<Recorded<'static>> =
        std::sync::LazyLock::new(Recorded::default);
    &NOTHING
}

fn parsed(existing: &[u8]) -> Result<ContextFile<'_>> {
    ContextFile::parse(Some(existing), Path::new("CLAUDE.md"), known())
}

fn placed(existing: &[u8], block: &str) -> Result<UpdatedContextFile> {
    parsed(existing)?.with_block(block)
}

/// Inserts a block, and keeps lines that were added to the old one.
fn kept(existing: &str, block: &str, generated: Option<&str>) -> (String, Vec<String>) {
    let mut file = parsed(existing.as_bytes()).unwrap();
    file.keep_edits(generated.map(str::as_bytes));
    let placed = file.with_block(block).unwrap();
    let warnings = placed.warnings.iter().map(ToString::to_string);
    (String::from_utf8(placed.bytes).unwrap(), warnings.collect())
}

fn bytes(existing: &[u8], block: &str) -> Vec<u8> {
    placed(existing, block).unwrap().bytes
}

fn text(existing: &str, block: &str) -> String {
    String::from_utf8(bytes(existing.as_bytes(), block)).unwrap()
}

fn framed(block: &str) -> String {
    let digest = marker::digest(&marker::normalised_lines(block.as_bytes()));
    format!("{}\n{block}{}", marker::begin(&digest), marker::end())
}

#[test]
fn a_new_or_empty_file_is_the_block() {
    let expected = framed(BLOCK) + "\n";
    assert_eq!(text("", BLOCK), expected);
    let file = ContextFile::parse(None, Path::new("CLAUDE.md"), known()).unwrap();
    assert_eq!(file.with_block(BLOCK).unwrap().bytes, expected.as_bytes());
    assert_eq!(file.lines_with(BLOCK), expected.lines().count());
    assert!(file.block.is_none());
}

#[test]
fn a_first_block_precedes_the_old_text() {
    for old in [
        "own text\n",
        "no final newline",
        "# Title\n\n```\n# comment\n<!-- annals -->\n",
        "\nblank first\n",
        "```\n## Active Context\n```\n",
        "<!-- open comment\n",
    ] {
        let blank = if old.starts_with('\n') { "\n" } else { "\n\n" };
        assert_eq!(text(old, BLOCK), framed(BLOCK) + blank + old);
    }
}

#[test]
fn a_new_block_replaces_the_old_one() {
    let old = format!("above\n\n{}   \nbelow\r\nno end", framed(BLOCK));
    assert_eq!(text(&old, OTHER), format!("above\n\n{}   \nbelow\r\nno end", framed(OTHER)));
    assert_eq!(text(&old, BLOCK), old);
    assert_eq!(text(&framed(BLOCK), OTHER), framed(OTHER));
}

#[test]
fn any_bytes_around_the_block_stay() {
    let latin_1 = b"caf\xe9 \xff\xfe\n\x00";
    let first = bytes(latin_1, BLOCK);
    assert!(first.ends_with(latin_1));
    let second = bytes(&first, OTHER);
    assert!(second.ends_with(latin_1));
    assert!(second.starts_with(framed(OTHER).as_bytes()));
}

#[test]
fn line_endings_follow_the_file() {
    let first = text("one\r\ntwo\r\n", BLOCK);
    assert!(first.ends_with("annals:end -->\r\n\r\none\r\ntwo\r\n"));
    assert_eq!(first.matches('\n').count(), first.matches("\r\n").count());
    assert_eq!(text(&first, BLOCK), first);
    let second = text(&first, OTHER);
    assert_eq!(second.matches('\n').count(), second.matches("\r\n").count());
    assert!(text("one\r\ntwo\nthree\n", BLOCK).starts_with(&framed(BLOCK)));
}

#[test]
fn a_byte_order_mark_and_front_matter_stay_at_the_start() {
    let first = text("\u{feff}# Own\n", BLOCK);
    assert_eq!(first, format!("\u{feff}{}\n\n# Own\n", framed(BLOCK)));
    assert_eq!(text(&first, BLOCK), first);
    let first = text("---\nname: x\n---\n\n# Own\n", BLOCK);
    assert_eq!(first, format!("---\nname: x\n---\n{}\n\n# Own\n", framed(BLOCK)));
    assert!(text("---\n\nAfter a rule.\n", BLOCK).starts_with("<!-- annals:begin"));
    let open = text("---\nname: x\n---", BLOCK);
    assert_eq!(open, format!("---\nname: x\n---\n{}", framed(BLOCK)));
}

#[test]
fn reformatting_the_block_is_not_an_edit() {
    let file = framed(BLOCK) + "\n\nown\n";
    let windows = file.replace('\n', "\r\n");
    assert_eq!(text(&windows, BLOCK), windows);
    let spaced =
        file.replace("-->\n", "-->\n\n").replace("\n<!-- annals:end", "  \n\n<!-- annals:end");
    assert_eq!(text(&spaced, BLOCK), spaced);
    assert!(text(&spaced, OTHER).starts_with(&framed(OTHER)));
}

#[test]
fn lines_added_by_hand_move_below_the_block() {
    let edited =
        framed(BLOCK).replace("sell\n", "sell\n\nNever ship on  Fridays. \n") + "\n\nown\n";
    let moved = format!("{}\n\nNever ship on  Fridays. \n\nown\n", framed(OTHER));
    let said = "CLAUDE.md:1: 1 line added to the block by hand was moved below it";
    for generated in [None, Some(BLOCK)] {
        let (text, warnings) = kept(&edited, OTHER, generated);
        assert_eq!((text.as_str(), warnings), (moved.as_str(), vec![said.to_owned()]));
        let (same, warnings) = kept(&text, OTHER, None);
        assert_eq!((same, warnings), (text, vec![]), "a second run changes nothing");
    }
    // The new block may equal the old one, and the file may end with it.
    let (text, _) = kept(&framed(BLOCK).replace("sell", "sell\nmine"), BLOCK, None);
    assert_eq!(text, format!("{}\n\nmine", framed(BLOCK)));
    let replaced = placed(edited.as_bytes(), OTHER).unwrap();
    assert_eq!(replaced.bytes, (framed(OTHER) + "\n\nown\n").as_bytes());
    assert_eq!(replaced.warnings.len(), 1);
}

#[test]
fn several_edits_move_in_groups_unless_already_present() {
    let edited = framed(BLOCK)
        .replace("# shop\n", "# shop\na\n")
        .replace("## Active", "own\n\n## Active")
        .replace("**Phase:** 1", "**Phase:** 7\n- b")
        + "\n\nown\n";
    let (text, warnings) = kept(&edited, OTHER, Some(BLOCK));
    assert_eq!(text, format!("{}\n\na\n\n**Phase:** 7\n- b\n\nown\n", framed(OTHER)));
    assert_eq!(warnings, ["CLAUDE.md:1: 3 lines added to the block by hand were moved below it"]);
}

#[test]
fn an_edit_indistinguishable_from_the_block_is_reported_and_replaced() {
    let edited = framed(BLOCK).replace("sell", "give\u{1b}[2J away").replace("1\n", "2\n");
    let (text, warnings) = kept(&edited, BLOCK, None);
    assert_eq!(text, framed(BLOCK));
    assert_eq!(
        warnings,
        [
            "CLAUDE.md:1: the block was edited by hand and is rewritten; lost: \"**Core value:** give away\", \
          \"**Phase:** 2\"; `annals undo` restores them"
        ]
    );
    let deleted = framed(BLOCK).replace("\n## Active Context\n\n**Phase:** 1\n", "");
    assert_eq!(kept(&deleted, BLOCK, None), (framed(BLOCK), vec![]));
    let many = framed(BLOCK).replace("sell", "1\n2\n3\n4\n5\n6").replace("**Phase:** 1", "7");
    let (_, warnings) = kept(&many, BLOCK, None);
    assert!(warnings[0].contains("\"5\" and 2 more lines;"), "{warnings:?}");
}

#[test]
fn an_edit_equal_to_the_new_block_yields_no_warning() {
    let file = framed(BLOCK).replace(BLOCK, OTHER);
    let done = placed(file.as_bytes(), OTHER).unwrap();
    assert_eq!(done.bytes, framed(OTHER).as_bytes());
    assert_eq!(done.warnings, []);
    let (text, warnings) = kept(&file, OTHER, Some(BLOCK));
    assert_eq!((text, warnings), (framed(OTHER), vec![]));
}

#[test]
fn duplicate_markers_are_refused() {
    let doubled = format!("{}\n{}\n", framed(BLOCK), framed(BLOCK));
    let error = placed(doubled.as_bytes(), BLOCK).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.to_string().ends_with("(lines 1, 9, 10, 18)"), "{error}");
}

#[test]
fn a_template_cannot_break_out_of_the_block() {
    for block in ["a\n<!-- annals:end -->\nb\n", "```\nopen\n", "<!-- annals:begin v1 -->\n"] {
        let error = placed(b"own\n", block).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Failed);
    }
    assert!(text("own\n", "```\nclosed\n```\n").contains("closed"));
}

#[test]
fn the_title_is_the_first_visible_line() {
    let title = |text: &str| {
        ContextFile::parse(Some(text.as_bytes()), Path::new("x"), known()).unwrap().title()
    };
    let block = framed(BLOCK);
    for (file, expected) in [
        ("# Shop\n\ntext\n".to_owned(), Some("Shop")),
        ("\u{feff}\n# Shop\r\n".to_owned(), Some("Shop")),
        ("---\na: b\n---\n# Shop\n".to_owned(), Some("Shop")),
        ("<!-- note -->\n# Shop\n".to_owned(), Some("Shop")),
        (format!("{block}\n\n# Shop\n"), Some("Shop")),
        (format!("# Shop\n\n{block}\n\n# Other\n"), Some("Shop")),
        (format!("text\n\n{block}\n\n# Other\n"), None),
        ("text\n# Shop\n".to_owned(), None),
        ("## Shop\n".to_owned(), None),
        ("```\n# Shop\n```\n".to_owned(), None),
        (block.clone(), None),
        (String::new(), None),
    ] {
        assert_eq!(title(&file).as_deref(), expected, "{file:?}");
    }
}

proptest! {
    #[test]
    fn the_users_bytes_survive_and_a_second_run_changes_nothing(
        own in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'#'), Just(b'`'), Just(b'-'), Just(b' '), any::<u8>()],
            0..80,
        ),
    ) {
        let first = bytes(&own, BLOCK);
        let at = first.windows(5).position(|bytes| bytes == b"<!-- ").unwrap();
        let end = first.windows(6).position(|bytes| bytes == b"end --").unwrap() + "end -->".len();
        let around = [&first[..at], &first[end..]].concat();
        // Only line endings are inserted: above the old text, and after front matter without one.
        let rest = around.strip_prefix(&own[..at.min(own.len())]).unwrap();
        prop_assert!(rest.ends_with(&own[at.min(own.len())..]));
        prop_assert!(rest[..rest.len() + at.min(own.len()) - own.len()].iter().all(|b| b"\r\n".contains(b)));
        prop_assert_eq!(&bytes(&first, BLOCK), &first);
        let other = bytes(&first, OTHER);
        prop_assert_eq!(&other[..at], &first[..at]);
        prop_assert!(other.ends_with(&first[end..]));
        prop_assert_eq!(&bytes(&other, BLOCK), &first);
    }
}
