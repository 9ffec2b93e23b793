-- What holds for the life of a session of the spec that it was opened with, as JSON.
ALTER TABLE sessions ADD COLUMN run TEXT;
