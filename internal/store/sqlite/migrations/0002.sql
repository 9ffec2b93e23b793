-- A message that a context engine put in the place of others stands in the
-- order where they stood: place is the id of the first of them. hidden is 1
-- for what was taken back and 2 for what was compacted away.
ALTER TABLE messages ADD COLUMN place INTEGER;
CREATE INDEX messages_placed ON messages (session) WHERE place IS NOT NULL;
