package app_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
	"hermes/internal/environment/ssh"
	"hermes/internal/environment/sshdtest"
)

// own writes a file into the home of Hermes.
func (s *scene) own(name, text string) {
	s.t.Helper()
	at := filepath.Join(s.home, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		s.t.Fatal(err)
	}
	writeFile(s.t, at, text)
}

// warnings are those that hold a text.
func (s *scene) warnings(text string) (list []string) {
	for _, w := range s.warned {
		if strings.Contains(w, text) {
			list = append(list, w)
		}
	}
	return list
}

const readsKey = `CALL terminal {"command":"cat ~/.hermes/google.json; stat -c %a ~/.hermes/google.json; ls -A ~/.hermes"}`

// TestCredentialFilesGetToThePlace: those that the user names and those that an installed skill asks for, also when they have changed;
// nothing of Hermes itself, no file that a project or a skill names elsewhere; a missing one is told once; none is
// left at the end, and no content is in logs or records.
func TestCredentialFilesGetToThePlace(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: docker, credential_files: [google.json, gone.json, .env, auth.json, copy.json, /etc/hostname, '../x']}\n"
	s.own("google.json", "first-canary")
	s.own(".env", "OPENAI_API_KEY=sk-host-canary-3\n")
	s.own("copy.json", `{"key": "sk-host-canary-3"}`)
	s.own("skill.json", "of-the-skill")
	s.own("project.json", "project-canary")
	s.own("skills/deploy/SKILL.md", "---\nname: deploy\ndescription: Deploy.\nrequired_credential_files: [skill.json, {path: config.yaml}, '~/.ssh/id_rsa', /etc/hostname]\n---\n# When\nAlways.\n")
	s.write(".hermes/config.yaml", "terminal: {credential_files: [project.json]}")
	s.write(".hermes/skills/evil/SKILL.md", "---\nname: evil\ndescription: Evil.\nrequired_credential_files: [project.json]\n---\n# When\nAlways.\n")
	s.write("config.yaml", "terminal: {credential_files: [project.json]}")
	s.say(readsKey, `CALL terminal {"command":"cat ~/.hermes/skill.json"}`)
	got := s.model.results()
	for _, want := range []string{"first-canary600", "of-the-skill"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	names := func() (list []string) {
		all, _ := filepath.Glob(filepath.Join(p.root, "home", ".hermes", "*"))
		for _, at := range all {
			list = append(list, filepath.Base(at))
		}
		return slices.DeleteFunc(list, func(n string) bool { return n == "checkpoints" })
	}
	if got := names(); !slices.Equal(got, []string{"credential-files", "google.json", "skill.json"}) {
		t.Errorf("the place has %q", got)
	}
	s.say(`CALL terminal {"command":"true"}`)
	for want, n := range map[string]int{
		"gone.json is missing": 1, `".env" is a file of Hermes itself`: 1, `"auth.json" is a file of Hermes itself`: 1, `"copy.json" holds a key of Hermes itself`: 1, `"/etc/hostname" is neither`: 1,
		`"../x" leaves its folder`: 1, `"config.yaml" is a file of Hermes itself`: 1, "a skill may name only files of Hermes": 2,
	} {
		if got := s.warnings(want); len(got) != n {
			t.Errorf("%q is told in %q, not %d times", want, got, n)
		}
	}
	s.own("google.json", "second-canary-that-is-longer")
	s.say(`CALL terminal {"command":"wc -c <~/.hermes/google.json"}`)
	if got := p.has("home/.hermes/google.json"); got != "second-canary-that-is-longer" {
		t.Errorf("after a change it has %q", got)
	}
	if text := strings.Join(p.scripts, "\n"); strings.Contains(text, "canary") {
		t.Error("a content is in the text of a script")
	}
	s.quit()
	if got := names(); len(got) != 0 {
		t.Errorf("left %q", got)
	}
	err := filepath.WalkDir(s.home, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && filepath.Base(at) != "google.json" {
			if text, err := os.ReadFile(at); err == nil && strings.Contains(string(text), "second-canary") {
				t.Errorf("%s has the content", at)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCredentialFilesHereAreTold: a name that is refused or missing is told once, also if commands run on this machine.
func TestCredentialFilesHereAreTold(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.config = "terminal: {credential_files: [google.json, gone.json, .env, /etc/hostname]}\n"
	s.own("google.json", "here")
	s.say(`CALL terminal {"command":"true"}`)
	s.say(`CALL terminal {"command":"true"}`)
	for want, n := range map[string]int{"gone.json is missing": 1, `".env" is a file of Hermes itself`: 1, `"/etc/hostname" is neither`: 1, "google.json": 0} {
		if got := s.warnings(want); len(got) != n {
			t.Errorf("%q is told in %q, not %d times", want, got, n)
		}
	}
}

// TestCredentialFilesInAContainer of a real engine: mounted for reading into one of the session alone, copied into one that is kept.
func TestCredentialFilesInAContainer(t *testing.T) {
	t.Parallel()
	shared := enginetest.Shared{Start: enginetest.Docker, Needed: os.Getenv("CI") == "true"}
	engine := shared.Get(t)
	t.Cleanup(func() {
		if err := shared.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, tt := range map[string]struct{ persistent, writing string }{"alone": {"false", "Read-only file system"}, "kept": {"true", "writable"}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, hermes.AllowOnce)
			s.config = "terminal: {backend: docker, docker_image: '" + enginetest.Image + "', container_persistent: " + tt.persistent + ", docker_network: false, credential_files: [google.json, gone.json]}\n"
			s.own("google.json", "container-canary\n")
			s.options = func(o *app.Options) { o.Environ = func() []string { return engine.Env } }
			s.say(`CALL terminal {"command":"cat ~/.hermes/google.json; echo mine >~/.hermes/google.json && echo writable"}`)
			if got := s.model.results(); !strings.Contains(got, "container-canary") || !strings.Contains(got, tt.writing) || len(s.warnings("gone.json is missing")) != 1 {
				t.Errorf("got %s; told %q", got, s.warned)
			}
			if text, err := os.ReadFile(filepath.Join(s.home, "google.json")); string(text) != "container-canary\n" || err != nil {
				t.Errorf("the file here has %q, %v", text, err)
			}
			s.quit()
			left, err := engine.Run(t.Context(), "ps", "-aq")
			if err != nil || (strings.TrimSpace(left) == "") == (tt.persistent == "true") {
				t.Errorf("left %q, %v", left, err)
			}
			for id := range strings.FieldsSeq(left) {
				if _, err := engine.Run(t.Context(), "rm", "-f", id); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestCredentialFilesOverSSH of a real sshd: copied for the session, and what the user has there already is kept.
func TestCredentialFilesOverSSH(t *testing.T) {
	t.Parallel()
	server := sshdtest.New(t, os.Getenv("CI") == "true")
	s := newScene(t, hermes.AllowOnce)
	there := filepath.Join(server.Dir, "home", ".hermes")
	if err := os.MkdirAll(there, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(there, "mine.json"), "of-the-machine")
	s.config = "terminal: {backend: ssh, ssh_host: box, credential_files: [google.json, mine.json]}\n"
	s.own("google.json", "ssh-canary\n")
	s.own("mine.json", "mine-canary\n")
	s.options = func(o *app.Options) {
		o.Environ = func() []string { return os.Environ() }
		o.Runner = func(string, string) (remote.Runner, error) {
			return ssh.New(ssh.Config{Host: "box", File: server.Config, Home: s.home, Run: filepath.Join(server.Dir, "run"), Env: sshdtest.Env})
		}
	}
	s.say(`CALL terminal {"command":"cat ~/.hermes/google.json ~/.hermes/mine.json; stat -c '%a %F' ~/.hermes/google.json"}`)
	if got := s.model.results(); !strings.Contains(got, "ssh-canary") || !strings.Contains(got, "of-the-machine600 regular file") || len(s.warnings("mine.json: there is another file")) != 1 {
		t.Errorf("got %s; told %q", got, s.warned)
	}
	s.quit()
	for name, want := range map[string]bool{"google.json": false, "mine.json": true, "credential-files": false} {
		if _, err := os.Stat(filepath.Join(there, name)); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s after the session: %v", name, err)
		}
	}
}
