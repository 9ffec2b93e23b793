-- Where text comes from that neither the person nor the model wrote; NULL or ''
-- is nowhere. That of a session is what it began with: files of the project in
-- its prompt, what its parent had seen.
ALTER TABLE messages ADD COLUMN outside TEXT;
CREATE INDEX messages_outside ON messages (session) WHERE outside IS NOT NULL;
ALTER TABLE sessions ADD COLUMN outside TEXT NOT NULL DEFAULT '';
ALTER TABLE learnings ADD COLUMN outside TEXT NOT NULL DEFAULT '';
ALTER TABLE recollections ADD COLUMN outside TEXT NOT NULL DEFAULT '';

-- What was stored before is judged with care: results of tools that bring other
-- people's text, what was attached or imported, and what summaries were made of.
UPDATE messages SET outside = tool_name WHERE role = 'tool' AND tool_name IS NOT NULL
  AND tool_name NOT IN ('todo', 'todo_list', 'memory', 'clarify', 'write_file', 'skills_list', 'skill_manage');
UPDATE messages SET outside = 'an attachment' WHERE role = 'user' AND instr(body, 'Attached context:') > 0;
UPDATE messages SET outside = 'import' WHERE session IN (SELECT key FROM sessions WHERE source = 'import');
UPDATE messages SET outside = 'what was summed up' WHERE outside IS NULL AND place IS NOT NULL;
UPDATE sessions SET outside = 'project files' WHERE system IN (SELECT id FROM prompts WHERE instr(text, 'left these notes for agents. Follow them') > 0);
UPDATE recollections SET outside = 'an earlier session';
