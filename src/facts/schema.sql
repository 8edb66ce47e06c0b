-- Version 7. Times are RFC 3339 in UTC, in seconds; those of `turns` in milliseconds.

CREATE TABLE facts (
  seq INTEGER PRIMARY KEY,
  fact_id TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  value_text TEXT NOT NULL,
  value_json TEXT CHECK (value_json IS NULL OR json_valid(value_json)),
  category TEXT NOT NULL CHECK (category IN
    ('identity', 'hard_preference', 'soft_preference', 'task_context', 'health', 'other')),
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  event_time TEXT,
  valid_from TEXT NOT NULL,
  valid_to TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'expired', 'pending_confirmation')),
  source_turn_id TEXT NOT NULL,
  source_excerpt TEXT NOT NULL,
  embedding_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  last_mentioned_at TEXT NOT NULL,
  session_id TEXT,
  turn_seq INTEGER,
  project TEXT,
  -- The proposal of a pending fact: another value, or the end of the fact it contests.
  proposal TEXT CHECK (proposal IN ('value', 'end')),
  contests TEXT,
  -- The user as a single token for the index, whatever characters the id has.
  owner TEXT GENERATED ALWAYS AS (hex(user_id)) VIRTUAL,
  UNIQUE (user_id, fact_id)
);

CREATE INDEX facts_user_id ON facts (user_id);
CREATE INDEX facts_key ON facts (user_id, key);
CREATE INDEX facts_status ON facts (user_id, status);
CREATE INDEX facts_valid_to ON facts (user_id, valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX facts_updated_at ON facts (user_id, updated_at);
CREATE INDEX facts_session ON facts (user_id, session_id, turn_seq) WHERE session_id IS NOT NULL;
CREATE INDEX facts_project ON facts (user_id, project) WHERE project IS NOT NULL;
CREATE UNIQUE INDEX facts_one_active ON facts (user_id, key)
  WHERE status = 'active' AND substr(key, -2) <> '[]';
CREATE UNIQUE INDEX facts_one_value ON facts (user_id, key, value_text) WHERE status = 'active';

CREATE VIRTUAL TABLE facts_fts USING fts5 (
  owner, key, value_text, source_excerpt,
  content = 'facts', content_rowid = 'seq', tokenize = 'porter unicode61'
);
INSERT INTO facts_fts (facts_fts, rank) VALUES ('secure-delete', 1);

-- Superseded and expired facts are moved here once they are older than a cut-off.
CREATE TABLE facts_archive (
  fact_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fact_json TEXT NOT NULL CHECK (json_valid(fact_json)),
  archived_at TEXT NOT NULL
);
CREATE INDEX facts_archive_key ON facts_archive (user_id, key);

-- Every change of a fact, before and after; replaying `after_json` by fact gives facts and archive.
CREATE TABLE fact_history (
  history_id INTEGER PRIMARY KEY AUTOINCREMENT,
  fact_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  action TEXT NOT NULL,
  before_json TEXT CHECK (before_json IS NULL OR json_valid(before_json)),
  after_json TEXT CHECK (after_json IS NULL OR json_valid(after_json)),
  reason TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  at TEXT NOT NULL,
  -- The device that made the change; null for this device.
  device TEXT
);
CREATE INDEX fact_history_fact ON fact_history (user_id, fact_id);
CREATE INDEX fact_history_key ON fact_history (user_id, key);

-- What the current transaction erases; empty outside of one. A null key means all keys.
CREATE TABLE erasing (user_id TEXT NOT NULL, key TEXT);

CREATE TRIGGER fact_history_is_never_changed BEFORE UPDATE ON fact_history
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE user_id = old.user_id)
  OR old.history_id <> new.history_id OR old.fact_id <> new.fact_id OR old.user_id <> new.user_id
BEGIN
  SELECT RAISE (ABORT, 'fact_history is immutable');
END;
CREATE TRIGGER fact_history_is_never_deleted BEFORE DELETE ON fact_history
WHEN NOT EXISTS (
  SELECT 1 FROM erasing WHERE user_id = old.user_id AND (key IS NULL OR key = old.key)
) BEGIN
  SELECT RAISE (ABORT, 'fact_history is immutable');
END;

-- Applied actions, each once; the hash covers the user and the action.
CREATE TABLE applied_actions (
  action_id INTEGER PRIMARY KEY AUTOINCREMENT,
  turn_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  action_hash TEXT NOT NULL,
  outcome TEXT NOT NULL,
  fact_id TEXT,
  applied_at TEXT NOT NULL,
  UNIQUE (turn_id, key, action_hash)
);
CREATE INDEX applied_actions_turn ON applied_actions (user_id, turn_id);
CREATE INDEX applied_actions_key ON applied_actions (user_id, key);

CREATE TABLE turns (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  session_id TEXT,
  turn_seq INTEGER,
  project TEXT,
  user_input TEXT NOT NULL,
  assistant_response TEXT NOT NULL,
  said_at TEXT NOT NULL,
  observed_at TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'done', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  lease TEXT,
  lease_until TEXT,
  last_error TEXT,
  raw_answer TEXT,
  finished_at TEXT,
  UNIQUE (user_id, turn_id)
);
CREATE INDEX turns_status ON turns (status, seq);
CREATE INDEX turns_session ON turns (user_id, session_id, turn_seq);

-- The outbox of an external vector index, with the latest pending operation of each fact.
CREATE TABLE vector_jobs (
  fact_id TEXT PRIMARY KEY,
  -- Empty if the fact was forgotten.
  user_id TEXT NOT NULL,
  operation TEXT NOT NULL CHECK (operation IN ('upsert', 'delete')),
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before TEXT NOT NULL,
  last_error TEXT,
  created_at TEXT NOT NULL,
  -- A new random value for each job, so that a newer job is not mistaken for the one that was executed.
  wish TEXT NOT NULL DEFAULT ''
);
CREATE INDEX vector_jobs_due ON vector_jobs (not_before);

-- The built-in index: a vector of signed bytes for each fact, written in the fact's transaction.
-- `seq` is that of the fact, with which the vector is deleted.
CREATE TABLE fact_vectors (
  user_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  fact_id TEXT NOT NULL,
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  scale REAL NOT NULL,
  vector BLOB NOT NULL CHECK (length(vector) = dim),
  PRIMARY KEY (user_id, seq)
) WITHOUT ROWID;

-- Where all vectors are, and their model.
CREATE TABLE vector_index (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  model TEXT NOT NULL,
  -- The URL of the Chroma server; null if the vectors are in this file.
  server TEXT,
  -- The collection on that server, which no other database uses.
  collection TEXT
);
INSERT INTO vector_index (only, model, collection)
  VALUES (1, 'annals-static-128-v1', 'annals-' || lower(hex(randomblob(8))));

-- `embedding_id` is the fact's id while an index has a vector of it, and null otherwise; for a server, it is set when
-- the server has answered.
CREATE TRIGGER facts_embedded AFTER INSERT ON fact_vectors BEGIN
  UPDATE facts SET embedding_id = fact_id WHERE user_id = new.user_id AND seq = new.seq;
END;
CREATE TRIGGER facts_unembedded AFTER DELETE ON fact_vectors BEGIN
  UPDATE facts SET embedding_id = NULL WHERE user_id = old.user_id AND seq = old.seq;
END;
-- Sums by day and user; `bucket` distinguishes the buckets of a histogram.
CREATE TABLE metrics (
  user_id TEXT NOT NULL,
  day TEXT NOT NULL,
  name TEXT NOT NULL,
  bucket INTEGER NOT NULL DEFAULT 0,
  amount REAL NOT NULL,
  PRIMARY KEY (user_id, day, name, bucket)
) WITHOUT ROWID;

CREATE TABLE profiles (
  user_id TEXT PRIMARY KEY,
  profile_json TEXT NOT NULL CHECK (json_valid(profile_json)),
  built_at TEXT NOT NULL,
  turns_since INTEGER NOT NULL DEFAULT 0
);

-- Records that something was erased, without its content.
CREATE TABLE erasures (
  erasure_id INTEGER PRIMARY KEY AUTOINCREMENT,
  erased_at TEXT NOT NULL,
  facts INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  reason TEXT NOT NULL
);

-- Sharing between devices. All of these tables are empty until `annals share init`.

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

-- The history changes only if something is erased, and then its operations must be sent again.
CREATE TRIGGER operations_erased AFTER DELETE ON fact_history BEGIN
  UPDATE operations SET kind = 'erased', op_id = '', history_id = NULL, is_rewritten = 1
    WHERE history_id = old.history_id;
END;
CREATE TRIGGER operations_rewritten_when AFTER UPDATE ON fact_history BEGIN
  UPDATE operations SET is_rewritten = 1 WHERE history_id = old.history_id;
END;

PRAGMA user_version = 7;
