//! Project memory for coding agents: plain files beside the code, and what each session needs of them.
//!
//! The modules are arranged in layers; each uses only lower layers, so the crate can be read from the
//! bottom up. `docs/architecture.md` describes the layers and `tests/layering.rs` enforces them.

// Layer 0, the foundation.
pub mod clock;
pub mod error;
mod parallel;
mod process;
pub mod progress;
pub mod secrets;
pub mod text;
pub mod warning;

// Layer 1, the tools.
pub mod git;
pub mod markdown;
pub mod search;
mod service;
pub mod storage;

// Layer 2, the project.
pub mod project;
pub mod templates;

// Layer 3, the stores.
pub mod facts;
pub mod journal;
pub mod knowledge;
pub mod ledger;
pub mod patterns;
pub mod plan;

// Layer 4, the views.
pub mod claude_md;
pub mod recall;
pub mod sessions;

// Layer 5, the operations.
pub mod audit;
pub mod context;
pub mod lifecycle;
pub mod merge;
pub mod report;
pub mod share;

// Layer 6, the interfaces.
pub mod cli;
pub mod hooks;
pub mod mcp;
