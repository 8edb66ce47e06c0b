//! Defines the filter options that several subcommands share.

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;

use crate::knowledge::Confidence;
use crate::knowledge::EntryType;

/// Which entries are meant.
#[derive(Args, Debug)]
pub(crate) struct EntryFilterArgs {
    /// Only entries with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,
    /// Only entries of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = entry_type())]
    pub(crate) kind: Option<EntryType>,
    /// Include entries that are superseded or stale
    #[arg(long)]
    pub(crate) include_superseded: bool,
}

/// Returns a parser for entry types.
pub(crate) fn entry_type() -> impl TypedValueParser<Value = EntryType> {
    PossibleValuesParser::new(EntryType::ALL.map(EntryType::as_str))
        .try_map(|word| EntryType::parse(&word).ok_or("is not a type"))
}

/// Returns a parser for confidence grades.
pub(crate) fn confidence() -> impl TypedValueParser<Value = Confidence> {
    PossibleValuesParser::new(Confidence::ALL.map(Confidence::as_str))
        .try_map(|word| Confidence::parse(&word).ok_or("is not a confidence"))
}
