//! Answers the calls of a harness at the events of a session, such as its start or a compaction.
//!
//! ```text
//! stdin   {"hook_event_name": "SessionStart", "source": "startup", "cwd": "…", …}
//! stdout  {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "…"}}, or nothing
//! ```
//!
//! A hook never makes a session fail: the exit code is always 0, and the answer arrives in time.

mod answer;
mod event;
mod harness;
mod input;
mod notices;
mod phase;
pub mod setup;
mod start;

pub use answer::{HookRequest, Reply, answer};
pub use event::Event;
pub use harness::{Harness, Obstacle, SetupOptions, SetupScope};
pub use input::{Input, MAX_INPUT};
pub use start::{LIMIT, start_tokens};
