-- Who speaks in a session of a messenger, by the platform's id; empty for the
-- owner of the home.
ALTER TABLE sessions ADD COLUMN user TEXT NOT NULL DEFAULT '';
