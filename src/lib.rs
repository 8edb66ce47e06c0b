//! Project memory for coding agents: plain files beside the code, and what each session needs of them.
//!
//! The modules stand on floors; each uses only what stands below it, so the crate can be read from
//! the ground up. `docs/architecture.md` draws the floors and `tests/layering.rs` holds them.

// Floor 0, the ground.
pub mod clock;
pub mod error;
pub mod progress;
pub mod secrets;
pub mod text;
pub mod warning;

// Floor 1, the tools.
pub mod embedding;
pub mod git;
pub mod markdown;
pub mod ranking;
mod service;
pub mod storage;

// Floor 2, the place.
pub mod project;
pub mod templates;

// Floor 3, the stores.
pub mod facts;
pub mod journal;
pub mod knowledge;
pub mod ledger;
pub mod patterns;
pub mod planning;
pub mod position;

// Floor 4, the readings.
pub mod claude_md;
pub mod recall;

// Floor 5, the work.
pub mod audit;
pub mod context;
pub mod exchange;
pub mod lifecycle;
pub mod merge;
pub mod report;
pub mod share;

// Floor 6, the doors.
pub mod cli;
pub mod hooks;
pub mod mcp;
