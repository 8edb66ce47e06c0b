//! Determines what remains of a key that is partly forgotten.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::change::HistoryRow;
use crate::facts::query::Query;

/// The history of a key that is not forgotten: stated later, or outside the scope in which the key is forgotten.
pub(crate) struct SurvivingHistory {
    rows: Vec<SurvivingRow>,
    /// Whether nothing of the key is forgotten.
    pub(crate) is_all: bool,
}

/// What to forget of a key.
#[derive(Clone, Copy)]
pub(crate) struct Forgotten<'a> {
    pub(crate) user: &'a str,
    pub(crate) key: &'a str,
    /// The scope in which it is forgotten.
    pub(crate) scope: &'a str,
    /// Latest clock at which a forgotten fact began.
    pub(crate) until: i64,
}

struct SurvivingRow {
    operation: i64,
    op_id: String,
    is_rewritten: bool,
    history: HistoryRow,
}

impl SurvivingHistory {
    pub(crate) fn read(connection: &Connection, forgotten: Forgotten<'_>) -> Result<Self> {
        let Forgotten { user, key, scope, until } = forgotten;
        let sql = "SELECT count(*) FROM fact_history JOIN operations USING (history_id) WHERE user_id = ?1 AND key = ?2";
        let operations: usize = connection.value("read the history", sql, [user, key])?;
        let sql = "SELECT o.operation, o.op_id, o.is_rewritten, h.fact_id, h.user_id, h.key, h.action, h.reason, \
                   h.turn_id, h.at, h.before_json, h.after_json, h.device \
                   FROM fact_history AS h JOIN operations AS o USING (history_id) \
                   WHERE h.user_id = ?1 AND h.key = ?2 AND (o.born > ?3 OR ?4 NOT IN ('private', o.scope)) \
                   ORDER BY h.history_id";
        let rows: Vec<SurvivingRow> =
            connection.rows("read the history", sql, params![user, key, until, scope], |row| {
                Ok(SurvivingRow {
                    operation: row.get(0)?,
                    op_id: row.get(1)?,
                    is_rewritten: row.get(2)?,
                    history: HistoryRow {
                        fact_id: row.get(3)?,
                        user_id: row.get(4)?,
                        key: row.get(5)?,
                        action: row.get(6)?,
                        reason: row.get(7)?,
                        turn: row.get(8)?,
                        at: row.get(9)?,
                        before: row.get(10)?,
                        after: row.get(11)?,
                        device: row.get(12)?,
                    },
                })
            })?;
        let is_all = operations > 0 && rows.len() == operations;
        Ok(Self { rows, is_all })
    }

    /// Restores the rows after the key was erased.
    pub(crate) fn write(self, connection: &Connection) -> Result<()> {
        for row in self.rows {
            let history = row.history.insert(connection)?;
            let sql = "UPDATE operations SET kind = 'fact', op_id = ?2, history_id = ?3, is_rewritten = ?4 \
                       WHERE operation = ?1";
            connection.run(
                "write the operations",
                sql,
                params![row.operation, row.op_id, history, row.is_rewritten],
            )?;
        }
        Ok(())
    }
}
