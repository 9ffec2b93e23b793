package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
)

// TestASessionWorksInSingularity: with a stand-in for the client on PATH, which takes what the real one takes, a session has its commands,
// files and background processes in an instance, with the settings; its end leaves nothing.
func TestASessionWorksInSingularity(t *testing.T) { // sets PATH
	client, err := filepath.Abs("../environment/singularity/standin_test.sh")
	if err != nil {
		t.Fatal(err)
	}
	bin, state, temp, there := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Symlink(client, filepath.Join(bin, "apptainer")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := newScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: singularity, singularity_image: 'docker://debian', container_persistent: false, container_cpu: 1.5, container_memory: 512, cwd: '" + there + "', credential_files: [google.json]}\n"
	s.own("google.json", "of the user")
	s.options = func(o *app.Options) {
		o.Environ = func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "STATE=" + state, "TMPDIR=" + temp, "PLAIN=host-canary", "OPENAI_API_KEY=sk-host-canary-2"}
		}
	}
	s.say(`CALL terminal {"command":"pwd; env; echo one > a.txt"}`, `CALL read_file {"path":"a.txt"}`, `CALL write_file {"path":"b.txt","content":"two\n"}`,
		`CALL terminal {"command":"echo $$ > pid; exec sleep 300","background":true}`, `CALL terminal {"command":"until [ -s pid ]; do :; done; cat b.txt"}`)
	got := s.model.results()
	for _, want := range []string{there, "STANDIN_INSTANCE=hermes-singularity-", "two"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	if strings.Contains(got, "host-canary") {
		t.Errorf("a variable of this machine got there: %s", got)
	}
	for name, want := range map[string]string{"a.txt": "one\n", "b.txt": "two\n"} {
		if text, err := os.ReadFile(filepath.Join(there, name)); string(text) != want || err != nil {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	log, err := os.ReadFile(filepath.Join(state, "log"))
	home, _ := os.UserHomeDir()
	for _, want := range []string{"--writable-tmpfs --memory 512m --cpus 1.5 ", " --bind " + filepath.Join(s.home, "google.json") + ":" + filepath.Join(home, ".hermes", "google.json") + ":ro docker://debian "} {
		if !strings.Contains(string(log), want) {
			t.Errorf("%q is missing in %s, %v", want, log, err)
		}
	}
	pid, err := os.ReadFile(filepath.Join(there, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err != nil {
		t.Errorf("the background process does not run: %v", err)
	}
	s.quit()
	if environ, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/environ"); err == nil && strings.Contains(string(environ), "STANDIN_INSTANCE") {
		t.Error("the background process still runs")
	}
	for dir, most := range map[string]int{state: 1, temp: 0, filepath.Join(s.home, "cache", "singularity"): 0} { // the log of the stand-in
		if left, _ := os.ReadDir(dir); len(left) > most {
			t.Errorf("left in %s: %v", dir, left)
		}
	}
}
