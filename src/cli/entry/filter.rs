//! Defines the filter options that several subcommands share.

use clap::Args;

use crate::cli::value_enum::value_enum;
use crate::knowledge::{Confidence, EntryFilter, EntryType};

value_enum!(EntryType);
value_enum!(Confidence);

/// Criteria that select entries.
#[derive(Args, Debug)]
pub(crate) struct EntryFilterArgs {
    /// Only entries with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    tags: Vec<String>,
    /// Only entries of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<EntryType>,
    /// Include entries that are superseded or stale
    #[arg(long)]
    include_superseded: bool,
}

impl EntryFilterArgs {
    pub(crate) fn filter(&self) -> EntryFilter {
        EntryFilter {
            tags: self.tags.clone(),
            kind: self.kind,
            include_superseded: self.include_superseded,
        }
    }
}
