-- Version 5: a fact has a vector for each of its passages, and no data is derived from the vectors any more.

-- Without facts there is nothing to rebuild; otherwise the next search or `work` rebuilds the vectors.
UPDATE vector_index SET model = model || ' of passages' WHERE NOT EXISTS (SELECT 1 FROM facts);

DROP TRIGGER fact_vectors_inserted;
DROP TRIGGER fact_vectors_updated;
DROP TRIGGER fact_vectors_deleted;
DROP TRIGGER facts_found;
DROP TRIGGER facts_moved;
DROP VIEW vector_changes;
DROP TABLE vector_revisions;
