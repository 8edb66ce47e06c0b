//! `annals man`

use serde_json::json;

use crate::cli::assert_error;
use crate::support::Case;

#[test]
fn there_is_a_page_for_annals_and_for_each_command() {
    let case = Case::empty();
    let page = case.run("man").success().stdout();
    assert!(page.contains("\n.TH annals 1 "), "{page}");
    assert!(page.contains("annals\\-inspect(1)"), "{page}");
    let sync = case.run("man sync").success();
    assert!(sync.stdout().contains("annals sync \\-\\-check"), "{}", sync.report());
    assert_eq!(sync.stderr(), "");
    let document = case.run("man --json").success().json();
    assert_eq!(document, json!({"text": page}));
}

#[test]
fn every_page_that_a_page_names_can_be_had() {
    let case = Case::empty();
    let mut waiting = vec![String::new()];
    let mut pages = 0;
    while let Some(command) = waiting.pop() {
        let page = case.run(&format!("man {command}")).success().stdout();
        let version = format!("\"annals {}\"", env!("CARGO_PKG_VERSION"));
        assert!(page.contains(&version), "{page}");
        pages += 1;
        let named = page.lines().filter_map(|line| line.strip_suffix("(1)"));
        let named = named.filter_map(|line| line.strip_prefix("annals\\-"));
        waiting.extend(named.filter_map(|name| {
            // Names hold hyphens of their own: what is below a command starts with all of it.
            let name = name.replace("\\-", "-");
            let name = match command.replace(' ', "-").as_str() {
                "" => name,
                above => format!("{command} {}", name.strip_prefix(&format!("{above}-"))?),
            };
            (!name.starts_with("help") && !name.contains(" help")).then_some(name)
        }));
    }
    assert!(pages > 50, "{pages} pages");
}

#[test]
fn an_unknown_command_has_no_page() {
    let outcome = Case::empty().run("man nowhere").code(2);
    assert_error(&outcome, "no such command: nowhere", "annals --help");
}
