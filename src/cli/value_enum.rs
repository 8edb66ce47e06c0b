//! Makes enums of the library usable as option values.

/// Implements `ValueEnum` for an enum, with its words as values; a method of the enum may describe them.
macro_rules! value_enum {
    ($name:ty $(, $help:ident)?) => {
        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(clap::builder::PossibleValue::new(self.as_str())$(.help(self.$help()))?)
            }
        }
    };
}

pub(crate) use value_enum;
