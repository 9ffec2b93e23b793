-- The pieces of a session's system prompt, as JSON: a number of prompts, like
-- system and tools.
ALTER TABLE sessions ADD COLUMN layers INTEGER;
