-- Documents and their full-text index. The triggers update the index within the statement that changes a document. So every stored
-- document is in the index, and the index contains only stored documents.

CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  saved_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);

CREATE VIRTUAL TABLE documents_index USING fts5 (
  title, text,
  content = 'documents', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER documents_inserted AFTER INSERT ON documents BEGIN
  INSERT INTO documents_index (rowid, title, text) VALUES (new.id, new.title, new.text);
END;

CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN
  INSERT INTO documents_index (documents_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;

CREATE TRIGGER documents_updated AFTER UPDATE ON documents BEGIN
  INSERT INTO documents_index (documents_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
  INSERT INTO documents_index (rowid, title, text) VALUES (new.id, new.title, new.text);
END;
