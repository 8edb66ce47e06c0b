-- Version 3: tracks where vectors were sent, so that forgotten facts can be erased there at any later time.

-- Each server and collection that vectors were ever sent to, with the result of the last attempt to erase.
CREATE TABLE vector_places (
  place INTEGER PRIMARY KEY,
  server TEXT NOT NULL,
  collection TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before TEXT NOT NULL DEFAULT '',
  last_error TEXT,
  UNIQUE (server, collection)
);
-- Where the vector of a fact may be; written before it is sent there.
CREATE TABLE vector_copies (
  fact_id TEXT NOT NULL,
  place INTEGER NOT NULL REFERENCES vector_places (place),
  PRIMARY KEY (fact_id, place)
) WITHOUT ROWID;
-- Vectors of forgotten facts that are not erased there yet: ids only, without content.
CREATE TABLE vector_erasures (
  place INTEGER NOT NULL REFERENCES vector_places (place),
  fact_id TEXT NOT NULL,
  PRIMARY KEY (place, fact_id)
) WITHOUT ROWID;

INSERT INTO vector_places (server, collection)
  SELECT server, collection FROM vector_index WHERE server IS NOT NULL;
INSERT INTO vector_copies (fact_id, place)
  SELECT fact_id, place FROM vector_places CROSS JOIN
    (SELECT fact_id FROM facts WHERE status IN ('active', 'pending_confirmation')
     UNION SELECT fact_id FROM vector_jobs);
