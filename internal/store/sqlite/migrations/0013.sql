-- Messages that wait for the end of a turn, as JSON. urgent ones are answered
-- before the others, of which the newest first.
CREATE TABLE waiting (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  urgent  INTEGER NOT NULL DEFAULT 0,
  message TEXT NOT NULL
);
CREATE INDEX waiting_session ON waiting (session);
