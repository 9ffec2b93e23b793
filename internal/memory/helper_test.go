package memory_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/memory"
)

// childVar makes the test binary act as another process on the same files.
const childVar = "HERMES_TEST_MEMORY_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child adds its own numbered entries.
func child(dir string) error {
	b := memory.NewFile(memory.Config{Dir: dir, NotesLimit: 100_000, Wait: 2 * time.Minute})
	for i := range 20 {
		if _, err := b.Change(context.Background(), memory.Notes, add(fmt.Sprintf("child %d", i)), memory.Origin{By: "agent"}); err != nil {
			return err
		}
	}
	return nil
}

func startChild(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	c := exec.Command(self)
	c.Env = append(os.Environ(), childVar+"="+dir)
	c.Stderr = os.Stderr
	must(t, c.Start())
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fixture is a memory.File in a new folder.
type fixture struct {
	*memory.File
	dir string
}

func newFixture(t *testing.T, change ...func(*memory.Config)) fixture {
	t.Helper()
	dir := t.TempDir()
	c := memory.Config{Dir: filepath.Join(dir, "memories"), Pending: filepath.Join(dir, "pending"), Now: func() time.Time { return noon }}
	for _, f := range change {
		f(&c)
	}
	return fixture{memory.NewFile(c), dir}
}

func (h fixture) path(name string) string { return filepath.Join(h.dir, "memories", name) }

func (h fixture) file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(h.path(name))
	if os.IsNotExist(err) {
		return ""
	}
	must(t, err)
	return string(data)
}

func (h fixture) put(t *testing.T, name, content string) {
	t.Helper()
	must(t, os.MkdirAll(h.path(""), 0o700))
	must(t, os.WriteFile(h.path(name), []byte(content), 0o600))
}

func add(content string) []memory.Operation {
	return []memory.Operation{{Action: "add", Content: content}}
}

// host is the Host of a tool call.
type host struct {
	hermes.Host
	ref hermes.SessionRef
}

func (h host) Session() hermes.SessionRef { return h.ref }

// call runs the tool and reads its result.
func (h fixture) call(t *testing.T, args map[string]any) (map[string]any, hermes.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	must(t, err)
	tool := memory.Builtin{File: h.File}.Tools()[0]
	r, err := tool.Run(t.Context(), &hermes.Call{Name: "memory", Arguments: raw, Host: host{ref: hermes.SessionRef{ID: "s1", Turn: 3, Platform: "cli"}}})
	if err != nil {
		return nil, r, err
	}
	var out map[string]any
	must(t, json.Unmarshal([]byte(r.Text), &out))
	return out, r, nil
}

func lines(text string) []string {
	var out []string
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}
