-- How a call that was begun stands with the person, as JSON; asking is 1 while
-- a question of it has no answer.
ALTER TABLE steps ADD COLUMN hold TEXT;
ALTER TABLE steps ADD COLUMN asking INTEGER NOT NULL DEFAULT 0;
