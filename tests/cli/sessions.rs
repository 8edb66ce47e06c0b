//! `annals sessions`; what is read of transcripts is in `tests/sessions`.

use std::fs;

use crate::support::Case;

#[test]
fn without_a_transcript_the_list_says_so() {
    let case = Case::empty();
    let run = |line: &str| case.run(line).env("ANNALS_SESSIONS", "true");
    assert_eq!(run("sessions").success().stdout(), "No sessions of this project were found.\n");
    let forgotten = run("sessions forget").success().stdout();
    assert_eq!(forgotten, "There is no index of this project's sessions.\n");
    let refused = run("sessions --off").code(2).stderr();
    assert!(refused.contains("unset ANNALS_SESSIONS"), "{refused}");
}

#[test]
fn comments_around_the_setting_stay_when_it_changes_or_goes() {
    let case = Case::empty();
    let file = case.home().join(".config/annals/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let written = |old: &str, line: &str| {
        fs::write(&file, old).unwrap();
        case.run(line).success();
        fs::read_to_string(&file).unwrap_or_default()
    };
    let on = "sessions = [\"claude\", \"codex\"]";
    for (old, off, more) in [
        ("sessions = true\n", "", "sessions = [\"claude\", \"codex\", \"gemini\", \"opencode\"]\n"),
        (
            "# Ada, dotfiles\nsessions = [\"claude\"]\nuser = \"ada\"\n",
            "# Ada, dotfiles\nuser = \"ada\"\n",
            &format!("# Ada, dotfiles\n{on}\nuser = \"ada\"\n"),
        ),
        (
            "user = \"ada\"\n  sessions = [ \"claude\" ] # mine\n\n[facts]\n",
            "user = \"ada\"\n# mine\n\n[facts]\n",
            &format!("user = \"ada\"\n  {on} # mine\n\n[facts]\n"),
        ),
        ("# a\r\nsessions = [\r\n]\r\n# b", "# a\r\n# b", "# a\r\nsessions = [\"codex\"]\r\n# b"),
        ("\u{feff}# a\nsessions = []", "\u{feff}# a\n", "\u{feff}# a\nsessions = [\"codex\"]"),
        ("# a\n", "# a\n", "sessions = [\"codex\"]\n# a\n"),
    ] {
        assert_eq!(written(old, "sessions --off"), off, "{old:?}");
        assert_eq!(written(old, "setup codex --sessions"), more, "{old:?}");
    }
}
