//! Answers the calls of a harness at the events of a session, such as its start or a compaction.
//!
//! ```text
//! stdin   {"hook_event_name": "SessionStart", "source": "startup", "cwd": "…", …}
//! stdout  {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "…"}}, or nothing
//! ```
//!
//! A hook never makes a session fail: the exit code is always 0, and the answer arrives in time.

mod already_read;
mod answer;
mod cap;
mod cost;
mod end;
mod event;
mod harness;
mod input;
mod log;
mod notices;
mod post_tool;
mod pre_compact;
mod session_project;
pub mod setup;
mod start;
mod subagent;

pub use answer::{HookAnswer, HookRequest, Reply, answer};
pub use cap::LIMIT;
pub use cost::{Cost, CostKind, CostPart, Size, cost};
pub use event::Event;
pub use harness::{Harness, Obstacle, SetupOptions, SetupOverrides, SetupScope};
pub use input::{Input, MAX_INPUT};
