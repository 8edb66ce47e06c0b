-- Version 6: sharing between devices. All of these tables are empty until `annals share init`.

-- This database as one of the devices. A copy that is recognised as another device gets a new name.
CREATE TABLE share_device (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  device TEXT NOT NULL,
  -- The hybrid logical clock: no operation made or seen here has a later one.
  clock INTEGER NOT NULL,
  -- The last row of the history for which operations were created.
  noted INTEGER NOT NULL DEFAULT 0,
  joined_at TEXT NOT NULL,
  left_at TEXT,
  synced_at TEXT,
  failed_at TEXT,
  last_error TEXT,
  -- Erased rows may remain in free pages or in the log: the file must be rewritten.
  is_unclean INTEGER NOT NULL DEFAULT 0
);

-- Operations of all devices, in order of receipt. Merging those of a key gives its facts.
CREATE TABLE operations (
  operation INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  device TEXT NOT NULL,
  -- Consecutive per scope and device; null if the scope is never sent.
  number INTEGER,
  -- Equal for the same action of the same turn, wherever it was observed.
  op_id TEXT NOT NULL,
  clock INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('fact', 'line', 'forget', 'erased')),
  -- The change of the fact.
  history_id INTEGER UNIQUE,
  -- The clock of the fact's first operation: erasing a fact also erases its later operations.
  born INTEGER,
  -- Byte offset of the line in the journal, for lines of this device.
  place INTEGER,
  -- The content of a tombstone.
  payload TEXT,
  noted_at TEXT NOT NULL,
  -- Changed since it was sent: the server's copy must be overwritten.
  is_rewritten INTEGER NOT NULL DEFAULT 0,
  -- It contains what looks like a secret: only its number is sent.
  is_withheld INTEGER NOT NULL DEFAULT 0,
  UNIQUE (scope, device, number)
);
CREATE INDEX operations_lines ON operations (op_id) WHERE kind = 'line';
CREATE INDEX operations_rewritten ON operations (operation) WHERE is_rewritten;

-- The last known operation of each device; for this device, the last one that the server has.
CREATE TABLE share_cursors (
  scope TEXT NOT NULL,
  device TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (scope, device)
) WITHOUT ROWID;

-- Digests of what was forgotten: earlier operations that arrive late are dropped.
CREATE TABLE share_tombstones (
  -- Where it was forgotten; the scope of the user's own devices includes the others.
  scope TEXT NOT NULL,
  tombstone TEXT NOT NULL CHECK (json_valid(tombstone))
);

-- Operations that could not be parsed, set aside so that they do not block others.
CREATE TABLE share_set_aside (
  scope TEXT NOT NULL,
  device TEXT NOT NULL,
  number INTEGER NOT NULL,
  -- The operation as received, so that a later version of this program can retry it.
  received TEXT NOT NULL,
  reason TEXT NOT NULL,
  seen_at TEXT NOT NULL,
  PRIMARY KEY (scope, device, number)
) WITHOUT ROWID;

-- The position up to which the journal was read for lines of this device.
CREATE TABLE share_journal (
  path TEXT PRIMARY KEY,
  reached INTEGER NOT NULL,
  -- The digest of the last line before that, which reveals a replaced file.
  last_line TEXT NOT NULL
) WITHOUT ROWID;

-- The device that made the change; null for this device.
ALTER TABLE fact_history ADD COLUMN device TEXT;

-- The history changes only if something is erased, and then its operations must be sent again.
CREATE TRIGGER operations_erased AFTER DELETE ON fact_history BEGIN
  UPDATE operations SET kind = 'erased', op_id = '', history_id = NULL, is_rewritten = 1
    WHERE history_id = old.history_id;
END;
CREATE TRIGGER operations_rewritten_when AFTER UPDATE ON fact_history BEGIN
  UPDATE operations SET is_rewritten = 1 WHERE history_id = old.history_id;
END;
