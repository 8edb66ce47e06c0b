//! The commands as they are typed: few tests each, for what only the whole program shows.

mod init;
mod plan;
