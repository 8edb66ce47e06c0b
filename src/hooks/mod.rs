//! Answers the calls of a harness at the events of a session, such as its start or a compaction.
//!
//! ```text
//! stdin   {"hook_event_name": "SessionStart", "source": "startup", "cwd": "…", …}
//! stdout  {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "…"}}, or nothing
//! ```
//!
//! A hook never makes a session fail: the exit code is always 0, and the answer arrives in time.

mod answer;
mod harness;
mod input;
pub mod setup;

pub use answer::{HookRequest, LIMIT, Reply, answer, start_tokens};
pub use harness::{Harness, Obstacle, SetupOptions, SetupScope};
pub use input::{Event, Input, MAX_INPUT};
