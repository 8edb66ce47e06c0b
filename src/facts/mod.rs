//! Atomic facts in SQLite: found by word and meaning, settled when they conflict.
//!
//! One file, `mem.db`, holds the facts of all users of a machine; every query is bound to one of them
//! ([`UserId`]). Each write is one transaction ([`Facts`]), and each change of a fact stands in
//! `fact_history` with what was before and after. `schema.sql` has the tables.

mod addition;
mod change;
mod fact;
mod failure;
mod key;
mod listing;
mod schema;
mod store;
mod user;

pub use addition::Statement;
pub use addition::add;
pub use fact::Category;
pub use fact::Fact;
pub use fact::Proposal;
pub use fact::Status;
pub use key::FactKey;
pub use listing::Filter;
pub use listing::Listing;
pub use listing::find;
pub use listing::list;
pub use store::Facts;
pub use store::Purpose;
pub use store::user;
pub use user::UserId;
