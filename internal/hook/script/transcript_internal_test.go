package script

import (
	"os"
	"testing"

	"hermes"
)

// TestTheFileOfAConversationIsNotMadeAgain by a hook that began before the session ended and reaches its file after that.
func TestTheFileOfAConversationIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := NewSession(Config{Session: About{ID: "s"}, Transcripts: Transcripts{Folder: folder}}, Set{Entries: []Entry{{event: event{at: turnEnd}}}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path, err := s.file.update(t.Context(), hermes.SessionRef{ID: sampleSession})
	if list, _ := os.ReadDir(folder); path != "" || err == nil || len(list) > 0 {
		t.Errorf("made %q, %v; there are %v", path, err, list)
	}
}
