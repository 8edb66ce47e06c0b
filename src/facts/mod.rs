//! Atomic facts in SQLite, searchable by word and meaning, with conflicts resolved by rules.
//!
//! One file, `mem.db`, holds the facts of all users of a machine; every query is restricted to one of them
//! ([`UserId`]). Each write is one transaction ([`Facts`]), and each change of a fact is recorded in
//! `fact_history` with the states before and after. The tables are defined in `schema.sql`.

mod action;
mod arbitration;
mod auditor;
pub mod confidence;
mod evaluation;
mod fact;
mod forget;
mod history;
mod key;
mod maintenance;
mod metrics;
mod profile;
mod queue;
pub(crate) mod replication;
mod search;
mod sql;
mod statement;
mod store;
mod vectors;
mod wording;
mod work;

pub use action::{Action, ActionOutcome, ActionType, parse_answer};
pub use arbitration::{ActionEffect, ActionResult};
pub use auditor::Auditor;
pub use evaluation::{
    Delta, Evaluation, Group, Item, Measures, MethodRow, Question, evaluate, read_dataset, stored,
};
pub(crate) use fact::COLUMNS;
pub use fact::{Category, Fact, FactStatus, Proposal, UserId, is_unknown, user, user_or_systems};
pub use forget::{Forgotten, forget};
pub use history::{Change, FactFilter, FactListing, Imported, export, find, history, import, list};
pub use key::FactKey;
pub use maintenance::{Integrity, Maintenance, archive, check, maintain};
pub use metrics::{Cost, Latency, Metrics, Share, count_injection, metrics};
pub use profile::{
    BuiltProfile, Field, Fields, Injection, Slot, UserProfile, inject, profile, stored_profile,
};
pub use queue::{Observation, Receipt, Turn, TurnStatus, find_turn, observe, turns, waiting};
pub use replication::{SetAside, SharingState, sharing};
pub use search::{Components, FactHit, FactQuery, Method, Retrieved, Selection, retrieve};
pub(crate) use sql::{Sql, json, row};
pub use statement::{Pending, Statement, add, confirm, pending, reject};
pub use store::{Facts, Purpose};
pub use vectors::{embedder, refresh};
pub use work::{JudgedTurn, TurnOutcome, apply, prompt, step};
