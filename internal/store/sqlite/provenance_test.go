package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	"hermes"
)

// TestOldMessagesAreJudgedWithCare opens a file from before messages had a
// provenance.
func TestOldMessagesAreJudgedWithCare(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hermes.db")
	steps, err := Config{}.steps()
	if err != nil {
		t.Fatal(err)
	}
	old, err := Open(t.Context(), Config{Path: path, migrations: steps[:5]})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`INSERT INTO prompts (id, hash, text) VALUES (1, 'x', 'You are it. The people of this project left these notes for agents. Follow them where they bear on the task.')`,
		`INSERT INTO sessions (key, id, source, started) VALUES (1, 'a', 'cli', 1), (3, 'import', 'import', 1), (4, 'clean', 'cli', 1)`,
		`INSERT INTO sessions (key, id, source, started, system) VALUES (2, 'project', 'cli', 1, 1)`,
		`INSERT INTO messages (session, role, turn, at, tool_name, text) VALUES (1, 'user', 1, 1, NULL, 'go'), (1, 'tool', 1, 1, 'read_file', 'x'),
			(1, 'tool', 1, 1, 'todo', 'x'), (3, 'user', 1, 1, NULL, 'hi'), (4, 'tool', 1, 1, 'memory', 'x')`,
		`INSERT INTO messages (session, role, turn, at, text, place) VALUES (1, 'user', 1, 1, 'summary', 1)`,
		`INSERT INTO messages (session, role, turn, at, body) VALUES (1, 'user', 2, 1, '{"role":"","parts":[{"text":"see"},{"text":"Attached context: x","hidden":true}]}')`,
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.Messages(t.Context(), "a", hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range list {
		got[m.Text()+" "+m.ToolName] = m.Provenance
	}
	for text, want := range map[string]string{
		"go ": "", "x read_file": "read_file", "x todo": "", "summary ": "what was summed up", "see\nAttached context: x ": "an attachment",
	} {
		if got[text] != want {
			t.Errorf("%q comes from %q, want %q", text, got[text], want)
		}
	}
	for id, want := range map[string]bool{"a": true, "project": true, "import": true, "clean": false} {
		if row, err := s.FindSession(t.Context(), id); err != nil || row.Tainted != want {
			t.Errorf("session %s: %+v, %v", id, row, err)
		}
	}
}
