//! The one test binary: every integration test is a module of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod claude_md;
mod layering;
mod repository;
mod storage;
