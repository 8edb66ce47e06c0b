-- Version 4: `embedding_id` is the fact's id while an index has a vector of it, and null otherwise.

CREATE TRIGGER facts_embedded AFTER INSERT ON fact_vectors BEGIN
  UPDATE facts SET embedding_id = fact_id WHERE user_id = new.user_id AND seq = new.seq;
END;
CREATE TRIGGER facts_unembedded AFTER DELETE ON fact_vectors BEGIN
  UPDATE facts SET embedding_id = NULL WHERE user_id = old.user_id AND seq = old.seq;
END;
CREATE TRIGGER facts_embedded_elsewhere AFTER INSERT ON vector_copies BEGIN
  UPDATE facts SET embedding_id = fact_id
    WHERE fact_id = new.fact_id AND status IN ('active', 'pending_confirmation');
END;
CREATE TRIGGER facts_unembedded_elsewhere AFTER DELETE ON vector_copies BEGIN
  UPDATE facts SET embedding_id = NULL WHERE fact_id = old.fact_id
    AND NOT EXISTS (SELECT 1 FROM vector_copies AS c WHERE c.fact_id = old.fact_id)
    AND NOT EXISTS (SELECT 1 FROM fact_vectors AS v WHERE v.user_id = facts.user_id AND v.seq = facts.seq);
END;

UPDATE facts SET embedding_id = CASE WHEN
  EXISTS (SELECT 1 FROM fact_vectors AS v WHERE v.user_id = facts.user_id AND v.seq = facts.seq)
  OR (status IN ('active', 'pending_confirmation')
    AND EXISTS (SELECT 1 FROM vector_copies AS c WHERE c.fact_id = facts.fact_id))
  THEN fact_id END;
