package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/tool/file"
)

// surroundings tells a session what changed around it, each thing once.
type surroundings struct {
	app   *App
	row   hermes.Session
	files *file.Toolset

	mu   sync.Mutex
	said string // the state of the repository as it was told last
}

// tell names changed files and a changed state of the repository. The first
// message of a session gets the state as it is.
func (s *surroundings) tell(ctx context.Context) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var notes []string
	if changed := s.files.Changed(s.row.ID); len(changed) > 0 {
		notes = append(notes, "changed by others since you read them: "+strings.Join(changed, ", "))
	}
	if state := s.repository(ctx); state != "" && state != s.said {
		s.said = state
		notes = append(notes, state)
	}
	if len(notes) == 0 {
		return ""
	}
	return strings.Join(notes, "; ")
}

// repository tells branch and changed files of the working folder's
// repository; nothing outside of one.
func (s *surroundings) repository(ctx context.Context) string {
	if !inRepository(s.row.Dir) {
		return ""
	}
	out, err := references{app: s.app, dir: s.row.Dir}.run(ctx, "status", "--porcelain=v1", "--branch", "--untracked-files=no")
	if err != nil {
		return ""
	}
	head, rest, _ := strings.Cut(out, "\n")
	head = strings.TrimPrefix(strings.TrimPrefix(head, "## "), "No commits yet on ")
	branch, _, _ := strings.Cut(head, "...")
	return fmt.Sprintf("git branch %s, %d changed files", branch, strings.Count(rest, "\n"))
}

// inRepository reports whether a folder or one above it holds a repository.
func inRepository(dir string) bool {
	for range 64 {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
	return false
}

// around is what a session asks for what changed around it. A single question
// has nothing to be told of.
func (a *App) around(row hermes.Session, k *kit) func(ctx context.Context) string {
	if row.Source == "oneshot" || row.Source == "demo" {
		return nil
	}
	s := &surroundings{app: a, row: row, files: k.files}
	return s.tell
}
