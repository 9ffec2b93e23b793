package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/audit"
)

// record is a record of a test.
type record struct {
	*audit.Log
	t       *testing.T
	o       audit.Options
	folder  string
	written int
}

// newRecord opens a new record.
func newRecord(t *testing.T, change func(o *audit.Options)) *record {
	t.Helper()
	home := t.TempDir()
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	r := &record{t: t, folder: filepath.Join(home, "audit")}
	r.o = audit.Options{Folder: r.folder, Key: filepath.Join(home, "audit.key"), Now: func() time.Time {
		at = at.Add(time.Second)
		return at
	}}
	if change != nil {
		change(&r.o)
	}
	r.Log = audit.Open(r.o)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// add writes n rows.
func (r *record) add(n int) {
	r.t.Helper()
	for range n {
		r.written++
		row := audit.Row{Kind: audit.KindCall, Session: "s1", Call: fmt.Sprint("c", r.written), Tool: "terminal", Subject: "make \"a\"\n", Dir: "/work", Risks: []string{"k"}}
		if err := r.Append(r.t.Context(), row); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *record) verify(anchors ...audit.Anchor) audit.Report {
	r.t.Helper()
	report, err := r.Verify(r.t.Context(), anchors...)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// good fails the test if the record has a problem.
func (r *record) good() audit.Report {
	r.t.Helper()
	report := r.verify()
	for _, p := range report.Problems {
		r.t.Errorf("problem: %+v", p)
	}
	return report
}

// again opens the same record as another process does.
func (r *record) again() *record {
	r.t.Helper()
	other := &record{Log: audit.Open(r.o), t: r.t, o: r.o, folder: r.folder, written: r.written}
	r.t.Cleanup(func() { _ = other.Close() })
	return other
}

func (r *record) file(name string) string { return filepath.Join(r.folder, name) }

func (r *record) read(name string) []byte {
	r.t.Helper()
	content, err := os.ReadFile(r.file(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return content
}

func (r *record) replace(name string, content []byte) {
	r.t.Helper()
	if err := os.WriteFile(r.file(name), content, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// files lists the files with rows.
func (r *record) files() []string {
	r.t.Helper()
	paths, err := filepath.Glob(r.file("*.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	return paths
}

func (r *record) rows(f audit.Filter) []audit.Row {
	r.t.Helper()
	var rows []audit.Row
	for row, err := range r.Rows(r.t.Context(), f) {
		if err != nil {
			r.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// says reports whether a report has one problem with these words.
func says(r audit.Report, words string) bool {
	for _, p := range r.Problems {
		if strings.Contains(p.What+" "+p.Means, words) {
			return true
		}
	}
	return false
}

// TestNoTextOfARowHasASecret puts one into each text: a model chooses the tool and the id of its call, a platform the
// name of its user.
func TestNoTextOfARowHasASecret(t *testing.T) {
	t.Parallel()
	const secret, hash = "hunter22", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	r := newRecord(t, func(o *audit.Options) {
		o.Redact = func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, secret, "***"), hash, "###") }
	})
	row := audit.Row{Kind: audit.KindRefusal, Session: secret, Call: "c" + secret, Parent: secret, Platform: secret, User: secret, Tool: "no_such_tool_" + secret, Subject: secret, Dir: "/" + secret,
		Risks: []string{"a " + secret}, Arguments: "x" + secret, Decision: secret, Scope: secret, By: secret, Rule: secret, Status: secret, Result: secret, Note: secret}
	if err := r.Append(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if err := r.Append(t.Context(), audit.Row{Kind: audit.KindResult, Arguments: hash, Result: hash}); err != nil {
		t.Fatal(err)
	}
	if text := string(r.read("00000001.jsonl")); strings.Contains(text, secret) || strings.Count(text, hash) != 2 || !strings.Contains(text, "no_such_tool_***") {
		t.Error(text)
	}
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	r := newRecord(t, func(o *audit.Options) {
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter22", "***") }
	})
	want := audit.Row{
		Kind: audit.KindAnswer, Session: "s1", Turn: 3, Call: "c1", Parent: "s0", Platform: "cli", User: "ada", Tool: "terminal", Subject: "echo <***> & \u2028",
		Dir: "/work", Risks: []string{"a", "b"}, Arguments: "12", Decision: "session", Scope: "kind", By: "user", Rule: "why", Status: "ok", Result: "34", Note: "n",
	}
	in := want
	in.Subject = "echo <hunter22> & \u2028"
	if err := r.Append(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	r.add(1)
	rows := r.rows(audit.Filter{})
	if len(rows) != 3 || rows[0].Kind != audit.KindFile {
		t.Fatalf("%+v", rows)
	}
	got := rows[1]
	want.Seq, want.Time, want.Prev, want.MAC, want.File, want.Line = 2, got.Time, rows[0].MAC, got.MAC, "00000001.jsonl", 2
	if diff := cmp.Diff(want, got); diff != "" || got.Time.IsZero() {
		t.Error(diff)
	}
	if report := r.good(); report.Rows != 3 || report.First != 1 || report.Last != 3 || report.MAC != rows[2].MAC {
		t.Errorf("%+v", report)
	}
	for _, path := range []string{r.o.Key, r.file("head"), r.file("00000001.jsonl")} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestTextsOfARowAreBounded(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	long := strings.Repeat("\x01é", 100_000)
	risks := strings.Split(strings.Repeat(long[:900]+",", 50), ",")
	if err := r.Append(t.Context(), audit.Row{Kind: audit.KindCall, Session: long, Call: long, Tool: long, Subject: long, Dir: long, Rule: long, Note: long, User: long, Risks: risks}); err != nil {
		t.Fatal(err)
	}
	if row := r.rows(audit.Filter{})[1]; len(row.Subject) > 510 || len(row.Risks) > 20 {
		t.Errorf("%d, %d", len(row.Subject), len(row.Risks))
	}
	r.good()
}

func TestARowOfAnUnknownKindIsRefused(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	r.add(1)
	if err := r.Append(t.Context(), audit.Row{Kind: "else"}); err == nil {
		t.Error("it was written")
	}
	r.add(1)
	r.good()
}

func TestNothingIsMadeBeforeTheFirstRow(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	if report := r.verify(); len(report.Problems) > 0 || report.Rows != 0 {
		t.Errorf("%+v", report)
	}
	if rows := r.rows(audit.Filter{}); len(rows) != 0 {
		t.Error(rows)
	}
	if entries, err := os.ReadDir(filepath.Dir(r.folder)); err != nil || len(entries) != 0 {
		t.Error(entries, err)
	}
}

// TestARowThatCannotBeWrittenIsAnError, and the record goes on when it can be again.
func TestARowThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	r.add(2)
	aside := r.o.Key + ".aside"
	if err := os.Rename(r.o.Key, aside); err != nil {
		t.Fatal(err)
	}
	other := r.again()
	if err := other.Append(t.Context(), audit.Row{Kind: audit.KindCall}); err == nil || !strings.Contains(err.Error(), "restore it from a backup") {
		t.Errorf("without the key: %v", err)
	}
	if report := r.verify(); !says(report, "the key is missing") {
		t.Errorf("%+v", report)
	}
	if err := os.Rename(aside, r.o.Key); err != nil {
		t.Fatal(err)
	}
	other.add(1)
	r.add(1) // it sees the row of the other
	if report := r.good(); report.Rows != 5 {
		t.Errorf("%+v", report)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	r := newRecord(t, func(o *audit.Options) { o.FileSize = 1500 })
	for i := range 20 {
		if err := r.Append(t.Context(), audit.Row{Kind: []audit.Kind{audit.KindCall, audit.KindResult}[i%2], Session: fmt.Sprint("s", i%3), Tool: fmt.Sprint("t", i%5)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.files()) < 3 {
		t.Fatal(r.files())
	}
	all := r.rows(audit.Filter{})
	for name, f := range map[string]audit.Filter{
		"session": {Session: "s1"}, "tool": {Tool: "t3"}, "kind": {Kinds: []audit.Kind{audit.KindResult}}, "since": {Since: all[7].Time}, "until": {Until: all[7].Time},
		"both": {Session: "s1", Kinds: []audit.Kind{audit.KindCall}},
	} {
		var want []audit.Row
		for _, row := range all {
			if f.Match(row) {
				want = append(want, row)
			}
		}
		got := r.rows(f)
		last, damaged, err := r.Last(t.Context(), f, 3)
		if len(want) < 3 || cmp.Diff(want, got) != "" || cmp.Diff(want[len(want)-3:], last) != "" || len(damaged) > 0 || err != nil {
			t.Errorf("%s: %s %s, %v, %v", name, cmp.Diff(want, got), cmp.Diff(want[len(want)-3:], last), damaged, err)
		}
	}
}

func TestApprovalsCountTheUsersAnswers(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	answer := func(by, decision, subject string, risks ...string) {
		t.Helper()
		if err := r.Append(t.Context(), audit.Row{Kind: audit.KindAnswer, Tool: "terminal", By: by, Decision: decision, Subject: subject, Risks: risks}); err != nil {
			t.Fatal(err)
		}
	}
	answer("user", "once", "old", "k")
	since := r.rows(audit.Filter{})[1].Time.Add(time.Nanosecond)
	answer("user", "denied", "make", "k")
	answer("user", "once", "make", "k", "other")
	answer("user", "once", "make", "k")
	answer("model", "once", "make", "k")
	got, err := r.Approvals(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].Last = time.Time{}
	}
	want := []audit.Approved{
		{Tool: "terminal", Risk: "k", Subject: "make", Decision: "once", Count: 2},
		{Tool: "terminal", Risk: "k", Subject: "make", Decision: "denied", Count: 1},
		{Tool: "terminal", Risk: "other", Subject: "make", Decision: "once", Count: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
