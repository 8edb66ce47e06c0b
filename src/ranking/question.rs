//! Distinguishes questions from answers: a question that resembles the query does not answer it.

use crate::ranking::to_f64;

/// Returns the share of a text, from 0 to 1, that consists of questions.
pub fn question_share(text: &str) -> f64 {
    let (mut in_questions, mut all) = (0, 0);
    for sentence in text.split_inclusive(['.', '!', '?', '\n', '？', '。']) {
        let letters = sentence.chars().filter(|c| c.is_alphanumeric()).count();
        all += letters;
        if sentence.ends_with(['?', '？']) {
            in_questions += letters;
        }
    }
    if all == 0 {
        return 0.0;
    }
    to_f64(in_questions) / to_f64(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_distinguished_from_statements() {
        let is = |text: &str, share: f64| (question_share(text) - share).abs() < 1e-9;
        assert!(is("Where is it?", 1.0));
        assert!(is("It is here.", 0.0));
        assert!(is("abcd. efgh?", 0.5));
        assert!(is("重試在哪裡？", 1.0));
        assert!(is("", 0.0) && is("?!", 0.0));
        assert!(is("see https://a.test/x", 0.0));
    }
}
