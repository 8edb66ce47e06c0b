//! Wrong answers that are accepted, since a rule for them would cost more right ones: `tests/corpus/accepted/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::position::answer::Answer;
use crate::support::Case;

/// A planning folder, what `status` says of it today, and what came next.
#[derive(Deserialize)]
struct Accepted {
    story: String,
    says: String,
    next: Vec<String>,
    files: BTreeMap<String, String>,
}

#[test]
fn accepted_wrong_answers_are_still_given() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/accepted");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let accepted: Accepted = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let case = Case::empty();
        for (file, text) in &accepted.files {
            case.write(file, text);
        }
        let (story, says) = (&accepted.story, &accepted.says);
        assert_eq!(Answer::ask(&case).whole(), *says, "{}: {story}", path.display());
        let first = says.split(',').next().unwrap().to_owned();
        assert!(!accepted.next.contains(&first), "{}: right now", path.display());
        seen += 1;
    }
    assert!(seen > 5, "too few cases: {seen}");
}
