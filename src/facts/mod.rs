//! Atomic facts in SQLite: found by word and meaning, settled when they conflict.
//!
//! One file, `mem.db`, holds the facts of all users of a machine; every query is bound to one of them
//! ([`UserId`]). Each write is one transaction ([`Facts`]), and each change of a fact stands in
//! `fact_history` with what was before and after. `schema.sql` has the tables.

mod addition;
mod change;
mod evaluation;
mod fact;
mod failure;
mod key;
mod listing;
mod schema;
mod search;
mod store;
mod user;
mod vectors;

pub use addition::Statement;
pub use addition::add;
pub use evaluation::Delta;
pub use evaluation::Evaluation;
pub use evaluation::Interval;
pub use evaluation::Row;
pub use evaluation::evaluate;
pub use fact::Category;
pub use fact::Fact;
pub use fact::Proposal;
pub use fact::Status;
pub use key::FactKey;
pub use listing::Filter;
pub use listing::Listing;
pub use listing::find;
pub use listing::list;
pub use search::Components;
pub use search::Hit;
pub use search::Method;
pub use search::Query;
pub use search::Retrieved;
pub use search::Scope;
pub use search::retrieve;
pub use store::Facts;
pub use store::Purpose;
pub use store::user;
pub use user::UserId;
pub use vectors::embedder;
pub use vectors::refresh;
