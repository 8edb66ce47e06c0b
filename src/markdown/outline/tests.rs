use super::*;

fn titles(outline: &Outline<'_>) -> Vec<String> {
    outline.sections().iter().map(|section| section.title.clone()).collect()
}

#[test]
fn headings_inside_fences_are_text() {
    let outline = Outline::parse("# A\n```sh\n## Active Context\n```\n## B ##\nx\n### C\n## D", 0);
    assert_eq!(titles(&outline), ["", "A", "B", "C", "D"]);
    let b = outline.section(&["b"]).unwrap();
    assert_eq!(outline.slice(&b.own), "x");
    assert_eq!(outline.slice(&b.whole), "x\n### C");
    assert_eq!(b.line, 5);
}

#[test]
fn dashes_under_a_paragraph_are_not_a_heading() {
    let outline = Outline::parse("**Status:** complete\n---\n## A\n", 0);
    assert_eq!(titles(&outline), ["", "A"]);
    let labels = outline.labels(&(0..100));
    assert_eq!((labels[0].name.as_str(), labels[0].value.as_str()), ("Status", "complete"));
}

#[test]
fn items_are_verbatim_without_marker_and_nested_items() {
    let text = "- [x] **Phase 1:** do\n  more `of` it\n  - nested\n- plain\n\n1. one\n2. two\n";
    let outline = Outline::parse(text, 0);
    let all = 0..text.len();
    let items: Vec<_> = outline.items(&all).map(|(_, item)| item.clone()).collect();
    assert_eq!(items[0].text, "**Phase 1:** do more `of` it");
    assert_eq!(items[0].checked, Some(true));
    assert_eq!((items[1].text.as_str(), items[1].depth), ("nested", 1));
    assert_eq!((items[2].text.as_str(), items[2].depth), ("plain", 0));
    assert_eq!(items[4].number, Some(2));
}

#[test]
fn cells_have_byte_ranges() {
    let text = "| Decision | Date |\n|---|---|\n| Use `a \\| b` | 2026 |\n| x | |\n";
    let outline = Outline::parse(text, 0);
    let all = 0..text.len();
    let table = outline.tables(&all).next().unwrap();
    assert_eq!(table.header, ["Decision", "Date"]);
    assert_eq!(table.rows[0].cells, ["Use `a \\| b`", "2026"]);
    assert_eq!(&text[table.rows[0].ranges[1].clone()], "2026");
    assert_eq!(table.rows[1].cells, ["x", ""]);
    assert_eq!(table.column(&["when", "date"]), Some(1));
}

#[test]
fn labels_of_every_form_are_read() {
    let text = "**Phase**: 2\n**Plan:** 3\nStatus: ok\n\n- **Duration:** 4 min\n- no label here\n\n```\nFake: 1\n```\n";
    let outline = Outline::parse(text, 0);
    let found: Vec<_> = outline
        .labels(&(0..text.len()))
        .into_iter()
        .map(|label| (label.name, label.value))
        .collect();
    let expected = [("Phase", "2"), ("Plan", "3"), ("Status", "ok"), ("Duration", "4 min")];
    assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn label_ranges_point_at_the_value() {
    let text = "- **Phase:**  2 of 5 \n";
    let label = &Outline::parse(text, 0).labels(&(0..text.len()))[0];
    assert_eq!(&text[label.range.clone()], "2 of 5");
}

#[test]
fn a_leading_backslash_belongs_to_the_item() {
    let text = "- \\# not a title\n- [x] \\@a.md\n- a \\* b\n";
    let outline = Outline::parse(text, 0);
    let all = 0..text.len();
    let items: Vec<_> = outline.items(&all).map(|(_, item)| item.text.clone()).collect();
    assert_eq!(items, ["\\# not a title", "\\@a.md", "a \\* b"]);
}

#[test]
fn an_item_that_looks_like_a_link_definition_is_an_item() {
    let text = "- [02-03]: Postgres\n- [a]: b c\n1. [x]: y\n";
    let outline = Outline::parse(text, 0);
    let items: Vec<_> =
        outline.items(&(0..text.len())).map(|(_, item)| item.text.clone()).collect();
    assert_eq!(items, ["[02-03]: Postgres", "[a]: b c", "[x]: y"]);
}

#[test]
fn lines_beyond_the_maximum_are_not_read_and_yield_a_warning() {
    let warning = |text: &str| Outline::parse(text, 0).warning(Path::new("a.md"));
    let text = "- a\n".repeat(MAX_LINES);
    assert_eq!(warning(&text), None);
    let text = format!("# T\n{text}# U\n");
    let outline = Outline::parse(&text, 0);
    assert_eq!(outline.blocks(&(0..text.len())).len(), MAX_LINES - 1);
    assert_eq!(outline.sections().len(), 2);
    assert_eq!(outline.sections()[1].whole.end, text.len());
    let beginning = Outline::parse_beginning(&text, 0);
    assert!(text.starts_with(beginning.text()) && beginning.text().ends_with("- a\n"));
    assert_eq!(beginning.warning(Path::new("a.md")), outline.warning(Path::new("a.md")));
    let warning = warning(&text).unwrap();
    assert_eq!(warning.place.line, Some(MAX_LINES + 1));
    assert!(warning.message.contains("lines"), "{}", warning.message);
}

#[test]
fn marks_beyond_the_maximum_are_not_read_and_yield_a_warning() {
    let text = format!("# T\n\n{}\n\n- a\n", "[".repeat(MAX_MARKS));
    let outline = Outline::parse(&text, 0);
    let warning = outline.warning(Path::new("a.md")).unwrap();
    assert_eq!(warning.place.line, Some(5));
    assert!(warning.message.contains("marks"), "{}", warning.message);
    assert_eq!(outline.items(&(0..text.len())).count(), 0);
    let whole_lines = format!("# T\n\n{}\n", "[".repeat(MAX_MARKS - 1));
    let text = format!("{whole_lines}- Phase 3.1\n");
    assert_eq!(Outline::parse_beginning(&text, 0).text(), whole_lines);
    let text = format!("---\n{}\n---\n# T\n\n- a\n", "[".repeat(MAX_MARKS));
    let outline = Outline::parse(&text, text.find("# T").unwrap());
    assert!(outline.warning(Path::new("a.md")).is_none(), "front matter is not counted");
    assert_eq!(outline.items(&(0..text.len())).count(), 1);
}

#[test]
fn a_line_of_only_markers_yields_few_blocks() {
    let text = format!("- a\n\n{}b\n\n- c\n", "- ".repeat(100_000));
    let outline = Outline::parse(&text, 0);
    let blocks = outline.blocks(&(0..text.len()));
    assert!(blocks.len() < 100, "{}", blocks.len());
    assert_eq!(outline.items(&(0..text.len())).last().unwrap().1.text, "c");
}
