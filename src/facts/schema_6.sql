-- Version 6: sharing between devices. All of it stays empty until `annals share init`.

-- This database as one of the devices. A copy that is found to be another device gets a new name.
CREATE TABLE share_device (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  device TEXT NOT NULL,
  -- The hybrid logical clock: no operation that was made or seen here has a later one.
  clock INTEGER NOT NULL,
  -- The last row of the history that was looked at for operations.
  noted INTEGER NOT NULL DEFAULT 0,
  joined_at TEXT NOT NULL,
  left_at TEXT,
  synced_at TEXT,
  failed_at TEXT,
  last_error TEXT,
  -- Erased rows may still be in free pages or in the log: the file is to be written anew.
  is_unclean INTEGER NOT NULL DEFAULT 0
);

-- What the devices did, in the order in which this one learned of it. Merging those of a key gives its facts.
CREATE TABLE operations (
  operation INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  device TEXT NOT NULL,
  -- Without gaps by scope and device; null where the scope is never sent.
  number INTEGER,
  -- The same for the same action of the same turn, wherever it was observed.
  op_id TEXT NOT NULL,
  clock INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('fact', 'line', 'forget', 'erased')),
  -- The change that a fact underwent.
  history_id INTEGER UNIQUE,
  -- The clock of the fact's first operation: what is forgotten takes all that came of it along.
  born INTEGER,
  -- Where in the journal its line begins, for lines of this device.
  place INTEGER,
  -- What a tombstone says.
  payload TEXT,
  noted_at TEXT NOT NULL,
  -- Changed since it was sent: what the server has is to be overwritten.
  is_rewritten INTEGER NOT NULL DEFAULT 0,
  -- It holds what looks like a secret: its number is sent, and nothing else of it.
  is_withheld INTEGER NOT NULL DEFAULT 0,
  UNIQUE (scope, device, number)
);
CREATE INDEX operations_lines ON operations (op_id) WHERE kind = 'line';
CREATE INDEX operations_rewritten ON operations (operation) WHERE is_rewritten;

-- How far each device's operations are known here; for this device, how far the server has them.
CREATE TABLE share_cursors (
  scope TEXT NOT NULL,
  device TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (scope, device)
) WITHOUT ROWID;

-- What was forgotten, as digests: earlier operations that arrive late are dropped.
CREATE TABLE share_tombstones (
  -- Where it was forgotten: that of the user's own devices means what is in the others, too.
  scope TEXT NOT NULL,
  tombstone TEXT NOT NULL CHECK (json_valid(tombstone))
);

-- Operations that could not be understood, set aside so that they stall nobody.
CREATE TABLE share_set_aside (
  scope TEXT NOT NULL,
  device TEXT NOT NULL,
  number INTEGER NOT NULL,
  -- The operation as it came, so that a later version of this program can try again.
  received TEXT NOT NULL,
  reason TEXT NOT NULL,
  seen_at TEXT NOT NULL,
  PRIMARY KEY (scope, device, number)
) WITHOUT ROWID;

-- How far the journal was read for lines of this device.
CREATE TABLE share_journal (
  path TEXT PRIMARY KEY,
  reached INTEGER NOT NULL,
  -- The digest of the last line before that, by which a file that was replaced is known.
  last_line TEXT NOT NULL
) WITHOUT ROWID;

-- Whose change it is; null for this device.
ALTER TABLE fact_history ADD COLUMN device TEXT;

-- The history changes only where something is forgotten, and then what was sent of it changes too.
CREATE TRIGGER operations_erased AFTER DELETE ON fact_history BEGIN
  UPDATE operations SET kind = 'erased', op_id = '', history_id = NULL, is_rewritten = 1
    WHERE history_id = old.history_id;
END;
CREATE TRIGGER operations_rewritten_when AFTER UPDATE ON fact_history BEGIN
  UPDATE operations SET is_rewritten = 1 WHERE history_id = old.history_id;
END;
