//! The library as MCP tools over stdio.
//!
//! Newline-delimited JSON-RPC on standard input and output, and nothing else there. Every client starts
//! a separate process; the stores' locks coordinate them. The project is located on each call: one server
//! serves many projects over time, and an agent in a worktree inherits its parent's server.

mod server;
mod tools;

pub use server::{advertised, call, serve};
