package app_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
)

// TestNoSessionIsAskedForToolsThatAreNotListed: what a session gets without being offered it counts, too, also
// that of one whose offered tools are not stored.
func TestNoSessionIsAskedForToolsThatAreNotListed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "platform_toolsets: {acp: [browser, checkpoint, clarify, code_execution, delegation, file, memory, messaging, moa, session_search, sessions, skills, terminal, todo, web]}\n")
	a, c := neighbour(t, home, (&asker{}).decide, nil)
	few := openedIn(t, c, hermes.RunSpec{Origin: hermes.Origin{Platform: "acp"}})
	few2 := openedIn(t, c, hermes.RunSpec{Origin: hermes.Origin{Platform: "acp"}})
	more := openedIn(t, c, hermes.RunSpec{})
	db, err := a.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	imported := hermes.Session{ID: "20260101_000000_abcdef", Platform: "cli", Started: time.Now(), Dir: t.TempDir()}
	if err := db.CreateSession(t.Context(), imported); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ from, to, want string }{
		{few, more, "has tools that this one has not (learning, "},
		{few, imported.ID, "has tools that this one has not (learning, "},
		{few, few2, "You said: hello"}, {more, few, "You said: hello"}, {more, imported.ID, "You said: hello"},
	} {
		if done := answered(t, c, tt.from, asking(tt.to, "hello")); !strings.Contains(done.Text, tt.want) {
			t.Errorf("%s asks %s: %q, want %q", tt.from, tt.to, done.Text, tt.want)
		}
	}
}
