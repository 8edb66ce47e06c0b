//! The journal under many hands and many queries: nothing acknowledged is lost, and nothing that matches is missed.

mod crowd;
mod differential;
#[cfg(debug_assertions)]
mod kills;
mod large;
