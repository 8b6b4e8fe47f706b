-- The skills that publish-skills stores. The entry of a skill and its files come from one state, because one transaction replaces them.

-- The files by their digests, so a file that is in several places, or that stays when a set changes, is stored once. A BLOB keeps all bytes:
-- a text would end at NUL. D1 limits a row to 2,000,000 bytes.
CREATE TABLE skill_files (
  -- sha256: and 64 hexadecimal digits.
  digest TEXT NOT NULL PRIMARY KEY,
  size INTEGER NOT NULL CHECK (size = length(bytes)),
  bytes BLOB NOT NULL CHECK (length(bytes) <= 1500000),
  -- For the foreign key of skill_paths.
  UNIQUE (digest, size)
);

CREATE TABLE skills (
  -- The URI of the SKILL.md.
  uri TEXT NOT NULL PRIMARY KEY,
  -- The entry of skills/list as JSON.
  entry TEXT NOT NULL,
  -- The set that one source publishes as a whole, such as a folder that scripts/load loads.
  set_name TEXT NOT NULL
);

CREATE INDEX skills_by_set ON skills (set_name, uri);

-- The files and the folders of the skills.
CREATE TABLE skill_paths (
  uri TEXT NOT NULL PRIMARY KEY,
  -- The innermost skill that has it.
  skill TEXT NOT NULL REFERENCES skills (uri) ON DELETE CASCADE,
  -- The URI of the folder that has it.
  parent TEXT NOT NULL,
  -- These columns are NULL for a folder.
  digest TEXT,
  size INTEGER,
  mime TEXT,
  -- A manifest can list only files that are stored with this size.
  FOREIGN KEY (digest, size) REFERENCES skill_files (digest, size)
);

CREATE INDEX skill_paths_by_parent ON skill_paths (parent, uri);
CREATE INDEX skill_paths_by_skill ON skill_paths (skill);
CREATE INDEX skill_paths_by_digest ON skill_paths (digest, size);
