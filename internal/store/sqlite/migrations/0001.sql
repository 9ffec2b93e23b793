-- System prompts and tool lists, each text once however many sessions share it.
CREATE TABLE prompts (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  text TEXT NOT NULL
);

-- Times are nanoseconds since 1970, UTC. Counts and bytes are of visible
-- messages and are kept by the writes, so that no list has to count.
CREATE TABLE sessions (
  key         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  source      TEXT NOT NULL DEFAULT '',
  title       TEXT UNIQUE,
  folded      TEXT NOT NULL DEFAULT '', -- the title in lower case
  parent      INTEGER,
  model       TEXT NOT NULL DEFAULT '',
  dir         TEXT NOT NULL DEFAULT '',
  branch      TEXT NOT NULL DEFAULT '',
  system      INTEGER,
  tools       INTEGER,
  started     INTEGER NOT NULL,
  active      INTEGER,
  ended       INTEGER,
  end_reason  TEXT NOT NULL DEFAULT '',
  messages    INTEGER NOT NULL DEFAULT 0,
  calls       INTEGER NOT NULL DEFAULT 0,
  turns       INTEGER NOT NULL DEFAULT 0,
  bytes       INTEGER NOT NULL DEFAULT 0,
  input       INTEGER NOT NULL DEFAULT 0,
  output      INTEGER NOT NULL DEFAULT 0,
  cache_read  INTEGER NOT NULL DEFAULT 0,
  cache_write INTEGER NOT NULL DEFAULT 0,
  reasoning   INTEGER NOT NULL DEFAULT 0,
  requests    INTEGER NOT NULL DEFAULT 0,
  archived    INTEGER NOT NULL DEFAULT 0,
  pinned      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sessions_active ON sessions (coalesce(active, started));
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;

-- text is the message's text where it is one plain part; body is JSON of what
-- has no column, or NULL.
CREATE TABLE messages (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  session   INTEGER NOT NULL,
  role      TEXT NOT NULL,
  turn      INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  hidden    INTEGER NOT NULL DEFAULT 0,
  calls     INTEGER NOT NULL DEFAULT 0,
  failed    INTEGER NOT NULL DEFAULT 0,
  call_id   TEXT,
  tool_name TEXT,
  text      TEXT,
  body      TEXT
);
CREATE INDEX messages_session ON messages (session, id);

-- Calls that were begun and are not yet answered by a stored message. after is
-- the newest message of the session when the call began.
CREATE TABLE steps (
  id      INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  after   INTEGER NOT NULL,
  begun   INTEGER NOT NULL,
  call    TEXT NOT NULL,
  result  TEXT,
  UNIQUE (session, call_id)
);

CREATE TABLE leases (
  session INTEGER PRIMARY KEY,
  owner   TEXT NOT NULL,
  fence   INTEGER NOT NULL,
  expires INTEGER NOT NULL
);

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The index keeps no text of its own. Words of scripts that separate them go
-- to words; runs of other scripts go to grams as overlapping pairs of
-- characters, which finds any substring at a third of a trigram index's size.
CREATE VIRTUAL TABLE words USING fts5 (
  text, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);
CREATE VIRTUAL TABLE grams USING fts5 (
  text, content='', contentless_delete=1, detail=none, tokenize='ascii'
);
-- Merge less often: a message costs half as much to index, and a search looks
-- into a few more segments.
INSERT INTO words (words, rank) VALUES ('automerge', 8);
INSERT INTO grams (grams, rank) VALUES ('automerge', 8);
