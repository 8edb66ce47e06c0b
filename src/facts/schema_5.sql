-- No file is derived from the vectors any more, so that nothing needs to know when they change.
DROP TRIGGER fact_vectors_inserted;
DROP TRIGGER fact_vectors_updated;
DROP TRIGGER fact_vectors_deleted;
DROP TRIGGER facts_found;
DROP TRIGGER facts_moved;
DROP VIEW vector_changes;
DROP TABLE vector_revisions;
