package audit_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/app"
	record "hermes/internal/audit"
	"hermes/internal/cmd/audit"
	"hermes/internal/cmd/factory"
)

// desk runs `hermes audit` on a record of four rows.
type desk struct {
	t    *testing.T
	home string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t, t.TempDir()}
	l := record.Open(record.Options{Folder: filepath.Join(d.home, "audit"), Key: filepath.Join(d.home, "audit.key")})
	defer l.Close()
	for _, r := range []record.Row{
		{Kind: record.KindCall, Session: "s1", Tool: "terminal", Subject: "=rm -rf build\n\x1b[2J"},
		{Kind: record.KindAnswer, Session: "s1", Tool: "terminal", Subject: "rm -rf build", Decision: "denied", By: "user", Risks: []string{"recursive-delete"}},
		{Kind: record.KindRefusal, Session: "s2", Tool: "write_file", Rule: "because"},
	} {
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *desk) run(args ...string) (string, error) {
	d.t.Helper()
	var out bytes.Buffer
	cmd := audit.NewCmd(factory.New(app.Options{Home: d.home}, factory.IO{}))
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(d.t.Context())
	return out.String(), err
}

// must runs a command that succeeds.
func (d *desk) must(args ...string) string {
	d.t.Helper()
	out, err := d.run(args...)
	if err != nil {
		d.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

func TestListShowsTheRowsThatFit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for args, want := range map[string]int{
		"": 4, "list": 4, "list --session s1": 2, "list --tool write_file": 1, "list --kind answer,refusal": 2, "list --since 1h": 4, "list --until 1h": 1, "list --limit 2": 2, "list --since 2999-01-01": 1,
	} {
		if out := d.must(strings.Fields(args)...); strings.Count(out, "\n") != want {
			t.Errorf("%q:\n%s", args, out)
		}
	}
	out := d.must()
	if !strings.Contains(out, "denied by user") || !strings.Contains(out, "because") || strings.Contains(out, "\x1b") {
		t.Error(out)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(d.must("list", "--json")), &rows); err != nil || len(rows) != 4 || rows[2]["decision"] != "denied" || len(rows[2]["mac"].(string)) != 64 {
		t.Error(rows, err)
	}
	for _, wrong := range []string{"list --kind what", "list --limit 0", "list --since never", "show", "show x", "show 99", "export --format xml", "verify --anchor 1"} {
		if out, err := d.run(strings.Fields(wrong)...); err == nil {
			t.Errorf("%q: %s", wrong, out)
		}
	}
}

func TestShowHasEveryFieldOfARow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out := d.must("show", "3")
	for _, want := range []string{"kind", "answer", "recursive-delete", "rm -rf build", "mac", "00000001.jsonl:3"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	var row map[string]any
	if err := json.Unmarshal([]byte(d.must("show", "3", "--json")), &row); err != nil || row["seq"] != 3.0 {
		t.Error(row, err)
	}
}

// TestVerifySaysWhatIsWrong and has the exit status 1.
func TestVerifySaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if out := d.must("verify"); !strings.Contains(out, "4 rows in 1 file (1 to 4): no problems.") {
		t.Error(out)
	}
	anchor := strings.TrimSpace(d.must("head"))
	d.must("verify", "--anchor", anchor)
	path := filepath.Join(d.home, "audit", "00000001.jsonl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(content, []byte("denied"), []byte("always"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := d.run("verify")
	coded, ok := errors.AsType[*app.ExitError](err)
	if !ok || coded.Status != 1 || !strings.Contains(out, "00000001.jsonl:3: the bytes of this line do not fit its code.\n    The line was changed") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = d.run("verify", "--json")
	var report struct {
		OK       bool
		Problems []record.Problem
	}
	if jsonErr := json.Unmarshal([]byte(out), &report); jsonErr != nil || err == nil || report.OK || len(report.Problems) == 0 || report.Problems[0].Line != 3 {
		t.Errorf("%v, %v\n%s", jsonErr, err, out)
	}
	if out := d.must(); !strings.Contains(out, "00000001.jsonl:3") || !strings.Contains(out, "hermes audit verify") {
		t.Errorf("the list does not tell:\n%s", out)
	}
	if out, err := d.run("export"); err == nil || strings.Count(out, "\n") != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestVerifyOfAHomeWithoutARecord(t *testing.T) {
	t.Parallel()
	d := &desk{t, t.TempDir()}
	if out := d.must("verify"); !strings.Contains(out, "Nothing was recorded yet.") {
		t.Error(out)
	}
	if out := d.must("list"); !strings.Contains(out, "No rows.") {
		t.Error(out)
	}
	if _, err := d.run("head"); err == nil {
		t.Error("there is a head")
	}
	if entries, err := os.ReadDir(filepath.Join(d.home, "audit")); err == nil {
		t.Errorf("a reader made %v", entries)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	path := filepath.Join(t.TempDir(), "out.jsonl")
	d.must("export", path)
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 4 || strings.Count(string(text), `"mac":"`) != 4 {
		t.Errorf("%s, %v", text, err)
	}
	rows, err := csv.NewReader(strings.NewReader(d.must("export", "--format", "csv", "--session", "s1"))).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][0] != "seq" || rows[0][10] != "subject" || !strings.HasPrefix(rows[1][10], "'=rm") {
		t.Errorf("%q, %v", rows, err)
	}
}
