//! Maintains three files with three update modes, and tracks how much of git's history they cover.
//!
//! `STATE.md` says what is true now and is rewritten each time:
//!
//! ```markdown
//! # State
//!
//! ## Current Objective
//! ## Active Work
//! ## Blockers
//! ## Next Actions
//! ## Quick Reference
//! ## Out of Scope (for now)
//!
//! ---
//! Last memory update: 2026-02-17
//! Commits covered through: 1556aaf4112000488d46f31c0d93069fd7799cee
//! ```
//!
//! `CONSTRAINTS.md` says what must not change and is merged into: bullets in sections, added, edited in
//! place or moved to Superseded, never deleted.
//!
//! `DECISIONS.md` says how it came about and is appended to: a rollup, then months, newest first, of
//! `### 2026-02-17 — Title` with **Why**, **Impact** and **Evidence**, or what a fix has instead.
//!
//! The last hash is the anchor: all commits up to it are covered. A session starts with the
//! [`brief`]; an agent requests what is [`pending`], and submits an [`update`] as a whole.

mod brief;
mod check;
mod constraints;
mod coverage;
mod decisions;
mod files;
mod pending;
mod state;
mod update;

pub(crate) use brief::BriefSection;
pub use brief::{BRIEF_DAYS, Brief, CommitLine, brief};
pub use check::{CheckReport, Finding, check};
pub use coverage::{AnchorState, Coverage};
pub use decisions::{DecisionEntry, list_decisions};
pub(crate) use files::is_filled;
pub use files::{InitReport, exists, init, paths};
pub use pending::{BATCH_COMMITS, CurrentFiles, Pending, Spec, Specs, pending, skill};
pub use update::{UpdateReport, UpdateResult, schema, update, update_problems};

#[cfg(test)]
mod tests;
