//! The format of entries and notepad, rule by rule: one named test for each.

mod classify;
mod notepad;
