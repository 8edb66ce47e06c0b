//! Where the events are kept.

pub mod lock;
pub mod log;
