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

fn placed(existing: &[u8], block: &str) -> Result<Vec<u8>> {
    ContextFile::parse(existing, Path::new("CLAUDE.md"), known())?.with_block(block)
}

fn bytes(existing: &[u8], block: &str) -> Vec<u8> {
    placed(existing, block).unwrap()
}

fn text(existing: &str, block: &str) -> String {
    String::from_utf8(bytes(existing.as_bytes(), block)).unwrap()
}

fn framed(block: &str) -> String {
    let lines = marker::normalised_lines(block.as_bytes());
    String::from_utf8(marker::marked(&lines, "\n")).unwrap()
}

#[test]
fn a_new_or_empty_file_is_the_block() {
    let expected = framed(BLOCK) + "\n";
    assert_eq!(text("", BLOCK), expected);
    let file = ContextFile::parse(b"", Path::new("CLAUDE.md"), known()).unwrap();
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
    let title =
        |text: &str| ContextFile::parse(text.as_bytes(), Path::new("x"), known()).unwrap().title();
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
