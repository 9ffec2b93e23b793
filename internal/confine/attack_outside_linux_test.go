//go:build amd64 || arm64

package confine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/environment"
	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// replace puts a file of the workspace in the place of another, as git and editors do.
func (s *target) replace(t *testing.T, path, text string) {
	t.Helper()
	s.write(t, path+".new", text)
	if err := os.Rename(filepath.Join(s.dir, path+".new"), filepath.Join(s.dir, path)); err != nil {
		t.Fatal(err)
	}
}

// The kernel takes a mount away when somebody outside replaces the file below it.
func TestAttackWaitsUntilTheUserReplacesAFile(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	for _, l := range layers {
		for _, serves := range []bool{false, true} {
			t.Run(fmt.Sprintf("layer %s, a program runs: %v", l, serves), func(t *testing.T) {
				s := newTarget(t, l, func(home string) { _ = os.MkdirAll(filepath.Join(home, "project/.git/hooks"), 0o700) })
				s.write(t, ".git/HEAD", "ref: refs/heads/main\n")
				s.write(t, ".git/config", "[core]\n\tbare = false\n")
				_ = os.MkdirAll(filepath.Join(s.dir, ".git/objects"), 0o700)
				_ = os.MkdirAll(filepath.Join(s.dir, ".git/refs"), 0o700)
				s.run(t, "cat .env", s.tools)
				if serves {
					s.run(t, "(sleep 100) >/dev/null 2>&1 &", s.tools)
				}
				s.replace(t, ".git/config", "[core]\n\tbare = false\n[user]\n\tname = Ada\n")
				s.replace(t, ".env", canary+"-WORKSPACE")
				out, _ := s.run(t, "cat .env; printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config; cat .env", s.tools)
				if strings.Contains(out, canary) {
					t.Errorf("it was read: %s", out)
				}
				s.Local.Close()
				if text := s.holds(".git/config"); strings.Contains(text, "evil") || !strings.Contains(text, "Ada") {
					t.Errorf("git would run it, or the user's change is lost: %q", text)
				}
			})
		}
	}
}

// A file with secrets that the user makes between two commands is hidden from the next.
func TestAttackReadsASecretThatIsNew(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "mkdir app; echo OWN > app/.env", s.tools)
		if out, _ := s.run(t, "cat app/.env", s.tools); !strings.Contains(out, "OWN") {
			t.Errorf("a command made it, and the next cannot read it: %s", out)
		}
		s.write(t, ".env", canary+"-NEW")
		if out, _ := s.run(t, "cat .env", s.tools); strings.Contains(out, canary) {
			t.Errorf("it was read: %s", out)
		}
	})
}

// Whatever is in a workspace, it proves nothing about the host.
func TestAttackMakesTheWallsOfTheNextSessionFail(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		for name, line := range map[string]string{
			"many secrets":    "mkdir many; cd many; for i in $(seq 900); do : > .env.$i; done; mkdir more; cd more; for i in $(seq 900); do : > .env.$i; done; mkdir most; cd most; for i in $(seq 900); do : > .env.$i; done",
			"long names":      `L=$(printf 'x%.0s' $(seq 240)); mkdir -p a$L/b$L; cd a$L/b$L; for i in $(seq 900); do : > .env.$i$L; done`,
			"one folder less": "true",
		} {
			dir := filepath.Join(s.home, "next", strings.ReplaceAll(name, " ", "-"))
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s.granted = []hermes.Need{{Kind: hermes.RefusedWrite, Name: dir}}
			s.run(t, "cd "+dir+" && "+line, s.tools)
			s.granted = nil
			p := confine.New(confine.Settings{Mode: confine.Auto, Home: s.home, State: s.state, Cache: filepath.Join(s.state, "cache", "sandbox"), Strongest: s.layer()})
			w := p.Walls(confine.Config{Session: "next", Workspace: dir, Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + s.home}})
			began := time.Now()
			in, err := w.Enter(t.Context(), hermes.Command{Line: "true"}, dir)
			if state := p.State(); err == nil && in.Launcher == nil || state.Known && state.Layer != s.layer() {
				t.Errorf("%s: a command would run without walls: %+v, %v", name, state, err)
			}
			if (err == nil) != (name != "many secrets") {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s: it took %v", name, took)
			}
			w.Close()
		}
	})
}

// A program inside waits until a command outside has started, and exchanges what it reads.
func TestAttackExchangesAFileWhileACommandRunsOutside(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, `(while [ ! -e $W/began ]; do sleep 0.002; done; echo evil > $W/script) >/dev/null 2>&1 &`, s.tools)
		s.write(t, "script", "good")
		out, err := s.try(t, "touch began; sleep 0.3; cat script", s.tools, func(c *hermes.Command) { c.Outside = true })
		if err != nil || strings.TrimSpace(out) != "good" {
			t.Errorf("it was exchanged: %q, %v", out, err)
		}
		for deadline := time.Now().Add(5 * time.Second); !strings.Contains(s.holds("script"), "evil"); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("it does not go on afterwards")
			}
		}
	})
}

// A command of the same batch starts while another runs outside.
func TestAttackStartsWhileACommandRunsOutside(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.write(t, "script", "good")
		over := make(chan string)
		go func() {
			out, err := s.try(t, "touch began; sleep 0.3; cat script", s.tools, func(c *hermes.Command) { c.Outside = true })
			over <- fmt.Sprint(strings.TrimSpace(out), err)
		}()
		for s.holds("began") == "" {
			if _, err := os.Stat(filepath.Join(s.dir, "began")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		s.run(t, "echo evil > script", s.tools)
		if got := <-over; got != "good<nil>" {
			t.Errorf("it was exchanged: %q", got)
		}
		if text := s.holds("script"); !strings.Contains(text, "evil") {
			t.Errorf("the command that waited did not run: %q", text)
		}
	})
}

// A folder may exist inside only: then nothing runs outside, and not in its parent either.
func TestAttackLeadsACommandOutsideIntoAnotherFolder(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		for _, line := range []string{"mkdir -p ~/scratch/deep && cd ~/scratch/deep", "mkdir -p /tmp/scratch && cd /tmp/scratch", "mkdir gone; cd gone; rmdir ../gone"} {
			s.run(t, "cd "+s.dir)
			s.run(t, line)
			out, err := s.try(t, "pwd -P", func(c *hermes.Command) { c.Outside = true })
			if err == nil && strings.TrimSpace(out) != s.dir && !strings.Contains(out, "sandbox") {
				t.Errorf("%s: it ran in %q", line, out)
			}
		}
	})
}

// A command that runs on in the background keeps no other from starting.
func TestAttackHoldsUpEveryOtherCommand(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x", s.tools)
		p, err := s.Start(t.Context(), hermes.Command{Line: "git config user.name q; echo on; sleep 100", Dir: s.dir, Background: true}, false)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		if out, _ := s.run(t, "git config --get user.email; git config user.email x; echo went", s.tools); !strings.Contains(out, "went") {
			t.Errorf("it did not run: %s", out)
		}
	})
}

// What is remembered of a folder that only exists inside holds for the next command.
func TestAFolderInsideIsRemembered(t *testing.T) {
	s := newTarget(t, sandbox.A)
	for _, dir := range []string{"/tmp/scratch", s.home + "/scratch"} {
		s.run(t, "mkdir -p "+dir+" && cd "+dir)
		if out, _ := s.run(t, "pwd"); strings.TrimSpace(out) != dir {
			t.Errorf("after cd %s it ran in %q", dir, out)
		}
	}
}

// What a command outside leaves running would run what the session writes later.
func TestAttackLeavesAProgramOutside(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		for _, line := range []string{
			"(while [ ! -e go ]; do sleep 0.01; done; sh late.sh) >/dev/null 2>&1 & echo x",
			"setsid nohup sh -c 'while [ ! -e go ]; do sleep 0.01; done; sh late.sh' >/dev/null 2>&1 & echo x",
			"setsid sh -c 'setsid sh -c \"while [ ! -e go ]; do sleep 0.01; done; sh late.sh\" & exit' >/dev/null 2>&1; echo x",
		} {
			if out, err := s.try(t, line, s.tools, func(c *hermes.Command) { c.Outside = true }); err != nil || !strings.Contains(out, "x") {
				t.Fatalf("%s: %s, %v", line, out, err)
			}
			s.run(t, "echo 'touch bad' > late.sh; echo x > go; sleep 0.2", s.tools)
			if _, err := os.Stat(filepath.Join(s.dir, "bad")); err == nil {
				t.Errorf("%s: it ran outside", line)
			}
			s.run(t, "rm -f go bad", s.tools)
		}
	})
}

// The private folders belong to Hermes, whatever a program does to them.
func TestAttackClosesThePrivateFolders(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		line := "chmod 000 $TMPDIR ~"
		if s.layer() == sandbox.A { // in B it is the machine's, and root may
			line += "; chmod 000 /tmp"
		}
		s.run(t, line)
		s.granted = []hermes.Need{{Kind: hermes.RefusedRead, Name: filepath.Join(s.home, "other")}} // new walls
		if out, _ := s.run(t, "echo x > $TMPDIR/x && echo x > ~/x && echo went"); !strings.Contains(out, "went") {
			t.Errorf("no command runs any more: %s", out)
		}
	})
}

// A session of the same project exchanges what another runs outside.
func TestAttackHelpsAnotherSession(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		walls := s.walls.Sibling()
		other, err := environment.NewLocal(environment.LocalConfig{Dir: s.dir, Home: s.home, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + s.home}, Walls: walls})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if _, err := other.Exec(t.Context(), hermes.Command{Line: "(while [ ! -e began ]; do sleep 0.002; done; echo evil > script) >/dev/null 2>&1 &"}); err != nil {
			t.Fatal(err)
		}
		s.write(t, "script", "good")
		out, err := s.try(t, "touch began; sleep 0.3; cat script", s.tools, func(c *hermes.Command) { c.Outside = true })
		if err != nil || strings.TrimSpace(out) != "good" {
			t.Errorf("it was exchanged: %q, %v", out, err)
		}
	})
}
