//! Scopes determine who sees a fact: this device, the user's own devices, or a named group.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::query::Query;

/// The scope that never leaves this device.
pub(crate) const DEVICE: &str = "device";

/// The scope of the user's own devices, which is the default.
pub(crate) const PRIVATE: &str = "private";

/// The rules for the scope of a new fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes {
    /// Keys, or prefixes that end in a dot, with the scope of each.
    rules: Vec<(String, String)>,
    /// The scope named for the current write.
    named: Option<String>,
}

impl Scopes {
    /// Creates the scopes from rules.
    pub(crate) fn new(rules: &[(String, String)]) -> Self {
        Self { rules: rules.to_vec(), named: None }
    }

    /// Sets the scope of all new facts, or removes it.
    pub(crate) fn name(&mut self, scope: Option<&str>) {
        self.named = scope.map(str::to_owned);
    }

    /// Returns the scope of a change: a fact keeps the one in which it was first written.
    pub(crate) fn scope_for(
        &self,
        connection: &Connection,
        user: &str,
        fact: &str,
        key: &str,
    ) -> Result<String> {
        if let Some(scope) = of_fact(connection, user, fact)? {
            return Ok(scope);
        }
        let named = self.named.clone();
        Ok(named.unwrap_or_else(|| self.of_key(key).to_owned()))
    }

    fn of_key(&self, key: &str) -> &str {
        let is_meant = |rule: &&(String, String)| {
            rule.0 == key || rule.0.ends_with('.') && key.starts_with(&rule.0)
        };
        let rules = self.rules.iter().filter(is_meant);
        let closest = rules.max_by_key(|rule| rule.0.len());
        closest.map_or(PRIVATE, |rule| rule.1.as_str())
    }
}

/// Returns the scope in which a fact is shared, if it is.
pub(crate) fn of_fact(connection: &Connection, user: &str, fact: &str) -> Result<Option<String>> {
    connection.optional_row(
        "read the operations",
        "SELECT o.scope FROM fact_history AS h JOIN operations AS o USING (history_id) \
             WHERE h.user_id = ?1 AND h.fact_id = ?2 ORDER BY o.clock, o.device LIMIT 1",
        params![user, fact],
        |row| row.get(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_rule_decides_and_private_is_the_default() {
        let rule = |key: &str, scope: &str| (key.to_owned(), scope.to_owned());
        let scopes = Scopes::new(&[rule("work.", "core"), rule("work.salary", "device")]);
        assert_eq!(scopes.of_key("work.editor"), "core");
        assert_eq!(scopes.of_key("work.salary"), DEVICE);
        assert_eq!(scopes.of_key("workshop"), PRIVATE);
    }
}
