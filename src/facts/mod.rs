//! Atomic facts in SQLite, searchable by word and meaning, with conflicts resolved by rules.
//!
//! One file, `mem.db`, holds the facts of all users of a machine; every query is restricted to one of them
//! ([`UserId`]). Each write is one transaction ([`Facts`]), and each change of a fact is recorded in
//! `fact_history` with the states before and after. The tables are defined in `schema.sql`.

mod action;
mod addition;
mod application;
mod arbitration;
mod archive;
mod audit_trail;
mod auditor;
mod change;
mod columns;
pub mod confidence;
mod confirmation;
mod erase;
mod evaluation;
mod expiry;
mod fact;
mod failure;
mod forget;
mod holders;
mod injection;
mod integrity;
mod key;
mod lease;
mod listing;
mod maintenance;
mod metrics;
mod opening;
mod profile;
mod prompt;
mod proposal;
mod query;
mod queue;
pub(crate) mod replication;
mod schema;
mod scope;
mod search;
mod store;
mod transfer;
mod user;
mod vectors;
mod vocabulary;
mod wording;
mod work;

pub use action::{Action, ActionOutcome, ActionType, parse_answer};
pub use addition::{Statement, add};
pub use application::ActionResult;
pub use arbitration::ActionEffect;
pub use audit_trail::{Change, history};
pub use auditor::{Auditor, Endpoint};
pub use confirmation::{Pending, confirm, pending, reject};
pub use evaluation::{Delta, Evaluation, Interval, Measures, MethodRow, evaluate};
pub use fact::Fact;
pub use forget::{Forgotten, forget};
pub use injection::{Injection, inject};
pub use integrity::{Integrity, check};
pub use key::FactKey;
pub use listing::{FactFilter, FactListing, find, list};
pub use maintenance::{Maintenance, archive, maintain};
pub use metrics::{Cost, Latency, Metrics, Share, count_injection, metrics};
pub use profile::{BuiltProfile, Field, Fields, Slot, UserProfile, profile, stored_profile};
pub use prompt::prompt;
pub use queue::{Observation, Receipt, Turn, TurnStatus, find_turn, observe, turns, waiting};
pub use replication::{Device, SetAside, SharingState, sharing};
pub use scope::ProjectScope;
pub use search::{Components, FactHit, FactQuery, Method, Retrieved, Selection, retrieve};
pub use store::{Facts, Purpose};
pub use transfer::{Imported, export, import};
pub use user::{UserId, user};
pub use vectors::{Remaining, embedder, erase_remaining, refresh};
pub use vocabulary::{Category, FactStatus, Proposal};
pub use work::{JudgedTurn, TurnOutcome, apply, step};
