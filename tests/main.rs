//! The one test binary: every integration test is a module of it.
