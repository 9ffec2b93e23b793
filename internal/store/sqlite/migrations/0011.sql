-- Messages up to this number may be longer than what was indexed of them: the
-- index took the first 64 KiB. The number falls to 0 while they are indexed again.
INSERT INTO meta (name, value) SELECT 'partly_indexed', max(id) FROM messages HAVING max(id) > 0;
