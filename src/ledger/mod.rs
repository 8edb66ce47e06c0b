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

mod anchor;
mod apply;
mod batch;
mod brief;
mod check;
mod constraints;
mod coverage;
mod decision_list;
mod decisions;
mod document;
mod evidence;
mod files;
mod fix;
mod init;
mod pending;
mod redacted;
mod session_constraints;
mod similarity;
mod skill;
mod specs;
mod state;
mod update;

pub(crate) use apply::rollup::MAX_BULLETS as MAX_ROLLUP_BULLETS;
pub use brief::Brief;
pub use brief::CommitLine;
pub use brief::brief;
pub use check::CheckReport;
pub use check::Finding;
pub use check::check;
pub(crate) use constraints::bullet_end;
pub use coverage::AnchorState;
pub use coverage::Coverage;
pub use decision_list::ListedDecision;
pub use decision_list::list_decisions;
pub use document::schema;
pub use document::update_problems;
pub(crate) use files::DECISIONS;
pub use files::exists;
pub use files::paths;
pub use fix::FixReport;
pub use fix::fix;
pub use init::InitReport;
pub use init::init;
pub use pending::CurrentFiles;
pub use pending::Pending;
pub use pending::PendingRequest;
pub use pending::pending;
pub use skill::skill;
pub use specs::Spec;
pub use specs::Specs;
pub use update::UpdateReport;
pub use update::UpdateRequest;
pub use update::UpdateResult;
pub(crate) use update::commit_since;
pub use update::update;

#[cfg(test)]
mod tests;
