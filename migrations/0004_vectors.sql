-- The tables of the vectors, for a search by meaning. A search by words does not need them. This is the text of
-- edge_mcp::rag::vector_migration, so put your own tables and triggers into other files.

-- The embedding model of each index. Vectors of different models cannot be compared.
CREATE TABLE rag_models (
  index_name TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  -- The number of vectors that were saved.
  saved INTEGER NOT NULL DEFAULT 0,
  -- The mean of the vectors, to which all codes are relative, and how often it changed. Empty until there are enough vectors.
  centre TEXT NOT NULL DEFAULT '',
  generation INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- The vector of each passage: a byte for each dimension, as base64. NULL until a model has calculated it.
CREATE TABLE rag_vectors (
  id INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  vector TEXT,
  -- How often the model has refused the passage.
  refusals INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX rag_vectors_pending ON rag_vectors (space, refusals, id) WHERE vector IS NULL;

-- The code of each vector: a bit for each dimension, as text. A search reads the codes of its space page by page. A page has the codes of
-- at most 2048 passages, because D1 limits a value to 2 MB.
CREATE TABLE rag_codes (
  space INTEGER NOT NULL,
  page INTEGER NOT NULL,
  id INTEGER NOT NULL,
  document INTEGER NOT NULL,
  code TEXT NOT NULL,
  PRIMARY KEY (space, page, id)
) WITHOUT ROWID;

-- The most similar passages of each passage, in both directions. The weight is the cosine of their vectors.
CREATE TABLE rag_neighbours (
  source INTEGER NOT NULL,
  target INTEGER NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (source, target)
) WITHOUT ROWID;

CREATE INDEX rag_neighbours_by_target ON rag_neighbours (target);

CREATE TRIGGER rag_vectors_of_new_chunk AFTER INSERT ON rag_chunks BEGIN
  INSERT OR IGNORE INTO rag_vectors (id, space) SELECT new.id, space FROM rag_documents WHERE id = new.document;
END;

CREATE TRIGGER rag_vectors_of_deleted_chunk AFTER DELETE ON rag_chunks BEGIN
  DELETE FROM rag_codes WHERE space = (SELECT space FROM rag_vectors WHERE id = old.id) AND page = old.id / 2048 AND id = old.id;
  DELETE FROM rag_neighbours WHERE source = old.id;
  DELETE FROM rag_neighbours WHERE target = old.id;
  DELETE FROM rag_vectors WHERE id = old.id;
END;

-- The passages that are stored already.
INSERT INTO rag_vectors (id, space)
SELECT chunk.id, document.space FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document;
