//! Atomic facts in SQLite, searchable by word and meaning, with conflicts resolved by rules.
//!
//! One file, `mem.db`, holds the facts of all users of a machine; every query is restricted to one of them
//! ([`UserId`]). Each write is one transaction ([`Facts`]), and each change of a fact is recorded in
//! `fact_history` with the states before and after. The tables are defined in `schema.sql`.

mod arbitration;
mod fact;
mod forget;
mod history;
mod maintenance;
mod metrics;
mod profile;
pub(crate) mod replication;
mod search;
mod statement;
mod store;
mod turns;
mod vectors;

pub use arbitration::{ActionEffect, ActionResult};
pub use fact::{
    Category, Fact, FactKey, FactStatus, Proposal, UserId, is_unknown, user, user_or_systems,
};
pub use forget::{Forgotten, forget};
pub use history::{Change, FactFilter, FactListing, Imported, export, find, history, import, list};
pub use maintenance::{Integrity, Maintenance, archive, check, maintain};
pub use metrics::{
    Cost, Delta, Evaluation, Group, Item, Latency, Measures, MethodRow, Metrics, Question, Share,
    count_injection, evaluate, metrics, read_dataset, stored,
};
pub(crate) use profile::lines;
pub use profile::{BuiltProfile, Fields, Injection, UserProfile, inject, profile, stored_profile};
pub use replication::{SetAside, SetAsides, SharingState, sharing};
pub use search::{Components, FactHit, FactQuery, Method, Retrieved, Selection, retrieve};
pub(crate) use search::{NAME_KEYS, without_name};
pub use statement::{Pending, Statement, add, answer, pending};
pub(crate) use store::json;
pub use store::{Facts, Purpose};
pub use turns::{
    Action, ActionOutcome, ActionType, JudgedTurn, Observation, Receipt, Turn, TurnOutcome,
    TurnStatus, apply, find_turn, observe, parse_answer, prompt, step, turns, waiting,
};
pub use vectors::{embedder, refresh};
