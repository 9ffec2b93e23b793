package surroundings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/git"
	"hermes/internal/surroundings"
)

// around is what a watch looks at.
type around struct {
	hermes.Files // only Resolve is used
	changed      []string
	news, dir    string
	elsewhere    bool // the files are not on this machine
}

func (a *around) OnHost() bool { return !a.elsewhere }

func (a *around) Changed(session string) []string {
	if session != "s1" {
		return []string{"of another session"}
	}
	out := a.changed
	a.changed = nil
	return out
}

func (a *around) News(string) string {
	out := a.news
	a.news = ""
	return out
}

func (a *around) Resolve(string) (string, error) { return a.dir, nil }

// place is the environment of the session.
type place struct {
	hermes.Environment
	files hermes.Files
}

func (p place) Files() hermes.Files { return p.files }

func watch(t *testing.T, a *around, repository string) *surroundings.Watch {
	t.Helper()
	return surroundings.New(surroundings.Config{
		Session: "s1", Environment: place{files: a}, Files: a, Processes: a, Git: git.Repository{Dir: repository, Env: os.Environ},
		Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
	})
}

// TestEachChangeIsReportedOnce, in one line without secrets.
func TestEachChangeIsReportedOnce(t *testing.T) {
	t.Parallel()
	a := &around{dir: "/project"}
	w := watch(t, a, t.TempDir())
	report := func(want string) {
		t.Helper()
		for _, want := range []string{want, ""} {
			if got := w.Report(t.Context()); got != want {
				t.Errorf("reported %q, want %q", got, want)
			}
		}
	}
	report("")
	a.changed, a.news, a.dir = []string{"a.go", "b\n.go"}, "ended: proc_1 (echo hunter2)", "/project/sub"
	report("changed by others since you read them: a.go, b .go; ended: proc_1 (echo ***); commands run in /project/sub")
	a.dir = "/project"
	report("commands run in /project")
	a.news = strings.Repeat("x", 5000)
	report(strings.Repeat("x", 2000) + "…")
}

func TestARestoredFolderIsTheOneThatTheModelKnows(t *testing.T) {
	t.Parallel()
	result := func(tool, text string) hermes.Message {
		return hermes.Message{Role: hermes.RoleTool, ToolName: tool, Parts: []hermes.Part{{Text: text}}}
	}
	w := watch(t, &around{dir: "/project"}, t.TempDir())
	w.Restore([]hermes.Message{result("terminal", `{"cwd":"/old"}`), result("terminal", `{"cwd":"/project/sub"}`), result("terminal", "no JSON"), result("file", `{"cwd":"/x"}`)})
	if got := w.Report(t.Context()); got != "commands run in /project" {
		t.Errorf("reported %q", got)
	}
}

func TestTheStateOfTheRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "-b", strings.Repeat("long-name-", 8), dir).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("git: %v, %s", err, out)
		}
		t.Skipf("git: %v, %s", err, out)
	}
	w := watch(t, &around{dir: "/project"}, dir)
	branch := "git branch " + strings.Repeat("long-name-", 4) + "…, "
	if got := w.Report(t.Context()); got != branch+"0 changed files" {
		t.Errorf("reported %q", got)
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.Report(t.Context()); got != branch+"0 changed files, 5 untracked: a, b, c and 2 more" {
		t.Errorf("reported %q", got)
	}
	if got := w.Report(t.Context()); got != "" {
		t.Errorf("reported %q again", got)
	}
	if got := watch(t, &around{dir: "/project", elsewhere: true}, dir).Report(t.Context()); got != "" {
		t.Errorf("reported the repository of this machine for another one: %q", got)
	}
}
