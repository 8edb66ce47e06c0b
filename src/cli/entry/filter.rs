//! Defines the filter options that several subcommands share.

use clap::Args;

use crate::cli::value_enum::value_enum;
use crate::knowledge::Confidence;
use crate::knowledge::EntryType;

value_enum!(EntryType);
value_enum!(Confidence);

/// Criteria that select entries.
#[derive(Args, Debug)]
pub(crate) struct EntryFilterArgs {
    /// Only entries with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,
    /// Only entries of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<EntryType>,
    /// Include entries that are superseded or stale
    #[arg(long)]
    pub(crate) include_superseded: bool,
}
