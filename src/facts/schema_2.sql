-- Version 2: where the vectors are. With a server, each change of a fact leaves a wish in `vector_jobs`.

-- The address of the Chroma server; null where the vectors are in this file.
ALTER TABLE vector_index ADD COLUMN server TEXT;
-- The collection there, which no other database uses.
ALTER TABLE vector_index ADD COLUMN collection TEXT;
UPDATE vector_index SET collection = 'annals-' || lower(hex(randomblob(8)));
-- Changes with each wish, so that one that came meanwhile is not taken for the one that was carried out.
ALTER TABLE vector_jobs ADD COLUMN wish TEXT NOT NULL DEFAULT '';
