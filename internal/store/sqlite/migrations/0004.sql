-- Failures of tools and what helps against them. touched is when a row was last
-- saved, seen or shown; words is all its text in lower case, to search in.
CREATE TABLE learnings (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  tool    TEXT NOT NULL,
  class   TEXT NOT NULL,
  pattern TEXT NOT NULL,
  fix     TEXT NOT NULL DEFAULT '',
  context TEXT NOT NULL DEFAULT '',
  tags    TEXT NOT NULL DEFAULT '[]',
  words   TEXT NOT NULL DEFAULT '',
  session TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  touched INTEGER NOT NULL,
  seen    INTEGER NOT NULL DEFAULT 0,
  shown   INTEGER NOT NULL DEFAULT 0,
  helped  INTEGER NOT NULL DEFAULT 0,
  failed  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tool, class, pattern)
);
CREATE INDEX learnings_touched ON learnings (touched);

-- Texts that a memory keeps, found by their words and by vectors of bytes.
CREATE TABLE recollections (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  hash    BLOB NOT NULL UNIQUE,
  session TEXT NOT NULL DEFAULT '',
  at      INTEGER NOT NULL,
  text    TEXT NOT NULL,
  vector  BLOB
);
CREATE INDEX recollections_at ON recollections (at);
CREATE VIRTUAL TABLE recollection_words USING fts5 (
  text, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);
CREATE VIRTUAL TABLE recollection_grams USING fts5 (
  text, content='', contentless_delete=1, detail=none, tokenize='ascii'
);
