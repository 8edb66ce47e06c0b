//! Determines the position of the work and the next action by weighing all evidence.
//!
//! docs/formats.md describes the rules in the same order: which phases belong to the milestone (`scope`),
//! what each document says about a phase (`phase_evidence`), its state (`progress`), whether the milestone is
//! over (`milestone_end`), the position and the next action (`choice`), whether checks of a finished phase come
//! first (`gate`), and whether another interpretation is almost as likely (`contest`).

mod action;
mod assessment;
mod choice;
mod contest;
mod evidence;
mod gate;
mod milestone_end;
mod phase_evidence;
mod position;
mod progress;
mod reason;
mod scope;
mod wording;

pub use action::{Action, Alternative, Next};
pub use evidence::Evidence;
pub use position::Position;

#[cfg(test)]
mod tests;
