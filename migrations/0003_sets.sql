-- Sets: the documents that one source keeps up to date, such as a folder that scripts/load loads. A source deletes only documents of its
-- own set. The set and the hash are those of the last client that saved the document, or NULL if that client gave none.

ALTER TABLE documents ADD COLUMN set_name TEXT;

-- A hash that the client calculated. It compares this hash with that of its file, so it sends only changed documents.
ALTER TABLE documents ADD COLUMN hash TEXT;

CREATE INDEX documents_by_set ON documents (set_name, slug);
