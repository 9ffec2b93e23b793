-- What sessions were about. session is the key of the row in sessions; words is
-- the text in lower case, to search in.
CREATE TABLE session_summaries (
  session INTEGER PRIMARY KEY,
  text    TEXT NOT NULL,
  words   TEXT NOT NULL,
  at      INTEGER NOT NULL
);
CREATE INDEX session_summaries_at ON session_summaries (at);
CREATE TRIGGER session_summaries_gone AFTER DELETE ON sessions BEGIN
  DELETE FROM session_summaries WHERE session = old.key;
END;
