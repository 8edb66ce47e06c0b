//! The value of a setting before validation, with its conversions.

use std::path::PathBuf;

use toml::de::DeValue;

use crate::project::settings::Value;

/// The value of a setting before validation.
pub(crate) enum Input<'a> {
    /// A typed value from a file.
    Toml(&'a DeValue<'a>),
    /// A string from the environment or the command line.
    Text(&'a str),
}

impl Input<'_> {
    /// Returns a single-line text.
    pub(crate) fn line(&self) -> Result<String, String> {
        let text = match self {
            Self::Toml(DeValue::String(text)) => text.as_ref(),
            Self::Toml(other) => return Err(type_error("a string", other)),
            Self::Text(text) => text,
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
            Some(path) => Err(format!("must be absolute paths, which {} is not", path.display())),
            None => Ok(paths),
        }
    }

    /// Returns an integer within limits.
    pub(crate) fn number(&self, min: u64, max: u64) -> Result<u64, String> {
        let number = match self {
            Self::Toml(DeValue::Integer(number)) => {
                u64::from_str_radix(number.as_str(), number.radix()).ok()
            }
            Self::Toml(other) => return Err(type_error("a whole number", other)),
            Self::Text(text) => text.trim().parse().ok(),
        };
        number
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| format!("must be a whole number from {min} to {max}"))
    }

    /// Returns a boolean.
    pub(crate) fn boolean(&self) -> Result<bool, String> {
        match self {
            Self::Toml(DeValue::Boolean(value)) => Ok(*value),
            Self::Toml(other) => Err(type_error("true or false", other)),
            Self::Text(text) => match text.trim() {
                "true" | "1" | "yes" | "on" => Ok(true),
                "false" | "0" | "no" | "off" => Ok(false),
                _ => Err("must be true or false".to_owned()),
            },
        }
    }

    /// Returns words: an array in a file, comma-separated elsewhere.
    pub(crate) fn words(&self) -> Result<Vec<String>, String> {
        match self {
            Self::Toml(DeValue::Array(items)) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(word) => Ok(word.trim().to_owned()),
                    other => Err(type_error("an array of strings", other)),
                })
                .collect(),
            Self::Toml(other) => Err(type_error("an array of strings", other)),
            Self::Text(text) => Ok(text
                .split(',')
                .map(|word| word.trim().to_owned())
                .filter(|word| !word.is_empty())
                .collect()),
        }
    }
}

/// A type of setting that several keys have.
pub(crate) trait SettingValue: Sized {
    /// Reads a value.
    fn read(input: &Input) -> Result<Self, String>;

    /// Returns the value for display.
    fn show(&self) -> Value;
}

impl SettingValue for bool {
    fn read(input: &Input) -> Result<Self, String> {
        input.boolean()
    }

    fn show(&self) -> Value {
        Value::Bool(*self)
    }
}

impl SettingValue for String {
    fn read(input: &Input) -> Result<Self, String> {
        input.line()
    }

    fn show(&self) -> Value {
        match self.as_str() {
            "" => Value::Unset,
            text => Value::Text(text.to_owned()),
        }
    }
}

impl SettingValue for PathBuf {
    fn read(input: &Input) -> Result<Self, String> {
        input.path()
    }

    fn show(&self) -> Value {
        Value::Text(self.display().to_string())
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn read(input: &Input) -> Result<Self, String> {
        T::read(input).map(Some)
    }

    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Unset, T::show)
    }
}

fn type_error(expected: &str, found: &DeValue) -> String {
    format!("must be {expected}, not {}", found.type_str())
}
