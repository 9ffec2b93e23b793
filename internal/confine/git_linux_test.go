//go:build amd64 || arm64

package confine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/confine"
	"hermes/internal/git"
	"hermes/internal/sandbox"
)

// TestOwnGitOnlyReads: git that Hermes calls reads a repository, also from a folder in it,
// and a program that a repository smuggles into it reads no secret and changes nothing.
func TestOwnGitOnlyReads(t *testing.T) {
	for _, l := range layers {
		s := newScene(t, l)
		run(t, "git", "-C", s.dir, "init", "-q", "-b", "main")
		if err := os.MkdirAll(filepath.Join(s.dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		p := confine.New(confine.Settings{Home: s.home, State: s.state, Cache: filepath.Join(s.state, "cache", "sandbox"), Strongest: l})
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}
		for _, dir := range []string{s.dir, filepath.Join(s.dir, "sub")} {
			walls := p.Git(git.Root(dir), env)
			r := git.Repository{Dir: dir, Env: func() []string { return env }, Inside: walls.Inside}
			if st, err := r.Status(t.Context()); err != nil || st.Branch != "main" || len(st.Untracked) == 0 {
				t.Errorf("%s: status in %s: %+v %v", l, dir, st, err)
			}
			// No caller runs an alias. It is in the place of what the options of calls miss.
			out, err := r.Run(t.Context(), "-c", "alias.x=!cat '"+s.home+"/notes.txt' '"+s.state+"/.env'; touch changed; env", "x")
			if strings.Contains(out, "CANARY") || err != nil && strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%s: git read %s %v", l, out, err)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "changed")); err == nil {
				t.Errorf("%s: git changed the workspace", l)
			}
			if err := walls.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func BenchmarkOwnGit(b *testing.B) {
	s := newScene(b, sandbox.A)
	if _, exit := s.run(b, "git init -q"); exit.Code != 0 {
		b.Fatal(exit)
	}
	p := confine.New(confine.Settings{Home: s.home, State: s.state, Cache: filepath.Join(s.state, "cache", "sandbox")})
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}
	for name, keep := range map[string]bool{"first": false, "next": true, "none": true} {
		b.Run(name, func(b *testing.B) {
			walls := p.Git(s.dir, env)
			r := git.Repository{Dir: s.dir, Env: func() []string { return env }, Inside: walls.Inside}
			if name == "none" {
				r.Inside = nil
			}
			for b.Loop() {
				if _, err := r.Status(b.Context()); err != nil {
					b.Fatal(err)
				}
				if !keep {
					walls.Close()
					walls = p.Git(s.dir, env)
					r.Inside = walls.Inside
				}
			}
			walls.Close()
		})
	}
}
