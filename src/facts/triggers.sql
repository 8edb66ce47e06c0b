-- Keeps the text index and the vectors in step with the facts.

CREATE TRIGGER facts_indexed AFTER INSERT ON facts BEGIN
  INSERT INTO facts_fts (rowid, owner, key, value_text, source_excerpt)
    VALUES (new.seq, hex(new.user_id), new.key, new.value_text, new.source_excerpt);
END;
CREATE TRIGGER facts_unindexed AFTER DELETE ON facts BEGIN
  INSERT INTO facts_fts (facts_fts, rowid, owner, key, value_text, source_excerpt)
    VALUES ('delete', old.seq, hex(old.user_id), old.key, old.value_text, old.source_excerpt);
  DELETE FROM fact_vectors WHERE user_id = old.user_id AND seq = old.seq;
END;
CREATE TRIGGER facts_reindexed AFTER UPDATE OF key, value_text, source_excerpt ON facts
WHEN old.key <> new.key OR old.value_text <> new.value_text OR old.source_excerpt <> new.source_excerpt
BEGIN
  INSERT INTO facts_fts (facts_fts, rowid, owner, key, value_text, source_excerpt)
    VALUES ('delete', old.seq, hex(old.user_id), old.key, old.value_text, old.source_excerpt);
  INSERT INTO facts_fts (rowid, owner, key, value_text, source_excerpt)
    VALUES (new.seq, hex(new.user_id), new.key, new.value_text, new.source_excerpt);
END;
