-- The tables of the passages: the chunks of the documents, with their full-text index. This is the text of edge_mcp::rag::migration, so put
-- your own tables and triggers into other files.

-- The spaces. A search reads only the words of its space, because the number of the space is a part of each term of the index.
CREATE TABLE rag_spaces (
  id INTEGER PRIMARY KEY,
  index_name TEXT NOT NULL,
  space TEXT NOT NULL,
  -- The number of passages. Counting them would read every document.
  passages INTEGER NOT NULL DEFAULT 0,
  UNIQUE (space, index_name)
);

-- The documents of a space. A search with a filter evaluates the filter once for each document, and once for each row of rag_metadata.
CREATE TABLE rag_documents (
  id INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- A JSON object in the binary form of SQLite (JSONB), which a filter reads in about half the time.
  metadata BLOB NOT NULL,
  -- The number of passages.
  passages INTEGER NOT NULL,
  UNIQUE (space, name)
);

-- AUTOINCREMENT: an id is never used again, so an id that a client remembers cannot mean another passage later.
CREATE TABLE rag_chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL,
  -- The hash of the headings and the text. The second of two equal chunks has the suffix `.1`.
  hash TEXT NOT NULL,
  -- The position in the document, from 0.
  ordinal INTEGER NOT NULL,
  -- The headings above the chunk, joined by ` > `.
  heading TEXT NOT NULL,
  -- The letters and digits of the last heading, in lower case: links to a section have them. NULL if there are none.
  anchor TEXT,
  text TEXT NOT NULL,
  -- A JSON array with a text for each impact. `·` is before each stem.
  words TEXT NOT NULL,
  UNIQUE (document, hash)
);

CREATE INDEX rag_chunks_by_ordinal ON rag_chunks (document, ordinal);
CREATE INDEX rag_chunks_by_anchor ON rag_chunks (document, anchor);

-- The metadata of the chunks that have metadata of their own: that of the document, in which the fields of the chunk replace those of the same
-- name. JSONB, as in rag_documents.
CREATE TABLE rag_metadata (
  chunk INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  document INTEGER NOT NULL,
  metadata BLOB NOT NULL
);

CREATE INDEX rag_metadata_by_document ON rag_metadata (space, document);

-- The words of the passages. The store divides a text into words, stems them, and calculates their impacts. A term consists of the number
-- of the space, `·` and the stem, and a column has the terms of one impact. This table stores no texts.
CREATE VIRTUAL TABLE rag_words USING fts5 (
  i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- For each term the passages that contain it, and all terms. These tables store nothing.
CREATE VIRTUAL TABLE rag_hits USING fts5vocab (rag_words, instance);
CREATE VIRTUAL TABLE rag_vocabulary USING fts5vocab (rag_words, row);

-- The links from passages to documents, and to their sections. The target of a link may not be stored yet.
CREATE TABLE rag_links (
  space INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  -- The name of a document.
  target TEXT NOT NULL,
  -- The anchor of a section, or an empty text.
  section TEXT NOT NULL,
  PRIMARY KEY (chunk, target, section)
) WITHOUT ROWID;

CREATE INDEX rag_links_by_target ON rag_links (space, target);

-- An import of exported tables inserts spaces with their numbers of passages, and then their documents.
CREATE TRIGGER rag_spaces_inserted AFTER INSERT ON rag_spaces BEGIN
  UPDATE rag_spaces SET passages = 0 WHERE id = new.id;
END;

CREATE TRIGGER rag_documents_inserted AFTER INSERT ON rag_documents BEGIN
  UPDATE rag_spaces SET passages = passages + new.passages WHERE id = new.space;
END;

CREATE TRIGGER rag_documents_updated AFTER UPDATE OF passages ON rag_documents BEGIN
  UPDATE rag_spaces SET passages = passages + new.passages - old.passages WHERE id = new.space;
END;

CREATE TRIGGER rag_documents_deleted AFTER DELETE ON rag_documents BEGIN
  UPDATE rag_spaces SET passages = passages - old.passages WHERE id = old.space;
  DELETE FROM rag_chunks WHERE document = old.id;
END;

CREATE TRIGGER rag_chunks_inserted AFTER INSERT ON rag_chunks BEGIN
  INSERT INTO rag_words (rowid, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16)
  SELECT new.id,
    replace(new.words->>0, '·', space || '·'), replace(new.words->>1, '·', space || '·'), replace(new.words->>2, '·', space || '·'),
    replace(new.words->>3, '·', space || '·'), replace(new.words->>4, '·', space || '·'), replace(new.words->>5, '·', space || '·'),
    replace(new.words->>6, '·', space || '·'), replace(new.words->>7, '·', space || '·'), replace(new.words->>8, '·', space || '·'),
    replace(new.words->>9, '·', space || '·'), replace(new.words->>10, '·', space || '·'), replace(new.words->>11, '·', space || '·'),
    replace(new.words->>12, '·', space || '·'), replace(new.words->>13, '·', space || '·'), replace(new.words->>14, '·', space || '·'),
    replace(new.words->>15, '·', space || '·')
  FROM rag_documents WHERE id = new.document;
END;

CREATE TRIGGER rag_chunks_deleted AFTER DELETE ON rag_chunks BEGIN
  DELETE FROM rag_words WHERE rowid = old.id;
  DELETE FROM rag_links WHERE chunk = old.id;
  DELETE FROM rag_metadata WHERE chunk = old.id;
END;
