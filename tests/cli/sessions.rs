//! `annals sessions`; what is read of transcripts is in `tests/sessions`.

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
