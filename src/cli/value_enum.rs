//! Enums of the library as values of options.

/// Takes the words of an enum as the values of an option; a method of the enum may say what they mean.
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
