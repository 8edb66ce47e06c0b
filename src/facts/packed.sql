-- What a search reads of every fact that it may return, in blocks in the order of the facts' ids; made when first needed.
-- The block of a fact that changes is erased: a later search reads its facts one by one, or packs them again.
CREATE TABLE IF NOT EXISTS packed (
  user_id TEXT NOT NULL,
  -- The block has every fact with an id from `first` on and before `until`; x'' comes after all texts.
  first TEXT NOT NULL,
  until BLOB NOT NULL,
  -- For each fact its `seq`, the start of the SHA-256 of its session, and its place in that.
  rows BLOB NOT NULL,
  -- For each fact the scale of its vector, which is no number if there is none, and the signed bytes.
  vectors BLOB NOT NULL,
  PRIMARY KEY (user_id, first)
) WITHOUT ROWID;
-- SQLite has a trigger for each event and table; all of these erase the block that has the fact.
CREATE TRIGGER IF NOT EXISTS packed_fact_added AFTER INSERT ON facts BEGIN
  DELETE FROM packed WHERE user_id = new.user_id AND until > new.fact_id AND first =
    (SELECT max(first) FROM packed WHERE user_id = new.user_id AND first <= new.fact_id);
END;
CREATE TRIGGER IF NOT EXISTS packed_fact_changed AFTER UPDATE OF status, session_id, turn_seq ON facts
WHEN old.status <> new.status OR old.session_id IS NOT new.session_id OR old.turn_seq IS NOT new.turn_seq BEGIN
  DELETE FROM packed WHERE user_id = new.user_id AND until > new.fact_id AND first =
    (SELECT max(first) FROM packed WHERE user_id = new.user_id AND first <= new.fact_id);
END;
CREATE TRIGGER IF NOT EXISTS packed_fact_deleted AFTER DELETE ON facts BEGIN
  DELETE FROM packed WHERE user_id = old.user_id AND until > old.fact_id AND first =
    (SELECT max(first) FROM packed WHERE user_id = old.user_id AND first <= old.fact_id);
END;
CREATE TRIGGER IF NOT EXISTS packed_vector_added AFTER INSERT ON fact_vectors BEGIN
  DELETE FROM packed WHERE user_id = new.user_id AND until > new.fact_id AND first =
    (SELECT max(first) FROM packed WHERE user_id = new.user_id AND first <= new.fact_id);
END;
CREATE TRIGGER IF NOT EXISTS packed_vector_changed AFTER UPDATE ON fact_vectors BEGIN
  DELETE FROM packed WHERE user_id = new.user_id AND until > new.fact_id AND first =
    (SELECT max(first) FROM packed WHERE user_id = new.user_id AND first <= new.fact_id);
END;
CREATE TRIGGER IF NOT EXISTS packed_vector_deleted AFTER DELETE ON fact_vectors BEGIN
  DELETE FROM packed WHERE user_id = old.user_id AND until > old.fact_id AND first =
    (SELECT max(first) FROM packed WHERE user_id = old.user_id AND first <= old.fact_id);
END;
