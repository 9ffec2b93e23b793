-- The order of a transcript, so that its end is read without the rest.
CREATE INDEX messages_order ON messages (session, coalesce(place, id)) WHERE hidden = 0;
DROP INDEX messages_placed;
