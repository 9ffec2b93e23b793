package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
)

// TestAChildsEditIsNotOverwritten: the session above it has read the file before, and must read it again.
func TestAChildsEditIsNotOverwritten(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.write("f.txt", "one")
	s.say(`CALL read_file {"path":"f.txt"}`)
	s.say(`CALL errand {"goal":"CALL read_file {\"path\":\"f.txt\"}\nCALL write_file {\"path\":\"f.txt\",\"content\":\"by the child\\n\"}"}`)
	s.say(`CALL write_file {"path":"f.txt","content":"by the parent\n"}`)
	if text, err := os.ReadFile(filepath.Join(s.dir, "f.txt")); err != nil || string(text) != "by the child\n" {
		t.Errorf("%q, %v", text, err)
	}
	if read := s.model.results(); !strings.Contains(read, "not written: another session (") {
		t.Errorf("the model was not told: %q", read)
	}
}
