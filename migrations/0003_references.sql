-- The passages of a document belong to the document: `name` of rag_documents refers to `slug` of documents. These are triggers and not a
-- foreign key, because 0002_passages.sql is the SQL of edge-mcp and names no table of this program.

-- The triggers look for the name alone.
CREATE INDEX rag_documents_by_name ON rag_documents (name);

CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN
  DELETE FROM rag_documents WHERE name = old.slug;
END;

CREATE TRIGGER documents_renamed BEFORE UPDATE OF slug ON documents
WHEN new.slug <> old.slug AND EXISTS (SELECT 1 FROM rag_documents WHERE name = old.slug) BEGIN
  SELECT RAISE(ABORT, 'the document has passages');
END;

CREATE TRIGGER rag_documents_of_documents BEFORE INSERT ON rag_documents
WHEN NOT EXISTS (SELECT 1 FROM documents WHERE slug = new.name) BEGIN
  SELECT RAISE(ABORT, 'there is no document with this slug');
END;
