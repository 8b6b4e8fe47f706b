-- The tokens of persons for other MCP servers, encrypted. This is the text of edge_mcp::client::token_migration, so put your own tables into
-- other files.

CREATE TABLE oauth_tokens (
  -- A digest.
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL,
  -- The time after which the row may be removed, in seconds since 1970.
  until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX oauth_tokens_until ON oauth_tokens (until);
