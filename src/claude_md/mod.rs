//! Renders the context file and leaves the user's text alone.

mod legacy;
mod legacy_body;
mod marker;
mod ownership;
mod readable;
mod span;

pub use legacy::Known;
pub use ownership::ContextFile;
pub use ownership::Placed;
