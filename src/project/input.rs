//! The value of a setting before validation, with its conversions.

use std::path::PathBuf;

use toml::de::DeValue;

/// The value of a setting before validation.
pub(crate) enum Input<'a> {
    /// A typed value from a file.
    Typed(&'a DeValue<'a>),
    /// A string from the environment or the command line.
    Spelled(&'a str),
}

impl Input<'_> {
    /// Returns a single-line text.
    pub(crate) fn line(&self) -> Result<String, String> {
        let text = match self {
            Self::Typed(DeValue::String(text)) => text.as_ref(),
            Self::Typed(other) => return Err(type_mismatch("a string", other)),
            Self::Spelled(text) => text,
        };
        if text.trim().is_empty() {
            return Err("must not be empty".to_owned());
        }
        if text.chars().any(char::is_control) {
            return Err("must be one line without control characters".to_owned());
        }
        Ok(text.to_owned())
    }

    /// Returns a path.
    pub(crate) fn path(&self) -> Result<PathBuf, String> {
        self.line().map(PathBuf::from)
    }

    /// Returns absolute paths: an array in a file, comma-separated elsewhere.
    pub(crate) fn absolute_paths(&self) -> Result<Vec<PathBuf>, String> {
        let paths: Vec<PathBuf> = self.words()?.into_iter().map(PathBuf::from).collect();
        match paths.iter().find(|path| !path.is_absolute()) {
            Some(path) => Err(format!(
                "must name absolute paths, which {} is not",
                path.display()
            )),
            None => Ok(paths),
        }
    }

    /// Returns an integer within limits.
    pub(crate) fn number(&self, least: u64, most: u64) -> Result<u64, String> {
        let number = match self {
            Self::Typed(DeValue::Integer(number)) => {
                u64::from_str_radix(number.as_str(), number.radix()).ok()
            }
            Self::Typed(other) => return Err(type_mismatch("a whole number", other)),
            Self::Spelled(text) => text.trim().parse().ok(),
        };
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("must be a whole number from {least} to {most}"))
    }

    /// Returns a boolean.
    pub(crate) fn yes_or_no(&self) -> Result<bool, String> {
        match self {
            Self::Typed(DeValue::Boolean(value)) => Ok(*value),
            Self::Typed(other) => Err(type_mismatch("true or false", other)),
            Self::Spelled(text) => match text.trim() {
                "true" | "1" | "yes" | "on" => Ok(true),
                "false" | "0" | "no" | "off" => Ok(false),
                _ => Err("must be true or false".to_owned()),
            },
        }
    }

    /// Returns words: an array in a file, comma-separated elsewhere.
    pub(crate) fn words(&self) -> Result<Vec<String>, String> {
        match self {
            Self::Typed(DeValue::Array(items)) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(word) => Ok(word.trim().to_owned()),
                    other => Err(type_mismatch("an array of strings", other)),
                })
                .collect(),
            Self::Typed(other) => Err(type_mismatch("an array of strings", other)),
            Self::Spelled(text) => Ok(text
                .split(',')
                .map(|word| word.trim().to_owned())
                .filter(|word| !word.is_empty())
                .collect()),
        }
    }
}

fn type_mismatch(wanted: &str, found: &DeValue) -> String {
    format!("must be {wanted}, not {}", found.type_str())
}
