package demo_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hermes"
	"hermes/internal/demo"
	"hermes/internal/store/sqlite"
)

// scratch contains the built program; TestMain removes it.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "hermes-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(status)
}

// program builds the real program, once.
var program = sync.OnceValues(func() (string, error) {
	target := filepath.Join(scratch, "hermes")
	cmd := exec.Command("go", "build", "-o", target, "hermes/cmd/hermes")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build hermes: %w\n%s", err, text)
	}
	return target, nil
})

// user has an empty home and the program.
type user struct {
	path string
	home string // of Hermes
	dir  string
	env  []string
}

func newUser(t *testing.T, more ...string) user {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program")
	}
	needShell(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return user{path: path, home: home + "/.hermes", dir: t.TempDir(), env: append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HERMES_HOME=" + home + "/.hermes",
		"TMPDIR=" + t.TempDir(), "TERM=dumb", "NO_PROXY=127.0.0.1",
	}, more...)}
}

func (p user) command(t *testing.T, args ...string) (cmd *exec.Cmd, out, complaints *bytes.Buffer) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), p.path, args...)
	out, complaints = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.env, p.dir, out, complaints
	return cmd, out, complaints
}

func (p user) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	cmd, out, complaints := p.command(t, args...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("hermes %s: %v\n%s%s", strings.Join(args, " "), err, out, complaints)
	}
	return out.String()
}

var sessionID = regexp.MustCompile(`\b\d{8}_\d{6}_[0-9a-f]{6}\b`)

// TestRealAgentPlaysTheDemo checks what the two sessions stored in the home of the demo, and what the
// second one was sent.
func TestRealAgentPlaysTheDemo(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	out := p.mustRun(t, "demo", "--fast")
	for _, want := range []string{"The model is scripted", "All 6 tests pass", `+       if [ "$status" -ge 400 ]; then`, `+   if [ "$total" -eq 0 ]; then`, "Allow memory to make this change?", "Both fixes hold"} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not show %q", want)
		}
	}
	_, home, _ := strings.Cut(out, "export HERMES_HOME=")
	home, _, _ = strings.Cut(home, "\n")
	if _, err := os.Stat(filepath.Join(p.home, "hermes.db")); err == nil {
		t.Error("the demo wrote into the home of the user")
	}

	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(home, "hermes.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1})
	if err != nil || len(list) != 2 {
		t.Fatalf("want two sessions, got %d, %v", len(list), err)
	}
	second, err := s.FindSession(t.Context(), list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	note := "logreport: `sh tests/run.sh` runs the tests"
	for _, want := range []string{note, "- fix-failing-tests: Fix failing shell tests"} {
		if !strings.Contains(second.System, want) {
			t.Errorf("the prompt of the second session lacks %q:\n%s", want, second.System)
		}
	}
	for name, want := range map[string]string{"memories/MEMORY.md": note, "skills/software-development/fix-failing-tests/SKILL.md": "one failure may hide another"} {
		if text, err := os.ReadFile(filepath.Join(home, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: got %q, %v, want %q in it", name, text, err, want)
		}
	}
	for id, want := range map[string][]string{
		list[1].ID: {demo.Prompt, "38 percent", `"success":true`},
		list[0].ID: {demo.Again, "# Fix failing tests", `"session_id":"` + list[1].ID, "Two things were wrong", "all 6 tests passed"},
	} {
		messages, err := s.Messages(t.Context(), id, hermes.Range{})
		if err != nil {
			t.Fatal(err)
		}
		var all string
		for _, m := range messages {
			all += m.Text() + "\n"
		}
		for _, text := range want {
			if !strings.Contains(all, text) {
				t.Errorf("the stored session %s lacks %q:\n%s", id, text, all)
			}
		}
	}
	p.env = append(p.env, "HERMES_HOME="+home)
	if hits := p.mustRun(t, "sessions", "search", "stats.sh"); !strings.Contains(hits, list[1].ID) {
		t.Errorf("the search that the demo names does not find its session %s:\n%s", list[1].ID, hits)
	}
}

// TestKilledTurnGoesOn kills the program with SIGKILL while it waits for the model, at several steps.
// After --resume nothing is lost, and the work is completed.
func TestKilledTurnGoesOn(t *testing.T) {
	t.Parallel()
	for _, at := range []int64{2, 4, 7} {
		t.Run(fmt.Sprint("at request ", at), func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			reached := make(chan struct{})
			script := demo.Server(0)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && requests.Add(1) == at {
					_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
					close(reached)
					<-r.Context().Done()
					return
				}
				script.ServeHTTP(w, r)
			}))
			defer server.Close()
			p := newUser(t, "OPENAI_BASE_URL="+server.URL+"/v1", "OPENAI_API_KEY=none")
			if err := demo.Project(p.dir); err != nil {
				t.Fatal(err)
			}

			cmd, out, complaints := p.command(t, "-m", demo.ModelName, "-z", demo.Prompt)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-reached:
			case err := <-ended:
				t.Fatalf("ended before request %d: %v\n%s%s", at, err, out, complaints)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended

			if got := p.mustRun(t, "-m", demo.ModelName, "--resume", "latest", "-z", "go on"); !strings.Contains(got, "All 6 tests pass") {
				t.Errorf("after the resume: got %q", got)
			}
			list := p.mustRun(t, "sessions", "list", "--all")
			ids := sessionID.FindAllString(list, -1)
			if len(ids) != 1 {
				t.Fatalf("want one session, got\n%s", list)
			}
			if show := p.mustRun(t, "sessions", "show", ids[0]); !strings.Contains(show, demo.Prompt) || !strings.Contains(show, "go on") {
				t.Errorf("the session lacks what was said before or after the kill:\n%s", show)
			}
		})
	}
}
