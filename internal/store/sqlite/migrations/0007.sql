-- How far sessions were looked back at, and where that is still owed: owed is
-- the turn up to which, 0 for none; tries counts the attempts since, tried_at
-- is the last of them. session is the key of the row in sessions.
CREATE TABLE session_reviews (
  session  INTEGER PRIMARY KEY,
  turn     INTEGER NOT NULL DEFAULT 0,
  owed     INTEGER NOT NULL DEFAULT 0,
  tries    INTEGER NOT NULL DEFAULT 0,
  tried_at INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX session_reviews_owed ON session_reviews (owed) WHERE owed > 0;
CREATE TRIGGER session_reviews_gone AFTER DELETE ON sessions BEGIN
  DELETE FROM session_reviews WHERE session = old.key;
END;
