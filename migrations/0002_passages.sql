-- Passages: the chunks of the documents, with their full-text index. The names and columns are those that the store of edge-mcp expects.
-- The references to documents are an addition of this knowledge base: they delete the passages of a document with the document, and they
-- reject passages of a document that does not exist.

-- AUTOINCREMENT: an id is never used again, so an id that a client remembers cannot mean another passage later.
CREATE TABLE rag_chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  index_name TEXT NOT NULL,
  space TEXT NOT NULL,
  document TEXT NOT NULL REFERENCES documents (slug) ON DELETE CASCADE,
  -- The hash of the headings and the text. The second of two equal chunks has the suffix `.1`.
  hash TEXT NOT NULL,
  -- The position in the document, from 0.
  ordinal INTEGER NOT NULL,
  -- The headings above the chunk, joined by ` > `.
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  -- A JSON object.
  metadata TEXT NOT NULL,
  -- The document comes first, because the reference looks for it alone.
  UNIQUE (document, index_name, space, hash)
);

CREATE INDEX rag_chunks_by_ordinal ON rag_chunks (index_name, space, document, ordinal);

CREATE VIRTUAL TABLE rag_chunks_text USING fts5 (
  heading, text,
  content = 'rag_chunks', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);

-- The words of the index. This table stores nothing.
CREATE VIRTUAL TABLE rag_words USING fts5vocab (rag_chunks_text, row);

-- The number of passages. Counting them would read every passage.
CREATE TABLE rag_size (passages INTEGER NOT NULL);
INSERT INTO rag_size VALUES (0);

CREATE TRIGGER rag_chunks_inserted AFTER INSERT ON rag_chunks BEGIN
  INSERT INTO rag_chunks_text (rowid, heading, text) VALUES (new.id, new.heading, new.text);
  UPDATE rag_size SET passages = passages + 1;
END;

CREATE TRIGGER rag_chunks_deleted AFTER DELETE ON rag_chunks BEGIN
  INSERT INTO rag_chunks_text (rag_chunks_text, rowid, heading, text) VALUES ('delete', old.id, old.heading, old.text);
  UPDATE rag_size SET passages = passages - 1;
END;

CREATE TRIGGER rag_chunks_updated AFTER UPDATE OF heading, text ON rag_chunks BEGIN
  INSERT INTO rag_chunks_text (rag_chunks_text, rowid, heading, text) VALUES ('delete', old.id, old.heading, old.text);
  INSERT INTO rag_chunks_text (rowid, heading, text) VALUES (new.id, new.heading, new.text);
END;

-- The links between documents. The target of a link may not be stored yet.
CREATE TABLE rag_links (
  id INTEGER PRIMARY KEY,
  index_name TEXT NOT NULL,
  space TEXT NOT NULL,
  document TEXT NOT NULL REFERENCES documents (slug) ON DELETE CASCADE,
  target TEXT NOT NULL,
  UNIQUE (document, index_name, space, target)
);

CREATE INDEX rag_links_by_target ON rag_links (index_name, space, target);

-- Whether the document has passages. The documents of earlier versions have none until `run_reindex` creates them. A second client that
-- adds 1 at the same time violates the CHECK.
ALTER TABLE documents ADD COLUMN is_chunked INTEGER NOT NULL DEFAULT 0 CHECK (is_chunked IN (0, 1));

CREATE INDEX documents_to_chunk ON documents (slug) WHERE is_chunked = 0;

-- The index of whole documents contains only documents without passages.
DROP TRIGGER documents_inserted;
DROP TRIGGER documents_deleted;
DROP TRIGGER documents_updated;

CREATE TRIGGER documents_inserted AFTER INSERT ON documents WHEN new.is_chunked = 0 BEGIN
  INSERT INTO documents_index (rowid, title, text) VALUES (new.id, new.title, new.text);
END;

CREATE TRIGGER documents_deleted AFTER DELETE ON documents WHEN old.is_chunked = 0 BEGIN
  INSERT INTO documents_index (documents_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;

-- Of the next two triggers, at most one runs for a statement, because SQLite runs the triggers of an event in no fixed order.
CREATE TRIGGER documents_updated AFTER UPDATE ON documents WHEN old.is_chunked = 0 AND new.is_chunked = 0 BEGIN
  INSERT INTO documents_index (documents_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
  INSERT INTO documents_index (rowid, title, text) VALUES (new.id, new.title, new.text);
END;

CREATE TRIGGER documents_chunked AFTER UPDATE ON documents WHEN old.is_chunked = 0 AND new.is_chunked = 1 BEGIN
  INSERT INTO documents_index (documents_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;
