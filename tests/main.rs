//! The one test binary: every integration test is a module of it.
//!
//! They run the built binary the way people and agents run it; `support` is the harness they share.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop where it stands; allow-unwrap-in-tests does not reach helpers"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the bans hold the library's floors; tests lay out files, read ANNALS_CORPUS and start the binary"
)]

#[cfg(unix)]
mod attack;
mod ci;
mod claude_md;
mod cli;
mod conformance;
mod corpus_sweep;
mod crash;
mod entries;
mod facts;
mod fix_state;
mod fuzz_corpora;
mod gold;
mod journal;
mod layering;
mod ledger;
mod load;
mod mcp_client;
mod merge_conflicts;
mod milestone_phases;
mod obstacles;
mod package;
mod packaging;
mod planning_files;
mod plugin;
mod position;
mod races;
mod recall;
mod repository;
mod retrospective;
mod sessions;
mod share;
mod staleness;
mod storage;
mod support;
mod vbw_scripts;
mod versions;
