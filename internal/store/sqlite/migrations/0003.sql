-- Model calls and what they cost, in millionths of a dollar. money and tokens
-- are the estimate until the call is settled. accounts are the names of the
-- accounts it is booked on, as JSON of [kind, name] pairs.
CREATE TABLE spend (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  state       INTEGER NOT NULL, -- 0 open, 1 settled, 2 released
  owner       TEXT NOT NULL,
  until       INTEGER NOT NULL,
  session     TEXT NOT NULL,
  model       TEXT NOT NULL,
  purpose     TEXT NOT NULL,
  day         TEXT NOT NULL,
  accounts    TEXT NOT NULL,
  money       INTEGER NOT NULL,
  tokens      INTEGER NOT NULL,
  input       INTEGER NOT NULL DEFAULT 0,
  output      INTEGER NOT NULL DEFAULT 0,
  cache_read  INTEGER NOT NULL DEFAULT 0,
  cache_write INTEGER NOT NULL DEFAULT 0,
  reasoning   INTEGER NOT NULL DEFAULT 0,
  requests    INTEGER NOT NULL DEFAULT 0,
  unpriced    INTEGER NOT NULL DEFAULT 0,
  estimated   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX spend_at ON spend (at);
CREATE INDEX spend_session ON spend (session, at);
CREATE INDEX spend_open ON spend (until) WHERE state = 0;

-- How accounts stand: what was spent, what is held by open calls, by how much
-- the caps were raised, and the last percentage that was warned of.
CREATE TABLE spend_accounts (
  key           INTEGER PRIMARY KEY,
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  money         INTEGER NOT NULL DEFAULT 0,
  tokens        INTEGER NOT NULL DEFAULT 0,
  held_money    INTEGER NOT NULL DEFAULT 0,
  held_tokens   INTEGER NOT NULL DEFAULT 0,
  raised_money  INTEGER NOT NULL DEFAULT 0,
  raised_tokens INTEGER NOT NULL DEFAULT 0,
  calls         INTEGER NOT NULL DEFAULT 0,
  unpriced      INTEGER NOT NULL DEFAULT 0,
  warned        INTEGER NOT NULL DEFAULT 0,
  touched       INTEGER NOT NULL DEFAULT 0,
  UNIQUE (kind, name)
);
