//! Judges by its characters whether a value looks random, and so may be a secret.

/// Returns whether a value looks random, unlike a word, a path, a reference or a hash.
pub(crate) fn is_random(value: &str) -> bool {
    // Most values have no digit, and this is asked at every separator.
    if !value.is_ascii() || !(value.bytes().any(|b| b.is_ascii_digit()) || is_symbolic(value)) {
        return false;
    }
    let count = |class: fn(&u8) -> bool| value.as_bytes().iter().filter(|b| class(b)).count();
    let digits = count(u8::is_ascii_digit);
    let symbols = count(|b| b"!@#$%^&*?~+=".contains(b));
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    if upper + lower == 0 {
        return false;
    }
    if is_placeholder(value) || is_reference(value) || is_wordy(value) || is_digest(value) {
        return false;
    }
    // A short value must look like a password that satisfies a password policy.
    let classes = [digits, symbols, upper, lower].into_iter().filter(|count| *count > 0).count();
    if value.len() < 16 && (classes < 3 || (digits < 2 && symbols == 0)) {
        return false;
    }
    if value.len() >= 32 && value.bytes().all(|b| b.is_ascii_hexdigit()) {
        return true;
    }
    // Identifiers change between letter case and digits less often than every third character.
    value.len() * 2 <= count_class_runs(value) * 7
}

/// Returns whether a value without digits mixes symbols and letter case as only a password does.
fn is_symbolic(value: &str) -> bool {
    // Not `contains`: this is counted in every value without a digit.
    let is_symbol =
        |b: &u8| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'?' | b'~');
    let symbols = value.bytes().filter(is_symbol).count();
    let is_letter = |b: u8| b.is_ascii_alphabetic();
    symbols >= 2
        && value.len() >= 10
        && value.bytes().next().is_some_and(is_letter)
        && value.bytes().any(|b| b.is_ascii_uppercase())
        && value.bytes().any(|b| b.is_ascii_lowercase())
        && value.len() <= count_class_runs(value) * 2
}

/// Counts the runs of one character class: `useToken2` has three, `q7Zt2` has four.
pub(crate) fn count_class_runs(value: &str) -> usize {
    let kind = |b: u8| match b {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let kinds: Vec<u8> = value.bytes().map(kind).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1] && *pair != [1, 2]);
    changes.count() + 1
}

/// Returns whether a value is a placeholder for a key.
fn is_placeholder(value: &str) -> bool {
    let mut seen = [false; 256];
    let distinct =
        value.bytes().filter(|b| !std::mem::replace(&mut seen[usize::from(*b)], true)).count();
    distinct < 6 || contains_placeholder_word(&value.to_ascii_lowercase())
}

/// Returns whether a value, in lower case, contains a word that marks a placeholder.
pub(crate) fn contains_placeholder_word(lower: &str) -> bool {
    let words = ["xxx", "your", "changeme", "placeholder", "redacted", "...", "***"];
    words.iter().any(|word| lower.contains(word))
}

/// Returns whether a value is a variable, a call, a template or a path: a reference to a secret, not the
/// secret.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '%', '/', '~', '.', '&']) || value.contains(['(', '[', '{', '<'])
}

/// Returns whether a value consists of words followed by numbers: `my-app-v2`, `RS256/JWT`, `1.2.3-beta.4`.
pub(crate) fn is_wordy(value: &str) -> bool {
    value.split(['-', '_', '.', ':', '/', '=', '+', '@', '#', '|']).all(|part| {
        let number = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        digits && (number.len() <= 4 || number.len() == part.len())
    })
}

/// Returns whether a value is a UUID or a digest with its algorithm's name.
fn is_digest(value: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let is_uuid =
        value.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && value.split('-').all(is_hex);
    is_uuid || (value.starts_with("sha") && value.contains([':', '-']))
}

/// Returns the number of bytes at the start of a text that belong to an alphabet (ASCII only).
pub(crate) fn prefix_length(text: &str, alphabet: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii() && alphabet(*byte)).count()
}
