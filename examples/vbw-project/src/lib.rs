//! A household's pantry in one shared text file.

pub mod alerts;
pub mod cli;
pub mod event;
pub mod export;
pub mod import;
pub mod item;
pub mod merge;
pub mod output;
pub mod quantity;
pub mod recipe;
pub mod shopping;
pub mod store;
pub mod units;
