//! Tried as an attacker would: a repository that plants files, run through every command, hook event and MCP tool.
//!
//! A [`Hostile`] project lies beside a home and a folder of the user's that no run may change or read out. A test
//! plants something, runs the tables of [`ways_in`], and asks [`Hostile::changed_outside`] and [`Hostile::leaks`] what went wrong.

mod configurations;
mod keys;
mod oversized;
mod printed;
mod reads;
mod repositories;
mod shaped;
mod ways_in;
mod writes;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use ways_in::{HOOKS, READS, WRITES, Way, session, tool_calls};

use crate::support::{Case, Invocation, Tree, difference, whole_tree};

/// Stands in every file outside the project, and may come out nowhere.
pub(crate) const SECRET: &str = "canary-7f3a91";

/// What a planted link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A file outside, by its absolute path.
    File,
    /// The same, by a path relative to the link.
    Relative,
    /// A folder outside.
    Folder,
    /// A place outside where nothing is.
    Dangling,
}

/// So many projects for each form of link, with a share of the places in each: a link hides what a command meets later.
const SHARES: usize = 4;

/// Places of folders that the example does not have.
const ABSENT_FOLDERS: &[&str] = &[
    ".planning",
    ".yolo-planning",
    ".vbw-planning/codebase",
    ".vbw-planning/milestones/v0/phases",
    ".github/workflows",
    ".claude/skills",
    ".claude/skills/linked",
    ".agents/skills",
    ".codex",
    ".opencode",
    "exported",
];

/// Links of one form in some places.
#[derive(Debug)]
pub(crate) struct Planting {
    form: Form,
    places: Vec<&'static str>,
    turn: usize,
    turns: usize,
}

impl Planting {
    /// Returns plantings that together put a link of each of these forms in every place.
    pub(crate) fn all(places: &[&'static str], forms: &[Form]) -> Vec<Self> {
        let mut shares: Vec<Vec<&'static str>> = vec![Vec::new(); SHARES];
        for place in places {
            // What stands below a link is not there.
            let is_free = |share: &&mut Vec<&str>| {
                let is_related = |other: &&str| {
                    Path::new(place).starts_with(other) || Path::new(other).starts_with(place)
                };
                !share.iter().any(is_related)
            };
            let free = shares.iter_mut().filter(is_free);
            free.min_by_key(|share| share.len()).unwrap().push(place);
        }
        let with = |(place, form): (usize, &Form)| {
            let (form, turns) = (*form, forms.len());
            let shares = shares.iter().cloned().enumerate();
            shares.map(move |(share, places)| Self { form, places, turn: place + share, turns })
        };
        forms.iter().enumerate().flat_map(with).collect::<Vec<_>>()
    }

    /// Returns the ways in whose turn it is: over all forms of link, each meets every place once.
    pub(crate) fn turn<'w>(&self, ways: &'w [Way]) -> impl Iterator<Item = &'w Way> {
        ways.iter().skip(self.turn % self.turns).step_by(self.turns)
    }

    /// Plants the links; one in place of a folder leads to a folder, or nobody would read what is behind it.
    pub(crate) fn plant(&self, hostile: &Hostile) {
        for place in &self.places {
            let is_folder =
                hostile.case.root().join(place).is_dir() || ABSENT_FOLDERS.contains(place);
            let form =
                if is_folder && self.form != Form::Dangling { Form::Folder } else { self.form };
            hostile.link(place, form);
        }
    }
}

/// A copy of the example project with every store filled, beside what belongs to the user.
pub(crate) struct Hostile {
    pub(crate) case: Case,
    outside: PathBuf,
    before: Tree,
}

impl Hostile {
    pub(crate) fn new() -> Self {
        static FILLED: OnceLock<Case> = OnceLock::new();
        let case = Case::from(FILLED.get_or_init(filled).root());
        let outside = case.root().parent().unwrap().join("outside");
        fs::create_dir_all(outside.join("folder")).unwrap();
        let text = format!("# {SECRET}\n\n- {SECRET}\n");
        fs::write(outside.join("file.md"), &text).unwrap();
        for name in ["STATE.md", "ROADMAP.md", "PROJECT.md", "first.md", "INDEX.md"] {
            fs::write(outside.join("folder").join(name), &text).unwrap();
        }
        fs::write(case.home().join(".bashrc"), &text).unwrap();
        let before = theirs(&case, &outside);
        Self { case, outside, before }
    }

    /// Takes what lies outside now for what may not change.
    pub(crate) fn remember(&mut self) {
        self.before = theirs(&self.case, &self.outside);
    }

    /// Prepares one way in.
    pub(crate) fn run(&self, way: &Way) -> Invocation<'_> {
        let words = way.words.iter().copied();
        let run = self.case.run("").args(words).stdin(way.stdin.clone());
        let run = run.env("ANNALS_USER", "ada");
        // Only the user can turn this on.
        if way.words.first() == Some(&"sessions") {
            run.env("ANNALS_SESSIONS", "true")
        } else {
            run
        }
    }

    /// Puts a link in a place of the project, instead of what is there.
    pub(crate) fn link(&self, place: &str, form: Form) {
        let link = self.case.root().join(place);
        if link.is_dir() && !link.is_symlink() {
            fs::remove_dir_all(&link).unwrap();
        } else if link.symlink_metadata().is_ok() {
            fs::remove_file(&link).unwrap();
        }
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let up = "../".repeat(place.split('/').count());
        let target = match form {
            Form::File => self.outside.join("file.md"),
            Form::Relative => PathBuf::from(up).join("outside/file.md"),
            Form::Folder => self.outside.join("folder"),
            Form::Dangling => self.outside.join("nothing-yet"),
        };
        std::os::unix::fs::symlink(target, link).unwrap();
    }

    /// Returns what changed outside the project, but in the places that are annals' own.
    pub(crate) fn changed_outside(&self) -> Vec<String> {
        difference(&self.before, &theirs(&self.case, &self.outside))
    }

    /// Returns the files of the project, our own folder with them, that hold what stands outside.
    pub(crate) fn leaks(&self) -> Vec<String> {
        let tree = whole_tree(self.case.root()).into_iter();
        let holds = |bytes: &[u8]| memchr::memmem::find(bytes, SECRET.as_bytes()).is_some();
        let leaking = tree.filter(|(path, bytes)| !path.starts_with(".git/") && holds(bytes));
        leaking.map(|(path, _)| path).collect()
    }
}

/// The example project with every store filled, under git, and without our own folder.
fn filled() -> Case {
    let case = Case::new("examples/vbw-project");
    for (line, stdin) in [
        ("notepad working first", ""),
        ("entry write --key first --type gotcha --confidence low --body-stdin", "# First\n"),
        ("ledger init", ""),
        ("pause first", ""),
    ] {
        case.run(line).stdin(stdin).success();
    }
    case.write(".serena/memories/stock.md", "# Stock\n\nCounted at night.\n");
    for name in ["base.md", "ours.md", "theirs.md"] {
        case.write(name, "one\n");
    }
    case.git_init();
    case.commit("All of it", "2026-02-01T12:00:00Z");
    fs::remove_dir_all(case.root().join(".annals")).unwrap();
    case
}

/// Everything of the user's but what annals keeps there itself.
fn theirs(case: &Case, outside: &Path) -> Tree {
    let mut all = whole_tree(outside);
    for (path, bytes) in whole_tree(case.home()) {
        let is_ours = [".local/share/annals/", ".codex/"].iter().any(|ours| path.starts_with(ours));
        let is_a_parent = path.ends_with('/');
        if !is_ours && !is_a_parent {
            all.insert(format!("~/{path}"), bytes);
        }
    }
    all
}

#[test]
fn the_tables_name_every_command() {
    let help = Case::empty().run("--help --all").success().stdout();
    // Each stands behind two spaces, under the heading of its group; the options follow behind the last.
    let commands: Vec<&str> = help
        .lines()
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split_once("  "))
        .map(|(command, _)| command)
        .collect();
    assert!(commands.len() > 30, "{commands:?}");
    let tables = [READS, WRITES, HOOKS];
    let named: BTreeSet<&str> = tables
        .iter()
        .flat_map(|table| table.iter())
        .filter_map(|(line, _)| line.split_whitespace().next())
        .collect();
    // These print what is built in, or work on a scratch copy; every MCP tool has a call of its own.
    let elsewhere = ["completions", "demo", "help", "man", "mcp"];
    for command in commands {
        assert!(
            named.contains(command) || elsewhere.contains(&command),
            "no way in tries `annals {command}`"
        );
    }
}

#[test]
fn every_way_in_works_where_nothing_is_planted() {
    let hostile = Hostile::new();
    for table in [READS, WRITES, HOOKS] {
        for way in Way::all(table) {
            let ended = hostile.run(&way).output();
            // Some answer with 1 that they found something; 2 would be a way in that leads nowhere.
            let is_answer = matches!(ended.exit_code(), Some(0 | 1));
            assert!(is_answer, "{}", ended.report());
            assert_eq!(hostile.changed_outside(), [""; 0], "{}", ended.report());
        }
    }
    let hostile = Hostile::new();
    let ended = hostile.run(&tool_calls()).success();
    for answer in ended.try_json_lines().unwrap() {
        assert!(answer["error"].is_null(), "{answer}");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
    }
    assert_eq!(hostile.leaks(), [""; 0]);
}
