//! The harness of all tests that run the binary, with a folder and an environment for each test.
//!
//! ```text
//! let case = Case::new("examples/vbw-project");        // a copy, in a temporary folder
//! let status = case.run("status --json").success().json();
//! case.run("entry write").args(["a title"]).stdin("text").env("ANNALS_DB", "x.db").code(4);
//! ```
//!
//! Nothing runs before the outcome is asserted (`success`, `code`) or requested (`output`).

mod case;
mod corpus;
mod environment;
mod help;
mod invocation;
mod postgres;
mod proof;
mod require;
mod threads;
mod tree;

pub(crate) use case::Case;
pub(crate) use corpus::corpus;
pub(crate) use help::listed_commands;
pub(crate) use invocation::{Invocation, Outcome};
pub(crate) use postgres::Postgres;
pub(crate) use require::{browser, require};
pub(crate) use threads::on_two_threads;
pub(crate) use tree::{Tree, difference, tree, whole_tree};
