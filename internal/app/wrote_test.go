package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
)

// TestEscalationShowsWhatTheSessionWrote: before a command runs outside of the sandbox, the
// user sees which of its files came with the session.
func TestEscalationShowsWhatTheSessionWrote(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.write("theirs.sh", "echo old")
	s.answer = hermes.AllowOnce
	s.say(`CALL write_file {"path":"deploy.sh","content":"echo new\n"}`)
	s.write("made.py", "print(1)") // by a command, which also hides when
	hour := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.dir+"/made.py", hour, hour); err != nil {
		t.Fatal(err)
	}
	s.answer = hermes.Deny
	for line, want := range map[string][]string{
		"./deploy.sh":            {"deploy.sh"},
		"sh theirs.sh":           nil,
		"sh -c 'bash deploy.sh'": {"deploy.sh"},
		"python3 made.py":        {"deploy.sh", "made.py"},
		"make":                   {"deploy.sh", "made.py"},
		"ls":                     nil,
	} {
		s.asked = nil
		s.say(`CALL terminal {"command":"` + line + `","escalate":"try ` + line[:2] + `"}`)
		if len(s.asked) != 1 {
			t.Fatalf("%s: asked %+v", line, s.asked)
		}
		detail := s.asked[0].Detail
		for _, name := range []string{"deploy.sh", "made.py", "theirs.sh"} {
			listed := strings.Contains(detail, "\n  "+name)
			wanted := false
			for _, w := range want {
				wanted = wanted || w == name
			}
			if listed != wanted {
				t.Errorf("%s: %s is listed: %v; the user saw %q", line, name, listed, detail)
			}
		}
	}
}

// TestEscalationShowsWhatALineRunsInAnyWay: the ways of a shell to name a file, or not to
// name it, are more than words.
func TestEscalationShowsWhatALineRunsInAnyWay(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.say("hello")
	for _, name := range []string{"sub/run.sh", "sub/x", "x", "run.sh", "evil.py", "list", "zz.sh"} {
		s.write(name, "true")
	}
	cat := "cat"
	for i := range 21 {
		s.write(fmt.Sprintf("f%d.sh", i), "true")
		cat += fmt.Sprintf(" f%d.sh", i)
	}
	for line, want := range map[string]string{
		"cd sub && ./run.sh": "sub/run.sh", "bash < sub/run.sh": "sub/run.sh", "bash sub/r*.sh": "sub/run.sh", "python3 -m evil": "evil.py", "env -C sub ./x": "sub/x", "(cd sub; sh x)": "sub/x", ". ./x": "x",
		"X=./run.sh; $X": "run.sh", "eval ./run.sh": "run.sh", "f() { cd sub; sh x; }; f": "sub/x", "sh <<E\ncd sub\n./x\nE": "sub/x", "xargs sh < list": "list", "sh -c \"$(cat x)\"": "x", cat + " >/dev/null; bash zz.sh": "zz.sh",
		"make -C sub": "sub/run.sh", "ls": "", "git status": "", "pwd && date": "",
	} {
		s.asked = nil
		call, err := json.Marshal(map[string]string{"command": line, "escalate": "try " + line})
		if err != nil {
			t.Fatal(err)
		}
		s.say("CALL terminal " + string(call))
		if len(s.asked) != 1 {
			t.Fatalf("%s: asked %+v", line, s.asked)
		}
		detail := s.asked[0].Detail
		if want == "" && strings.Contains(detail, "\n  ") || want != "" && !strings.Contains(detail, "\n  "+want+" (SHA-256 ") {
			t.Errorf("%s: %q is not what the user saw: %q", line, want, detail)
		}
		if len(strings.Split(detail, "\n  ")) > 22 || strings.HasPrefix(line, "cat") && !strings.Contains(detail, "\n  and 2 more (SHA-256 ") {
			t.Errorf("%s: the user saw %q", line, detail)
		}
	}
}

// TestWhatChangesWhileTheUserIsAskedDoesNotRun: a program inside may wait for the question,
// and then exchange what the user agrees to.
func TestWhatChangesWhileTheUserIsAskedDoesNotRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no sandbox on this system, so nothing can leave it")
	}
	for name, test := range map[string]struct {
		asking func(s *scene)
		runs   bool
	}{
		"nothing changes":                 {func(*scene) {}, true},
		"a file that it names":            {func(s *scene) { s.write("deploy.sh", "touch bad") }, false},
		"a file of the user that it runs": {func(s *scene) { s.write("theirs.sh", "touch bad") }, false},
		"a file that is only counted":     {func(s *scene) { s.write("many/f39.sh", "touch bad") }, false},
		"its folder": {func(s *scene) {
			if err := errors.Join(os.Remove(s.dir+"/at"), os.Symlink(s.dir+"/bad", s.dir+"/at")); err != nil {
				t.Error(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, hermes.AllowOnce)
			s.options = func(o *app.Options) { o.Sandbox.Keeper = true }
			s.write("good/theirs.sh", "true")
			s.write("theirs.sh", "true")
			s.write("bad/deploy.sh", "touch bad")
			if err := os.Symlink(s.dir+"/good", s.dir+"/at"); err != nil {
				t.Fatal(err)
			}
			s.say(`CALL write_file {"path":"deploy.sh","content":"true\n"}`)
			for i := range 40 {
				s.write(fmt.Sprintf("many/f%d.sh", i), "true")
			}
			s.asked, s.asking = nil, func() { test.asking(s) }
			s.say(`CALL terminal {"command":"sh ../deploy.sh; sh ../theirs.sh; for f in $(ls ../many); do sh ../many/$f; done; touch ../ran","workdir":"at","escalate":"it must"}`)
			if len(s.asked) != 1 {
				t.Fatalf("asked %+v", s.asked)
			}
			_, err := os.Stat(s.dir + "/ran")
			if ran := err == nil; ran != test.runs {
				t.Errorf("it ran: %v; the model read %q", ran, s.model.read)
			}
			if told := strings.Contains(s.model.read, "changed while the user was asked"); told == test.runs {
				t.Errorf("the model was told: %v", told)
			}
		})
	}
}
