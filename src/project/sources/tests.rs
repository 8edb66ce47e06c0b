use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::error::ErrorKind;
use crate::project::ContextTarget;
use crate::project::fixture::Tree;

fn variables(pairs: &[(&str, String)]) -> Environment {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn project_file(text: &str) -> Result<Settings> {
    let tree = Tree::new(&[]);
    tree.write("annals.toml", text);
    settings(&tree.at(""), &Environment::default())
}

fn refusal(text: &str) -> (ErrorKind, Option<usize>, String, String) {
    let error = project_file(text).unwrap_err();
    let place = error.place.unwrap();
    assert_eq!(place.file, Path::new("annals.toml"));
    (error.kind, place.line, error.message, error.hint.unwrap_or_default())
}

#[test]
fn later_sources_take_precedence_and_are_recorded() {
    let tree = Tree::new(&["project"]);
    tree.write(
        "config/annals/config.toml",
        "lock_wait = 3\nmax_lines = 180\nencoder = false\nhistory = false\n",
    );
    tree.write("project/annals.toml", "max_lines = 150\n\n[facts]\nprofile_turns = 7\n");
    let environment = variables(&[
        ("XDG_CONFIG_HOME", tree.at("config").display().to_string()),
        ("ANNALS_ENCODER", "true".to_owned()),
        ("ANNALS_TARGETS", "gemini, claude".to_owned()),
    ]);
    let settings = settings(&tree.at("project"), &environment).unwrap();
    assert_eq!(settings.max_lines, 150);
    assert!(settings.encoder);
    assert_eq!(settings.targets, [ContextTarget::Claude, ContextTarget::Gemini]);
    assert_eq!(settings.facts.profile_turns, 7);
    let origins: Vec<_> = settings
        .list()
        .into_iter()
        .filter(|setting| setting.origin != Origin::Default)
        .map(|setting| format!("{} = {} ({})", setting.key, setting.value, setting.origin))
        .collect();
    let user = tree.at("config/annals/config.toml");
    let user = user.display();
    assert_eq!(
        origins,
        [
            "max_lines = 150 (annals.toml:1)".to_owned(),
            "targets = [\"claude\",\"gemini\"] (ANNALS_TARGETS)".to_owned(),
            "encoder = true (ANNALS_ENCODER)".to_owned(),
            format!("history = false ({user}:4)"),
            format!("lock_wait = 3 ({user}:1)"),
            "facts.profile_turns = 7 (annals.toml:4)".to_owned(),
        ]
    );
}

#[test]
fn without_sources_the_defaults_apply() {
    let settings = settings(&Tree::new(&[]).at(""), &Environment::default()).unwrap();
    assert_eq!(settings, Settings::default());
    assert!(settings.list().iter().all(|s| s.origin == Origin::Default));
    assert_eq!(settings.list()[1].value, json!(200));
}

#[test]
fn an_unknown_key_names_the_nearest_and_its_line() {
    let (kind, line, message, hint) = refusal("history = true\nmax_line = 100\n");
    assert_eq!((kind, line), (ErrorKind::Usage, Some(2)));
    assert_eq!(message, "unknown setting \"max_line\"");
    assert!(hint.contains("did you mean max_lines?"), "{hint}");

    let (_, line, message, hint) = refusal("[share]\nurk = \"x\"\n");
    assert_eq!((line, message.as_str()), (Some(2), "unknown setting \"share.urk\""));
    assert!(hint.contains("share.url?"), "{hint}");
}

#[test]
fn an_invalid_value_names_its_line_and_the_expected_type() {
    for (text, wanted) in [
        ("max_lines = 201", "max_lines must be a whole number from 1 to 200"),
        ("max_lines = -1", "max_lines must be a whole number from 1 to 200"),
        ("max_lines = \"9\"", "max_lines must be a whole number from 1 to 200"),
        ("max_lines = { a = 1 }", "max_lines must be a whole number from 1 to 200"),
        ("fix_state = \"yes\"", "fix_state must be true or false"),
        ("targets = \"claude\"", "targets must be an array of strings"),
        ("targets = []", "targets must name one of claude, agents, gemini"),
        ("share = 3", "unknown setting \"share\""),
    ] {
        let (kind, line, message, _) = refusal(&format!("# first\n{text}\n"));
        assert_eq!((kind, line, message.as_str()), (ErrorKind::Usage, Some(2), wanted));
    }
    let (_, _, message, _) = refusal("targets = [\"cursor\"]");
    assert!(message.contains("\"cursor\" is not one of claude"), "{message}");
    let (_, line, _, hint) = refusal("max_lines = 100\nhistory = \n");
    assert_eq!(line, Some(2));
    assert!(hint.contains("TOML"), "{hint}");
}

#[test]
fn numbers_may_have_any_toml_notation() {
    assert_eq!(project_file("max_lines = 0x1_0").unwrap().max_lines, 16);
    assert_eq!(project_file("max_lines = 1_00").unwrap().max_lines, 100);
    assert_eq!(project_file("max_lines = +7").unwrap().max_lines, 7);
}

#[test]
fn a_cloned_repository_cannot_name_a_path_outside_itself() {
    for (path, reason) in [
        ("/etc", "leads outside the project"),
        ("../elsewhere", "leads outside the project"),
        ("a/../../b", "leads outside the project"),
        (".git", "leads into .git"),
        ("sub/.GIT/info", "leads into .git"),
    ] {
        for key in ["planning_dir", "store"] {
            let (kind, line, message, hint) = refusal(&format!("{key} = \"{path}\""));
            assert_eq!((kind, line), (ErrorKind::Refused, Some(1)));
            assert!(message.contains(reason), "{message}");
            assert!(hint.contains(&variable(key)), "{hint}");
        }
    }
    let inside = project_file("planning_dir = \"./docs/plan\"").unwrap();
    assert_eq!(inside.planning_dir.unwrap(), Path::new("./docs/plan"));
}

fn user(file: PathBuf, line: usize) -> Origin {
    Origin::User { file, line }
}

fn project(file: PathBuf, line: usize) -> Origin {
    Origin::Project { file, line }
}

fn read_by(author: fn(PathBuf, usize) -> Origin, bytes: &[u8]) -> Result<Settings> {
    let mut draft = Draft::new()?;
    draft.read_file(bytes, Path::new("annals.toml"), author)?;
    draft.finish()
}

#[test]
fn a_user_only_key_is_refused_in_the_project() {
    let text = b"\n[chroma]\nurl = \"https://example.org\"\n";
    assert!(read_by(user, text).unwrap().chroma.is_some());
    let error = read_by(project, text).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert_eq!(error.place.unwrap().line, Some(3));
    assert!(error.hint.unwrap().contains("ANNALS_CHROMA_URL"));
}

#[test]
fn a_settings_file_has_a_maximum_size() {
    let read = |size: usize| read_by(project, "\n".repeat(size).as_bytes());
    read(MAX_FILE_BYTES).unwrap();
    let error = read(MAX_FILE_BYTES + 1).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.to_string().contains("is larger than 1 MiB"));
}

#[test]
fn a_variable_with_a_wrong_value_is_an_error_and_an_unrelated_one_is_not() {
    let read = |name| {
        let environment = variables(&[(name, "1".to_owned())]);
        settings(&Tree::new(&[]).at(""), &environment)
    };
    for foreign in ["ANNALS_NOW", "ANNALS_DB", "ANNALS_USER", "ANNALS_CORPUS", "PATH"] {
        assert!(read(foreign).is_ok(), "{foreign}");
    }
    let environment = variables(&[("ANNALS_FIX_STATE", "perhaps".to_owned())]);
    let error = settings(&Tree::new(&[]).at(""), &environment).unwrap_err();
    assert_eq!(error.message, "ANNALS_FIX_STATE must be true or false");
}

#[test]
fn an_unreadable_file_is_an_error_with_its_location() {
    let tree = Tree::new(&[]);
    tree.write("annals.toml", b"history = true\n# \xff\n");
    let error = settings(&tree.at(""), &Environment::default()).unwrap_err();
    assert_eq!(error.place.unwrap().line, Some(2));
    let tree = Tree::new(&["annals.toml/"]);
    let error = settings(&tree.at(""), &Environment::default()).unwrap_err();
    assert!(error.message.contains("is a directory"), "{error}");
}

#[test]
fn a_byte_order_mark_and_crlf_are_accepted() {
    let settings = project_file("\u{feff}max_lines = 90\r\nhistory = false\r\n").unwrap();
    assert_eq!(settings.max_lines, 90);
    assert!(matches!(settings.origin("history"), Origin::Project { line: 2, .. }));
}

fn arbitrary_bytes() -> impl Strategy<Value = Vec<u8>> {
    let tokens = prop::sample::select(vec![
        "max_lines", "commands", ".", "plan", "[", "]", "{", "}", "=", "\"", "\n", "7", "-",
        "true", "store", "..", "/", "#", "'''", "targets", ",", "\u{feff}", "é", "\\u0000", "[[",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(tokens, 0..60).prop_map(|words| words.concat().into_bytes()),
    ]
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in arbitrary_bytes()) {
        for author in [user, project as fn(PathBuf, usize) -> Origin] {
            match read_by(author, &bytes) {
                Ok(settings) => prop_assert!(settings.max_lines <= 200),
                Err(error) => prop_assert!(!error.message.is_empty()),
            }
        }
    }
}

#[test]
fn a_nesting_bomb_and_a_huge_key_are_rejected() {
    let deep = format!("targets = {}", "[".repeat(100_000));
    assert_eq!(project_file(&deep).unwrap_err().kind, ErrorKind::Usage);
    let (_, _, message, _) = refusal(&format!("{} = 1", "k".repeat(1_000_000)));
    assert!(message.len() < 100);
}
