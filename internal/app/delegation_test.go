package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// delegated is what delegate_task returns.
type delegated struct {
	Results []struct {
		Status, Session, Summary, Error string
		Result                          json.RawMessage
		Valid                           *bool    `json:"schema_valid"`
		Calls                           int      `json:"api_calls"`
		Files                           []string `json:"files_changed"`
		Note                            string   `json:"files_note"`
	}
	Note string
}

func delegatedOf(t *testing.T, text string) delegated {
	t.Helper()
	var d delegated
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return d
}

// inside is JSON in an order whose " then " belongs to a child.
func inside(raw []byte) string { return strings.ReplaceAll(string(raw), " then ", `\u0020then `) }

// TestDelegatedTasksReport: each task of a call has its report, in order, with exactly the files that its
// file tools changed.
func TestDelegatedTasksReport(t *testing.T) {
	t.Parallel()
	_, client, dir := office(t, "")
	file := func(name string) string {
		return `write_file {"path":"` + filepath.Join(dir, name) + `","content":"x\n"}`
	}
	raw, err := json.Marshal(map[string]any{"tasks": []map[string]any{
		{"goal": file("a") + " then " + file("b") + " then " + file("c")},
		{"goal": "terminal {\"command\":\"touch d\"}"},
		{"goal": "nothing {}", "toolsets": []string{"attic"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	done, _ := work(t, client, hermes.From{Client: "c1", Attends: true}, dir, "delegate_task "+inside(raw), hermes.AllowOnce)
	d := delegatedOf(t, done.Text)
	if len(d.Results) != 3 {
		t.Fatal(done.Text)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(real, "a"), filepath.Join(real, "b"), filepath.Join(real, "c")}
	if r := d.Results[0]; r.Status != "completed" || !cmp.Equal(want, r.Files) || r.Note != "" || r.Calls != 4 {
		t.Errorf("the first task: %+v", r)
	}
	if r := d.Results[1]; r.Status != "completed" || len(r.Files) > 0 || !strings.Contains(r.Note, "commands may have changed others") {
		t.Errorf("the second task: %+v", r)
	}
	if r := d.Results[2]; r.Status != "failed" || !strings.Contains(r.Error, "there is no toolset attic") {
		t.Errorf("the third task: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "d")); err != nil {
		t.Error(err)
	}
}
