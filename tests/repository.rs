//! What holds for the repository itself: the README's commands, the examples, sizes, and the help of every command.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use annals::project::LayoutName;
use assert_cmd::Command;
use ignore::WalkBuilder;

use crate::layering::source_files;
use crate::support::{Case, listed_commands};

/// A longer file has to be split.
const MAX_CODE_LINES: usize = 700;

#[test]
fn ci_runs_the_commands_of_the_readme() {
    let commands = bash_commands(&read("README.md"));
    let listed = Command::new(".ci/run").arg("--list").assert().success();
    let listed = String::from_utf8(listed.get_output().stdout.clone()).unwrap();
    for start in ["cargo run -- -C examples/", "cargo test"] {
        let [command] = &starting_with(&commands, start)[..] else {
            panic!("README.md should have one command that starts with {start:?}: {commands:?}");
        };
        let runs = listed.lines().filter(|line| line == command).count();
        assert_eq!(runs, 1, "{command:?} in .ci/run --list:\n{listed}");
    }
    let tests = starting_with(&listed.lines().map(str::to_owned).collect::<Vec<_>>(), "cargo test");
    assert_eq!(tests.len(), 1, ".ci/run tests in another way too:\n{listed}");
}

#[test]
fn the_readme_shows_what_its_command_prints() {
    let readme = read("README.md");
    let shown = readme
        .split_once("<!-- test-run:")
        .and_then(|(_, rest)| rest.split_once("```text\n"))
        .and_then(|(_, rest)| rest.split_once("```"))
        .map(|(block, _)| block)
        .unwrap();
    let printed = Case::new("examples/vbw-project").run("status").success().stdout();
    assert_eq!(shown, printed);
}

#[test]
fn what_the_readme_says_to_type_in_a_project_works() {
    let case = Case::new("examples/vbw-project");
    let readme = read("README.md");
    let blocks = readme.split("```console\n").skip(1);
    let lines = blocks.filter_map(|rest| rest.split("```").next());
    let typed: Vec<&str> = lines
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix("$ annals "))
        .filter_map(|line| line.split('#').next())
        .collect();
    assert!(typed.len() >= 2, "{typed:?}");
    for line in typed {
        case.run(line).success();
    }
    case.run("setup claude --user --check").success();
}

#[test]
fn the_readme_has_a_path_for_every_link() {
    for file in [
        "README.md", "CHANGELOG.md", "docs/architecture.md", "docs/formats.md",
        "docs/harnesses.md", "plugin/README.md",
    ] {
        let folder = Path::new(file).parent().unwrap();
        for target in links(&read(file)) {
            let there = folder.join(&target);
            assert!(there.exists(), "{file} links to {target}, which is not there");
        }
    }
}

#[test]
fn the_changelog_starts_with_what_is_unreleased() {
    let changelog = read("CHANGELOG.md");
    let first = changelog.lines().find(|line| line.starts_with("## "));
    assert_eq!(first, Some("## [Unreleased]"));
}

#[test]
fn every_example_has_a_planning_folder_and_a_line_in_their_readme() {
    let readme = read("examples/README.md");
    let mut examples = 0;
    for example in folders("examples") {
        let layouts = LayoutName::ALL.map(LayoutName::dir);
        let found = layouts.iter().filter(|name| example.join(name).is_dir());
        assert_eq!(found.count(), 1, "{} has one planning folder", example.display());
        let name = example.file_name().unwrap().to_string_lossy();
        assert!(readme.contains(&format!("| `{name}` |")), "{name} in examples/README.md");
        examples += 1;
    }
    assert!(examples >= LayoutName::ALL.len(), "one example for each layout");
}

#[test]
fn the_history_of_the_example_is_as_its_readme_says() {
    let summaries: Vec<String> = all_files("examples/vbw-project/.vbw-planning")
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with("-SUMMARY.md"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let readme = read("examples/README.md");
    assert!(
        readme.contains(&format!("Its history is {} plans with summaries", summaries.len())),
        "{} summaries",
        summaries.len()
    );
}

#[test]
fn every_source_file_says_what_it_is() {
    // The tests of a module in a file of their own are said by the module.
    let modules =
        source_files(Path::new("src")).into_iter().filter(|file| !file.ends_with("tests.rs"));
    for file in modules {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} starts with //!", file.display());
    }
}

#[test]
fn no_source_file_is_too_long() {
    for file in source_files(Path::new("src")) {
        let lines = code_lines(&fs::read_to_string(&file).unwrap());
        assert!(lines <= MAX_CODE_LINES, "{}: {lines} lines of code, split it", file.display());
    }
}

#[test]
fn code_lines_leave_out_comments_and_tests() {
    let text = "//! Doc.\n\n/// Doc.\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
    assert_eq!(code_lines(text), 1);
}

#[test]
fn no_test_file_is_left_out() {
    let mut checked = 0;
    for folder in ["tests", "tests/cli"] {
        let root = if folder == "tests" { "main.rs" } else { "mod.rs" };
        let Ok(list) = fs::read_to_string(Path::new(folder).join(root)) else {
            continue;
        };
        for module in modules_in(folder) {
            let declared = list.lines().any(|line| line == format!("mod {module};"));
            assert!(declared, "{folder}/{root} lacks `mod {module};`");
            checked += 1;
        }
    }
    assert!(checked >= 2);
}

#[test]
fn every_template_has_text() {
    for template in all_files("templates") {
        let text = fs::read_to_string(&template).unwrap();
        assert!(!text.trim().is_empty(), "{} is empty", template.display());
    }
}

#[test]
fn no_file_names_a_path_of_somebodys_machine() {
    let mut faults = Vec::new();
    for file in all_files(".") {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for (index, line) in text.lines().enumerate() {
            if names_a_machine_path(line) {
                faults.push(format!("{}:{}: {line}", file.display(), index + 1));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn machine_paths_are_told_from_others() {
    let home = ["/", "home", "/"].concat();
    assert!(names_a_machine_path(&format!("open `{home}someone/notes`")));
    assert!(names_a_machine_path(&["/ro", "ot/.config"].concat()));
    assert!(names_a_machine_path(&["(/wo", "rk/main)"].concat()));
    assert!(!names_a_machine_path(&format!("example.org{home}page")));
    assert!(!names_a_machine_path(&["docs/wo", "rk/main.md"].concat()));
}

#[test]
fn every_command_has_a_test_an_example_and_a_row_in_the_readme() {
    let readme = read("README.md");
    let commands = subcommands(&help(&["--all"]));
    for command in &commands {
        let test = format!("tests/cli/{}.rs", command.replace('-', "_"));
        assert!(Path::new(&test).exists(), "{test} is missing");
        assert!(readme.contains(&format!("`annals {command}")), "{command} in README.md");
        assert_examples(&[command]);
    }
    if !commands.is_empty() {
        for named in commands_in_table(&readme) {
            assert!(
                commands.contains(&named),
                "README.md names `annals {named}`, which is no command"
            );
        }
    }
}

/// Asserts that the help of a command, or of each command below it, has an example.
fn assert_examples(command: &[&str]) {
    let text = help(command);
    let below = subcommands(&text);
    assert!(
        !below.is_empty() || text.contains("Example"),
        "`annals {} --help` has no example:\n{text}",
        command.join(" ")
    );
    for name in &below {
        assert_examples(&[command, &[name.as_str()]].concat());
    }
}

/// What the built binary prints as the help of a command.
fn help(command: &[&str]) -> String {
    let mut annals = Command::cargo_bin("annals").unwrap();
    let done = annals.args(command).arg("--help").assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// The names of the commands that a help lists, without `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let names = listed_commands(help).into_iter().map(|(name, _)| name);
    names.filter(|name| name != "help").collect()
}

/// The commands that have a row in the README's command table.
fn commands_in_table(readme: &str) -> Vec<String> {
    let rows = readme.lines().filter(|line| line.starts_with("| `annals "));
    rows.flat_map(|row| {
        let first_cell = row.split('|').nth(1).unwrap_or_default();
        first_cell.split("`annals ").skip(1)
    })
    .filter_map(|text| text.split([' ', '`']).next())
    .map(str::to_owned)
    .collect()
}

/// The lines of the fenced `bash` blocks: what a reader is told to run.
fn bash_commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```bash" => inside = true,
            "```" => inside = false,
            _ if inside => commands.push(line.to_owned()),
            _ => {}
        }
    }
    commands
}

fn starting_with(commands: &[String], start: &str) -> Vec<String> {
    let starting = commands.iter().filter(|command| command.starts_with(start));
    starting.cloned().collect()
}

/// The targets of the inline links to files of the repository.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1);
    targets
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .map(str::to_owned)
        .collect()
}

/// Lines that are neither blank nor a comment, up to the tests at the end of the file.
fn code_lines(text: &str) -> usize {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next();
    code.unwrap_or_default()
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

/// Whether an absolute path into a home or work folder starts somewhere in the line.
fn names_a_machine_path(line: &str) -> bool {
    ["work", "root", "home"].iter().any(|folder| {
        let needle = format!("/{folder}/");
        line.match_indices(&needle).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-~*}]>".contains(c))
        })
    })
}

/// The modules of a folder of tests: its Rust files, and its folders that have a `mod.rs`.
fn modules_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "rs")
                || path.join("mod.rs").exists()
        })
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !["main", "mod"].contains(&name.as_str()))
        .collect()
}

fn folders(of: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

/// Every file below a folder that git would track; none where the folder is missing.
fn all_files(folder: &str) -> Vec<PathBuf> {
    let not_git = |entry: &ignore::DirEntry| entry.file_name() != ".git";
    let mut walk = WalkBuilder::new(folder);
    walk.hidden(false).require_git(false).filter_entry(not_git);
    walk.build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn no_page_says_a_thing_twice_or_has_a_row_outside_a_table() {
    let mut faults = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        faults.extend(page_faults(&text).map(|fault| format!("{}: {fault}", page.display())));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    let wrong = "## A\n\n| a |\n|---|\n| b |\n\ntext\n| orphan |\n\n## A\n";
    let found: Vec<String> = page_faults(wrong).collect();
    assert_eq!(found, ["## A stands twice", "no table around | orphan |"]);
}

/// The README and the pages of `docs/`.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir("docs").unwrap().map(|one| one.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    pages.chain([PathBuf::from("README.md")]).collect()
}

/// Headings of the second level that a page has twice, and table rows that belong to no table.
fn page_faults(text: &str) -> impl Iterator<Item = String> {
    let mut seen = BTreeSet::new();
    let mut twice = Vec::new();
    let mut orphans = Vec::new();
    let mut in_fence = false;
    let mut in_table = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        in_fence ^= line.trim_start().starts_with("```");
        if in_fence {
            continue;
        }
        if line.starts_with("## ") && !seen.insert(line) {
            twice.push(format!("{line} stands twice"));
        }
        let is_row = line.starts_with('|');
        let opens = lines.peek().is_some_and(|next| next.starts_with("|-"));
        in_table = is_row && (in_table || opens);
        if is_row && !in_table {
            orphans.push(format!("no table around {line}"));
        }
    }
    twice.into_iter().chain(orphans)
}
