-- The vectors that the encoder made of facts; made when first needed. A fact that goes or changes takes its own along.
CREATE TABLE IF NOT EXISTS encoded (
  id INTEGER PRIMARY KEY,
  encoder TEXT NOT NULL,
  scale BLOB NOT NULL,
  vectors BLOB NOT NULL
);
CREATE TRIGGER IF NOT EXISTS facts_unencoded AFTER DELETE ON facts BEGIN
  DELETE FROM encoded WHERE id = old.seq;
END;
CREATE TRIGGER IF NOT EXISTS facts_encoded_anew AFTER UPDATE OF key, value_text ON facts
WHEN old.key <> new.key OR old.value_text <> new.value_text BEGIN
  DELETE FROM encoded WHERE id = old.seq;
END;
