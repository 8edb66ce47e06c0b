//! wrong
