//go:build amd64 || arm64

package confine_test

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// Nothing can be mounted over a link: it is not protected by a mount, and is compared.
func TestAttackReplacesALink(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	links := map[string]string{".envrc": "conf/rc", ".vscode": "conf/vscode", ".idea": "conf/idea", ".git/hooks": "../scripts/hooks", ".git/config": "../conf/config"}
	for _, l := range layers {
		t.Run("layer "+l.String(), func(t *testing.T) {
			s := newTarget(t, l, leaf, func(home string) {
				for _, dir := range []string{".git/objects", ".git/refs", "conf/vscode", "conf/idea", "scripts/hooks"} {
					_ = os.MkdirAll(filepath.Join(home, "project", dir), 0o700)
				}
				_ = os.WriteFile(filepath.Join(home, "project/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o600)
				_ = os.WriteFile(filepath.Join(home, "project/conf/rc"), []byte("mine"), 0o600)
				_ = os.WriteFile(filepath.Join(home, "project/conf/config"), []byte("[core]\n\tbare = false\n"), 0o600)
				for at, to := range links {
					_ = os.Symlink(to, filepath.Join(home, "project", at))
				}
			})
			s.run(t, "true", s.tools)
			_, exit := s.run(t, `rm .envrc .vscode .idea .git/hooks .git/config; echo evil > .envrc; mkdir .vscode .git/hooks; echo evil > .vscode/tasks.json; echo evil > .git/hooks/pre-commit
ln -s conf .idea; printf '[core]\n\tbare = false\n' > .git/config`, s.tools)
			for at, want := range links {
				if to, err := os.Readlink(filepath.Join(s.dir, at)); to != want {
					t.Errorf("%s leads to %q, %v: %s", at, to, err, told(exit))
				}
			}
		})
	}
}

// What is mounted read-only cannot be changed by programs: it is the user who changes it
// while they run.
func TestWhatTheUserChangesMeanwhileStays(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	s := newTarget(t, sandbox.A, leaf, func(home string) {
		_ = os.WriteFile(filepath.Join(home, "project/.envrc"), []byte("old"), 0o600)
	})
	s.run(t, "(sleep 100) >/dev/null 2>&1 &", s.tools)
	s.write(t, ".envrc", "the user's")
	_, exit := s.run(t, "echo evil >> .envrc; true", s.tools)
	if text := s.holds(".envrc"); text != "the user's" || told(exit) != "" {
		t.Errorf("%q, %s", text, told(exit))
	}
}
