-- The documents. The passages of a document are in the tables of 0002_passages.sql.

CREATE TABLE documents (
  slug TEXT NOT NULL PRIMARY KEY,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  saved_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  -- A set has the documents that one source keeps up to date, such as a folder that scripts/load loads. A source deletes only documents of
  -- its own set. The set and the hash are those of the last client that saved the document, or NULL if that client gave none.
  set_name TEXT,
  -- A hash that the client calculated. It compares this hash with that of its file, so it sends only changed documents.
  hash TEXT
);

CREATE INDEX documents_by_set ON documents (set_name, slug);
