-- What sessions asked the user. name is the question's id in its session, body the
-- question, its answer and who gave it, as JSON. closed is NULL while it is open.
CREATE TABLE questions (
  id        INTEGER PRIMARY KEY,
  session   INTEGER NOT NULL,
  name      TEXT NOT NULL,
  asked     INTEGER NOT NULL,
  escalated INTEGER,
  closed    INTEGER,
  answered  INTEGER NOT NULL DEFAULT 0,
  body      TEXT NOT NULL,
  UNIQUE (session, name)
);
CREATE INDEX questions_open ON questions (asked) WHERE closed IS NULL;
