-- From version 6, which had an index of parts of words, a list of all servers that vectors were ever sent to, and the
-- vectors that the encoder had made.

DROP TRIGGER facts_indexed;
DROP TRIGGER facts_unindexed;
DROP TRIGGER facts_reindexed;
DROP TRIGGER IF EXISTS facts_unread;
DROP TRIGGER IF EXISTS facts_read_again;
DROP TABLE facts_trigram;
DROP TABLE IF EXISTS fact_encodings;

INSERT INTO vector_jobs (fact_id, user_id, operation, not_before, created_at)
  SELECT e.fact_id, '', 'delete', '', '' FROM vector_erasures AS e JOIN vector_places USING (place)
    JOIN vector_index USING (server, collection) WHERE true
  ON CONFLICT DO NOTHING;
DROP TABLE vector_erasures;
DROP TABLE vector_copies;
DROP TABLE vector_places;

PRAGMA user_version = 7;
