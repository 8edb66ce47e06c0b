//! How much two bullets say the same.

use std::collections::BTreeSet;

use crate::ranking::words;

/// From this share of its words on, a bullet says what another one says.
const SAME: f64 = 0.8;
/// A bullet of fewer words is only compared whole: two words are soon in any bullet.
const FEW: usize = 4;

/// The words of a bullet.
#[derive(Clone, Debug)]
pub(crate) struct Words(BTreeSet<String>);

impl Words {
    pub(crate) fn from_text(text: &str) -> Self {
        Self(words(without_note(text)).into_iter().collect())
    }

    /// Returns whether this bullet adds next to nothing to another one.
    pub(crate) fn repeat(&self, other: &Self) -> bool {
        let few = self.0.len() < FEW;
        let of = if few {
            self.0.len().max(other.0.len())
        } else {
            self.0.len()
        };
        of > 0 && self.shared(other) >= SAME * count(of)
    }

    /// Returns whether two bullets say the same, whichever is asked.
    pub(crate) fn equal(&self, other: &Self) -> bool {
        let of = self.0.len().max(other.0.len());
        of > 0 && self.shared(other) >= SAME * count(of)
    }

    /// Returns whether two bullets have nothing in common.
    pub(crate) fn is_foreign_to(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    fn shared(&self, other: &Self) -> f64 {
        count(self.0.intersection(&other.0).count())
    }
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Returns a bullet without the note of when it was added or changed.
pub(crate) fn without_note(text: &str) -> &str {
    let trimmed = text.trim_end();
    let note = |open: &str| {
        let at = trimmed.rfind(open)?;
        let date = trimmed[at + open.len()..].strip_suffix(')')?;
        (date.len() == 10 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-')).then_some(at)
    };
    match note("(updated ").or_else(|| note("(added ")) {
        Some(at) => trimmed[..at].trim_end(),
        None => trimmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bullet_that_adds_nothing_repeats() {
        let repeat = |new: &str, old: &str| Words::from_text(new).repeat(&Words::from_text(old));
        let old =
            "The gateway listens on port 7778 and binds to all addresses (updated 2026-02-05)";
        assert!(repeat(
            "The gateway listens on port 7778 and binds to all addresses",
            old
        ));
        assert!(repeat("Gateway binds to all addresses, port 7778", old));
        assert!(!repeat(
            "The dashboard is served from public/index.html",
            old
        ));
        assert!(!repeat(
            "Use tabs",
            "Use tabs in Makefiles, spaces elsewhere"
        ));
        assert!(!repeat(
            "Use worktrees for agents that run at once, never clones",
            "Use worktrees"
        ));
        assert!(repeat(
            "再試行キューはファイルに保存される",
            "再試行キューはファイルに保存される"
        ));
        assert!(!repeat("", ""));
    }

    #[test]
    fn notes_are_left_out() {
        assert_eq!(without_note("a (updated 2026-02-05)"), "a");
        assert_eq!(without_note("a (added 2026-02-05) "), "a");
        assert_eq!(
            without_note("a (updated yesterday)"),
            "a (updated yesterday)"
        );
    }
}
