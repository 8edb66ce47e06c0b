-- The vectors that an encoder made of facts; made when first needed.
CREATE TABLE IF NOT EXISTS fact_encodings (
  seq INTEGER PRIMARY KEY,
  encoder TEXT NOT NULL,
  scale REAL NOT NULL,
  vectors BLOB NOT NULL
);
CREATE TRIGGER IF NOT EXISTS facts_unread AFTER DELETE ON facts BEGIN
  DELETE FROM fact_encodings WHERE seq = old.seq;
END;
CREATE TRIGGER IF NOT EXISTS facts_read_again AFTER UPDATE OF key, value_text ON facts
WHEN old.key <> new.key OR old.value_text <> new.value_text BEGIN
  DELETE FROM fact_encodings WHERE seq = old.seq;
END;
