package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/session"
)

// TestASessionWorksInItsPlace: its commands, files, searches and prompt are there, and nothing of this machine is.
func TestASessionWorksInItsPlace(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.write("AGENTS.md", "host-canary-4 are the rules of this machine.")
	p.put("home/AGENTS.md", "Rules of the place.\n")
	p.put("home/sub/a.txt", "needle of the place\n")
	s.say(
		`CALL terminal {"command":"pwd; echo in=$IN_THE_PLACE; env; cat `+s.dir+`/AGENTS.md | head -c 0"}`,
		`CALL read_file {"path":"~/sub/a.txt"}`,
		`CALL search_files {"pattern":"needle"}`,
		`CALL write_file {"path":"new/b.txt","content":"made there\n"}`,
		`CALL patch {"mode":"replace","path":"sub/a.txt","old_string":"needle","new_string":"thread"}`,
	)
	got := s.model.results()
	for _, want := range []string{"/mnt/home", "in=yes", "NAMED=by-the-user", "needle of the place", "/mnt/home/sub/a.txt"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	if strings.Contains(got, "host-canary") {
		t.Errorf("something of this machine got there: %s", got)
	}
	if p.has("home/new/b.txt") != "made there\n" || p.has("home/sub/a.txt") != "thread of the place\n" {
		t.Errorf("%q %q", p.has("home/new/b.txt"), p.has("home/sub/a.txt"))
	}
	system := s.system()
	for _, want := range []string{"inside a docker environment", "System: Placeix 7", "Home folder: /mnt/home", "Working folder: /mnt/home\n", "Rules of the place."} {
		if !strings.Contains(system, want) {
			t.Errorf("%q is missing in %s", want, system)
		}
	}
	if strings.Contains(system, "host-canary") || strings.Contains(system, s.dir) {
		t.Errorf("something of this machine is in %s", system)
	}
	s.quit()
	if p.closed != 1 || len(p.open) != 1 {
		t.Errorf("closed %d, opened %v", p.closed, p.open)
	}
	for _, folder := range []string{"home", "home/.hermes", "tmp"} { // only checkpoints are kept there
		left, _ := filepath.Glob(filepath.Join(p.root, folder, "*hermes*"))
		if left = slices.DeleteFunc(left, func(f string) bool { return f == filepath.Join(p.root, "home", ".hermes") }); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
}

// TestFilesElsewhereNeedFewScripts, each of which takes as long as a command in that place. Those of checkpoints
// are counted below.
func TestFilesElsewhereNeedFewScripts(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.config += "checkpoints: {enabled: false}\n"
	p.put("home/sub/a.txt", "needle of the place\n")
	p.put("home/sub/AGENTS.md", "Rules of the folder.\n")
	s.say(`CALL terminal {"command":"true"}`)
	for _, tt := range []struct {
		call string
		most int
	}{
		{`CALL read_file {"path":"~/sub/a.txt"}`, 10}, // with the instructions of both folders
		{`CALL read_file {"path":"~/sub/AGENTS.md"}`, 5},
		{`CALL write_file {"path":"new/b.txt","content":"made there\n"}`, 8},
		{`CALL patch {"mode":"replace","path":"sub/a.txt","old_string":"needle","new_string":"thread"}`, 8},
	} {
		before := len(p.scripts)
		s.say(tt.call)
		if n := len(p.scripts) - before; n > tt.most {
			t.Errorf("%s needs %d scripts, more than %d", tt.call, n, tt.most)
		}
	}
	if got := s.model.results(); !strings.Contains(got, "Rules of the folder.") {
		t.Errorf("the instructions of the folder are missing in %s", got)
	}
}

// TestCheckpointsElsewhereNeedFewScripts: with its checkpoint, a call takes about twice as many as without, however
// many files a restore is of.
func TestCheckpointsElsewhereNeedFewScripts(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: docker, cwd: /mnt/home/project}\n"
	s.rights.Mode = hermes.ModeAsk // in which the files of a restore are looked at
	p.put("home/project/a.txt", "one\n")
	s.say(`CALL write_file {"path":"first.txt","content":"finds the place\n"}`)
	s.say(`CALL write_file {"path":"second.txt","content":"prunes\n"}`)
	s.say(`CALL checkpoint {"name":"start"}`)
	for _, tt := range []struct {
		calls []string
		most  int
	}{
		{[]string{`CALL write_file {"path":"b.txt","content":"made there\n"}`}, 10}, // the first of a turn, about half of them for the checkpoint
		{[]string{`CALL write_file {"path":"c.txt","content":"c\n"}`, `CALL write_file {"path":"d.txt","content":"d\n"}`}, 19},
		{[]string{`CALL terminal {"command":"touch x y"}`}, 13},
		{[]string{`CALL terminal {"command":"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $i >n$i; done"}`}, 30}, // of which files are named, and looked for
		{[]string{`CALL restore {"checkpoint":"start"}`}, 15},                                                                            // of 25 files
	} {
		before := len(p.scripts)
		s.say(tt.calls...)
		if n := len(p.scripts) - before; n > tt.most {
			t.Errorf("%s needs %d scripts, more than %d", tt.calls, n, tt.most)
		} else {
			t.Logf("%s: %d", tt.calls, n)
		}
	}
	if !p.gone("home/project/b.txt") || !p.gone("home/project/n20") || p.has("home/project/second.txt") != "prunes\n" {
		t.Errorf("the restore: %s", s.lastOf("restore"))
	}
}

// TestAResumedSessionKeepsItsPlace: whatever the settings say by then; and one that began on this machine stays here.
func TestAResumedSessionKeepsItsPlace(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.say(`CALL terminal {"command":"echo first > first.txt"}`)
	s.quit()
	began := s.session
	s.config = "terminal: {backend: local}\n"
	s.say(`CALL terminal {"command":"cat first.txt; echo again=$IN_THE_PLACE"}`)
	if got := s.model.results(); !strings.Contains(got, "again=yes") || s.session != began {
		t.Errorf("got %s", got)
	}
	s.quit()
	s.session = ""
	s.say(`CALL terminal {"command":"echo here=$IN_THE_PLACE. > here.txt"}`)
	s.quit()
	s.config = "terminal: {backend: docker}\n"
	s.say(`CALL terminal {"command":"cat here.txt"}`)
	if got := s.model.results(); !strings.Contains(got, "here=.") || strings.Contains(p.has("home/here.txt"), "=") {
		t.Errorf("got %s", got)
	}
	m, err := s.app.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: began, Workspace: hermes.Workspace{Backend: "ssh"}}})
	if fixed, ok := errors.AsType[hermes.ErrFixed](err); !ok || len(fixed.Parts) != 1 {
		t.Errorf("opened with another backend: %v", err)
	}
}

// TestAPlaceThatIsDownIsNotReplacedByThisMachine: a session cannot begin, and a call of one that has begun fails.
func TestAPlaceThatIsDownIsNotReplacedByThisMachine(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.enter()
	p.set(errors.New("the engine does not answer; start it"))
	witness := filepath.Join(t.TempDir(), "witness")
	failed := func() string {
		t.Helper()
		if err := s.live.Do(t.Context(), hermes.From{}, saying(`CALL terminal {"command":"touch `+witness+`"}`)); err != nil {
			return err.Error()
		}
		for e := range s.events {
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Failure == nil {
					return ""
				}
				return done.Err().Error()
			}
		}
		return "the session ended"
	}
	if got := failed(); !strings.Contains(got, "this session works in docker, which cannot be used now") || !strings.Contains(got, "the engine does not answer; start it") {
		t.Errorf("began: %s", got)
	}
	p.set(nil)
	s.say(`CALL terminal {"command":"echo up=$IN_THE_PLACE"}`)
	p.set(errors.New("the engine does not answer; start it"))
	s.say(`CALL terminal {"command":"touch `+witness+`"}`, `CALL write_file {"path":"`+witness+`","content":"x"}`, `CALL read_file {"path":"notes.md"}`, `CALL search_files {"pattern":"Notes"}`)
	got := s.model.results()
	if !strings.Contains(got, "up=yes") || strings.Count(got, "the engine does not answer; start it") < 4 || strings.Contains(got, "DO:memory") {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(witness); err == nil {
		t.Error("something ran on this machine")
	}
	if name, err := s.app.CheckBackend(t.Context()); name != "docker" || err == nil || !strings.Contains(err.Error(), "start it") {
		t.Errorf("doctor: %s, %v", name, err)
	}
	p.set(nil)
	if name, err := s.app.CheckBackend(t.Context()); name != "docker" || err != nil {
		t.Errorf("doctor: %s, %v", name, err)
	}
}

// TestReferencesAndGitAreOfThePlace: the same paths of this machine are not looked at.
func TestReferencesAndGitAreOfThePlace(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.write("only-here.txt", "host-canary")
	p.put("home/a.txt", "text of the place\n")
	s.enter()
	c := s.app.Local(nil)
	say := func(text string) {
		t.Helper()
		if err := c.Do(t.Context(), s.session, hermes.From{Platform: "cli"}, saying(text)); err != nil {
			t.Fatal(err)
		}
		for e := range s.events {
			if done, ok := e.(hermes.TurnDone); ok && done.Failure == nil {
				return
			} else if ok {
				t.Fatal(done.Err())
			}
		}
	}
	say("look at @a.txt and @file:only-here.txt and @file:" + s.dir + "/only-here.txt and @file:/etc/passwd")
	got := s.model.results()
	for _, want := range []string{"--- @a.txt ---\ntext of the place", "@file:only-here.txt: there is no such file"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	if strings.Contains(got, "host-canary") || strings.Contains(got, "root:x") {
		t.Errorf("got %s", got)
	}
	s.say(`CALL terminal {"command":"git init -q -b placed . && git config core.fsmonitor 'touch /mnt/home/started; false'"}`)
	say("and @diff")
	if got := s.model.results(); !strings.Contains(got, "git branch placed, ") || !strings.Contains(got, "Untracked files:\n.keep\na.txt") || !strings.Contains(got, "+text of the place") {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(filepath.Join(p.root, "home", "started")); err == nil {
		t.Error("a setting of the repository started a program")
	}
	if p.open[s.session] != 1 {
		t.Errorf("the place was opened %d times", p.open[s.session])
	}
}

// TestRisksAreThoseOfThePlace: a machine asks as this one does, by the home there; a container does not, as long as its
// walls hold; and what is never allowed stays so.
func TestRisksAreThoseOfThePlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		is   hermes.Isolation
		asks int
	}{
		"machine":                       {hermes.Isolation{}, 3},
		"container":                     {hermes.Isolation{Layer: "container", Holds: true, Text: "a container"}, 1},
		"container with a host's files": {hermes.Isolation{Layer: "container", Text: "a container with folders of this machine"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := newPlaceScene(t, hermes.Deny)
			p.is = tt.is
			p.put("home/build/x", "")
			s.say(`CALL terminal {"command":"rm -rf build"}`, `CALL terminal {"command":"echo x >> /mnt/home/.bashrc"}`, `CALL terminal {"command":"git push --force"}`,
				`CALL terminal {"command":"echo x >> `+s.home+`/memories/MEMORY.md"}`, `CALL terminal {"command":"rm -rf /"}`)
			if len(s.asked) != tt.asks {
				t.Errorf("asked %d times, want %d: %+v", len(s.asked), tt.asks, s.asked)
			}
			if got := s.model.results(); !strings.Contains(got, "BLOCKED: this is never run") {
				t.Errorf("rm -rf / is not refused: %s", got)
			}
			if _, err := os.Stat(filepath.Join(p.root, "home", "build")); (err == nil) != (tt.asks == 3) {
				t.Errorf("build: %v", err)
			}
		})
	}
}

// TestTextOfAPlaceIsUntrusted, also if a folder of its name is trusted on this machine; rules of the user hold there.
func TestTextOfAPlaceIsUntrusted(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.Deny)
	p.is = hermes.Isolation{Layer: "container", Holds: true, Text: "a container"}
	p.put("home/notes.md", attack+"\n")
	p.put("home/private/a", "secret of the place\n")
	writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- {deny: \"read_file: ~/private/**\"}\n- {deny: \"terminal: make deploy*\"}\n")
	s.say(readNotes, `CALL read_file {"path":"private/a"}`, `CALL terminal {"command":"make deploy-all"}`)
	if got := s.model.results(); strings.Contains(got, "secret of the place") || strings.Count(got, "it matches the rule") != 2 {
		t.Errorf("got %s", got)
	}
	s.say(obey)
	if kept := s.kept(); len(kept) > 0 || len(s.asked) == 0 {
		t.Errorf("kept %v, asked %d", kept, len(s.asked))
	}
}

// TestAChildWorksInThePlaceOfItsParent, with a folder of its own.
func TestAChildWorksInThePlaceOfItsParent(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	p.put("home/sub/here", "")
	s.say(`CALL terminal {"command":"cd sub && export MINE=parent"}`, `CALL errand {"goal":"CALL terminal {\"command\":\"pwd > /mnt/home/child.txt; cd /; echo $IN_THE_PLACE $MINE >> /mnt/home/child.txt\"}"}`, `CALL terminal {"command":"pwd"}`)
	if got := p.has("home/child.txt"); !strings.HasPrefix(got, "/mnt/home\nyes") {
		t.Errorf("the child wrote %q; %s", got, s.model.results())
	}
	if got := s.model.results(); !strings.Contains(got, `/mnt/home/sub`) {
		t.Errorf("the folder of the parent changed: %s", got)
	}
	s.quit()
	if len(p.open) != 1 || p.closed != 1 {
		t.Errorf("opened %v, closed %d", p.open, p.closed)
	}
}

// TestTheBackendOfAPlatform: a session of a platform works where its setting says, and an unknown backend is refused.
func TestTheBackendOfAPlatform(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.config = "terminal: {platform_backends: {telegram: docker}}\n"
	s.enter()
	m, err := s.app.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ platform, backend, want string }{{"cli", "", "local"}, {"telegram", "", "docker"}, {"telegram", "local", "local"}, {"cli", "docker", "docker"}} {
		l, err := m.Open(context.WithoutCancel(t.Context()), session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: tt.platform}, Workspace: hermes.Workspace{Dir: s.dir, Backend: tt.backend}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Workspace(); got.Backend != tt.want || (got.Dir == s.dir) != (tt.want == "local") {
			t.Errorf("%+v works in %+v", tt, got)
		}
		l.Close()
	}
	s.quit()
	s.options, s.session = nil, ""
	s.enter()
	if m, err = s.app.Sessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Open(t.Context(), session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Backend: "moon"}}}); err == nil || !strings.Contains(err.Error(), `this version has no backend "moon" for commands; use one of local, `) {
		t.Error(err)
	}
	if len(p.scripts) > 1 { // that of mustPlace
		t.Errorf("a place was started: %q", p.scripts)
	}
}
