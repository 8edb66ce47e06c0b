-- Version 2: the location of the vectors. With a server, each change of a fact adds a job to `vector_jobs`.

-- The URL of the Chroma server; null if the vectors are in this file.
ALTER TABLE vector_index ADD COLUMN server TEXT;
-- The collection on that server, which no other database uses.
ALTER TABLE vector_index ADD COLUMN collection TEXT;
UPDATE vector_index SET collection = 'annals-' || lower(hex(randomblob(8)));
-- A new random value for each job, so that a newer job is not mistaken for the one that was executed.
ALTER TABLE vector_jobs ADD COLUMN wish TEXT NOT NULL DEFAULT '';
