//go:build amd64 || arm64

package confine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
)

// plantFiles writes what the user's tools run, and what git obeys.
const plantFiles = `; echo CANARY > .git/hooks/pre-commit; printf '[core]\n\tfsmonitor = CANARY\n' >> .git/config; echo CANARY > .envrc; mkdir -p .vscode; echo CANARY > .vscode/tasks.json; true`

// A need opens what it names, not what is protected below it.
func TestAttackNeedsTheWorkspace(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		runGit(t, s.home, s.dir, "init", "-q", ".")
		s.write(t, ".envrc", "export A=1\n")
		s.write(t, ".vscode/tasks.json", "{}\n")
		s.write(t, "sub/.vscode/tasks.json", "{}\n")
		for _, need := range []string{s.dir, s.home + "/..", filepath.Join(s.dir, ".git"), filepath.Join(s.dir, "sub")} {
			need = filepath.Clean(need)
			_, _ = s.try(t, "true"+plantFiles+"; echo CANARY > sub/.vscode/tasks.json", s.tools, needs("write "+need))
			for _, path := range []string{".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json", "sub/.vscode/tasks.json"} {
				if strings.Contains(s.holds(path), canary) {
					t.Errorf("with the need of %s it wrote %s", need, path)
				}
			}
			if got := s.walls.Opens(t.Context(), hermes.Need{Kind: hermes.RefusedWrite, Name: need}); !strings.Contains(got.Refuse, "written already") {
				t.Errorf("the need of %s is not refused: %+v", need, got)
			}
		}
	})
}

// Needs of what is protected itself go on to be asked about, and to open it.
func TestNeedsOpenWhatTheyName(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		runGit(t, s.home, s.dir, "init", "-q", ".")
		s.write(t, ".vscode/tasks.json", "{}\n")
		s.run(t, "true", s.tools)
		if err := os.Mkdir(filepath.Join(s.home, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		for need, file := range map[string]string{".git/config": ".git/config", ".git/hooks": ".git/hooks/x", ".vscode": ".vscode/tasks.json", ".vscode/tasks.json": ".vscode/tasks.json", "../data": "../data/x"} {
			n := hermes.Need{Kind: hermes.RefusedWrite, Name: filepath.Join(s.dir, need)}
			if got := s.walls.Opens(t.Context(), n); got.Refuse != "" {
				t.Errorf("%s: %+v", need, got)
			}
			if s.run(t, "echo '# mine' >> "+file, s.tools, needs(n.String())); !strings.Contains(s.holds(file), "# mine") {
				t.Errorf("the need of %s did not open %s", need, file)
			}
		}
	})
}
