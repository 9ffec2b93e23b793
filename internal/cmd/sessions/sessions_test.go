package sessions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/sessions"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/redact"
	"hermes/internal/store"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)

// optimized counts its optimizations.
type optimized struct {
	*hermestest.Store
	times *int
}

func (o optimized) Optimize(context.Context) error { *o.times++; return nil }

// filled is a store with a few sessions.
func filled(t *testing.T) *hermestest.Store {
	t.Helper()
	s := hermestest.NewStore()
	s.Now = func() time.Time { return now }
	for i, r := range []hermes.Session{
		{ID: "20261120_090000_aaaaaa", Platform: "cli", Title: "Fix the build", Model: "openrouter:m", Dir: "/work/x", System: "You are Hermes."},
		{ID: "20261119_090000_bbbbbb", Platform: "telegram"},
		{ID: "20260101_090000_cccccc", Platform: "cli", Title: "Old things", Ended: now.AddDate(0, -9, 0), EndReason: "exit"},
		{ID: "20261118_090000_dddddd", Platform: "subagent", Title: "child"},
		{ID: "20260102_090000_eeeeee", Platform: "cli", Title: "Pinned things", Pinned: true, Ended: now.AddDate(0, -9, 0)},
	} {
		r.Started = []time.Time{now.Add(-3 * time.Hour), now.AddDate(0, 0, -1), now.AddDate(0, -10, 0), now.AddDate(0, 0, -2), now.AddDate(0, -10, 0)}[i]
		if err := s.CreateSession(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	add := func(id string, at time.Time, list ...hermes.Message) {
		t.Helper()
		for i := range list {
			list[i].Time = at.Add(time.Duration(i) * time.Second)
		}
		if _, err := s.Commit(t.Context(), hermes.Lease{Session: id}, hermes.Change{Append: list}); err != nil {
			t.Fatal(err)
		}
	}
	user := hermes.UserText("please fix <the> build, key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
	user.Parts = append(user.Parts, hermes.Part{Text: "recalled memory", Hidden: true})
	add("20261120_090000_aaaaaa", now.Add(-2*time.Hour), user,
		hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c", Name: "terminal", Arguments: `{"command":"make"}`}}},
		hermes.Message{Role: hermes.RoleTool, CallID: "c", ToolName: "terminal", Failed: true, Parts: []hermes.Part{{Text: strings.Repeat("line\n", 30) + "\x1b[31mred"}}},
		hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "Done: the build is ```green```."}}})
	add("20261119_090000_bbbbbb", now.AddDate(0, 0, -1), hermes.UserText("what is the\nweather"))
	add("20260101_090000_cccccc", now.AddDate(0, -9, 0), hermes.UserText("old"))
	return s
}

// run plays a command line against the store.
func run(t *testing.T, s hermes.Store, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return runWith(t, on(s), "", args...)
}

// database makes a whole database of a store.
type database struct {
	hermes.Store
	rest
}

// rest are the methods that are not called.
type rest struct{ store.Database }

func (d database) Optimize(ctx context.Context) error {
	return d.Store.(interface{ Optimize(context.Context) error }).Optimize(ctx)
}

// on makes a factory that opens a store, in the folder /work without a terminal.
func on(s hermes.Store) *factory.Factory {
	f := factory.New(app.Options{}, factory.IO{})
	f.Store = func(context.Context) (store.Database, error) { return database{Store: s}, nil }
	f.Reader = f.Store
	f.Now = func() time.Time { return now }
	f.Dir = func() (string, error) { return "/work", nil }
	f.Mask, f.Shown = redact.Text, redact.Text
	f.Config = func() (*config.Config, error) { return config.Load(home.At("/nowhere"), config.Options{}), nil }
	return f
}

func runWith(t *testing.T, f *factory.Factory, in string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := sessions.NewCmd(f)
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetIn(strings.NewReader(in))
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

func mustRun(t *testing.T, s hermes.Store, args ...string) string {
	t.Helper()
	out, _, err := run(t, s, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

func TestList(t *testing.T) {
	t.Parallel()
	s := filled(t)
	got := mustRun(t, s, "list")
	want := `ID                      ACTIVE      SOURCE    STATE  MSGS  TITLE
20261120_090000_aaaaaa  1 h ago     cli       open   4     Fix the build
20261119_090000_bbbbbb  1 d ago     telegram  open   1     “what is the weather”
20260101_090000_cccccc  2026-02-20  cli       exit   1     Old things
20260102_090000_eeeeee  2026-01-20  cli       empty  0     * Pinned things
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"list", "--all"}, []string{"aaaaaa", "bbbbbb", "dddddd", "cccccc", "eeeeee"}},
		{[]string{"list", "--source", "subagent"}, []string{"dddddd"}},
		{[]string{"list", "--workspace", "x"}, []string{"aaaaaa"}},
		{[]string{"list", "--limit", "1"}, []string{"aaaaaa"}},
		{[]string{"list", "--title", "OLD"}, []string{"cccccc"}},
	} {
		out := mustRun(t, s, append(c.args, "--json")...)
		var rows []struct{ ID string }
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.ID[16:])
		}
		if d := cmp.Diff(c.want, ids); d != "" {
			t.Errorf("%v: %s", c.args, d)
		}
	}
	if _, _, err := run(t, s, "list", "--limit", "0"); err == nil {
		t.Error("a limit of 0 was taken")
	}
	_, stderr, err := run(t, hermestest.NewStore(), "list")
	if err != nil || !strings.Contains(stderr, "No sessions yet") {
		t.Errorf("an empty store is listed as %q, %v", stderr, err)
	}
	_, stderr, _ = run(t, s, "list", "--source", "none")
	if !strings.Contains(stderr, "None of the 5 sessions match") {
		t.Errorf("a list without rows says %q", stderr)
	}
}

// TestListSaysWhatIsOpenWhere, and which of it can be joined.
func TestListSaysWhatIsOpenWhere(t *testing.T) {
	t.Parallel()
	s := filled(t)
	for id, o := range map[string]hermes.Owner{
		"20261120_090000_aaaaaa": {Name: "far:4711:00112233aabbccdd", Address: "/x.sock"}, "20261119_090000_bbbbbb": {Name: "far:12:00112233aabbccde"},
	} {
		if _, err := s.Acquire(t.Context(), id, o, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	want := `ID                      ACTIVE      SOURCE    STATE  OPEN IN               MSGS  TITLE
20261120_090000_aaaaaa  1 h ago     cli       open   terminal 4711 on far  4     Fix the build
20261119_090000_bbbbbb  1 d ago     telegram  open   process 12 on far     1     “what is the weather”
20260101_090000_cccccc  2026-02-20  cli       exit                         1     Old things
20260102_090000_eeeeee  2026-01-20  cli       empty                        0     * Pinned things
`
	if d := cmp.Diff(want, mustRun(t, s, "list")); d != "" {
		t.Error(d)
	}
	type row struct {
		Running *struct {
			Where, Owner string
			Attachable   bool
		}
	}
	var rows []row
	if err := json.Unmarshal([]byte(mustRun(t, s, "list", "--json")), &rows); err != nil || len(rows) != 4 {
		t.Fatal(rows, err)
	}
	if r := rows[0].Running; r == nil || r.Where != "terminal 4711 on far" || r.Owner != "far:4711:00112233aabbccdd" || !r.Attachable {
		t.Errorf("running: %+v", r)
	}
	if r := rows[1].Running; r == nil || r.Attachable || rows[2].Running != nil {
		t.Errorf("running: %+v, %+v", r, rows[2].Running)
	}
}

// TestListAfterOneShotsOnlySaysHowToSeeThem also covers subagent sessions.
func TestListAfterOneShotsOnlySaysHowToSeeThem(t *testing.T) {
	t.Parallel()
	s := hermestest.NewStore()
	for i, platform := range []string{"oneshot", "oneshot", "subagent"} {
		if err := s.CreateSession(t.Context(), hermes.Session{ID: fmt.Sprint("2026112", i, "_090000_aaaaaa"), Platform: platform, Started: now}); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr, err := run(t, s, "list")
	want := "No sessions to show, but 2 sessions are from oneshot, 1 session is from subagent. Include them with: hermes sessions list --all\n"
	if err != nil || stderr != want {
		t.Errorf("got %q, %v, want %q", stderr, err, want)
	}
	if got := mustRun(t, s, "list", "--all"); strings.Count(got, "oneshot") != 2 {
		t.Errorf("the command that the text names shows:\n%s", got)
	}
}

func TestLatestIsTheLastActiveOneOfTheFolderAndOneShotsCount(t *testing.T) {
	t.Parallel()
	s := hermestest.NewStore()
	dir := t.TempDir()
	for i, r := range []hermes.Session{
		{ID: "20261120_090000_aaaaaa", Platform: "cli", Dir: dir},
		{ID: "20261120_100000_bbbbbb", Platform: "oneshot", Dir: dir},
		{ID: "20261120_110000_cccccc", Platform: "subagent", Dir: dir},
		{ID: "20261120_120000_dddddd", Platform: "cli", Dir: "/elsewhere"},
	} {
		r.Started = now.Add(time.Duration(i) * time.Hour)
		if err := s.CreateSession(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit(t.Context(), hermes.Lease{Session: r.ID}, hermes.Change{Append: []hermes.Message{hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "hi"}}, Time: r.Started}}}); err != nil {
			t.Fatal(err)
		}
	}
	for where, want := range map[string]string{dir: "bbbbbb", t.TempDir(): "dddddd"} {
		d := on(s)
		d.Dir = func() (string, error) { return where, nil }
		out, _, err := runWith(t, d, "", "show", "latest")
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("in %s: got %s, %v, want %s", where, out, err, want)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	s := filled(t)
	got := mustRun(t, s, "show", "latest")
	for _, want := range []string{"Fix the build", "openrouter:m", "── you", "please fix <the> build", "→ terminal {\"command\":\"make\"}",
		"── result of terminal (failed)", "more lines (show with --full)", "Done: the build"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "recalled memory") {
		t.Error("a hidden part is shown")
	}
	full := mustRun(t, s, "show", "Fix the build", "--full")
	if strings.Contains(full, "more lines") || strings.Contains(full, "\x1b") || !strings.Contains(full, "[31mred") {
		t.Error("the full text is cut or steers the terminal")
	}
	var d struct {
		Session  struct{ ID, System string }
		Messages []hermes.Message
	}
	out := mustRun(t, s, "show", "20261120", "--json", "--last", "2")
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if d.Session.ID != "20261120_090000_aaaaaa" || d.Session.System != "You are Hermes." || len(d.Messages) != 2 {
		t.Errorf("shown as JSON: %+v", d)
	}
}

func TestSessionThatWaitsForAnAnswer(t *testing.T) {
	t.Parallel()
	s := filled(t)
	id := "20261120_090000_aaaaaa"
	l, err := s.Acquire(t.Context(), id, hermes.Owner{Name: "test"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.BeginCall(t.Context(), l, hermes.ToolCall{ID: "ask", Name: "clarify"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(mustRun(t, s, "list"), "asks you") {
		t.Error("a call without a question counts as one")
	}
	q := hermes.Question{Text: "Which \x1b[31mport?", Choices: []string{"80", "8080"}}
	if err := s.SavePending(t.Context(), l, "ask", hermes.PendingCall{Answers: []hermes.AskedQuestion{{Question: q}}}); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, s, "list"); strings.Count(out, "asks you") != 1 {
		t.Errorf("listed as %s", out)
	}
	out := mustRun(t, s, "show", id, "--last", "1")
	if !strings.HasSuffix(out, "── asks you\nWhich ␛[31mport?\n  1. 80\n  2. 8080\nAnswer with: hermes --resume "+id+"\n") {
		t.Errorf("shown as %s", out)
	}
	if out := mustRun(t, s, "show", id, "--json"); !strings.Contains(out, `"asking": true`) {
		t.Errorf("shown as %s", out)
	}
}

func TestUnknownSessions(t *testing.T) {
	t.Parallel()
	s := filled(t)
	for _, c := range []struct{ ref, want string }{
		{"Fix the biuld", "Fix the build"},
		{"things", "Old things"},
		{"20261120_090000_aaaabb", "20261120_090000_aaaaaa"},
		{"20261120_090000_aaaaab", "20261120_090000_aaaaaa"},
		{"zzz", "hermes sessions list"},
		{"2026", "use more of the id"},
		{"", "no session given"},
	} {
		_, _, err := run(t, s, "show", c.ref)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.ref, err)
		}
	}
	_, _, err := run(t, s, "rename", "zzz", "new")
	if !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, _, err := run(t, hermestest.NewStore(), "show", "latest"); err == nil || !strings.Contains(err.Error(), "no sessions yet") {
		t.Errorf("got %v", err)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := filled(t)
	got := mustRun(t, s, "search", "weather")
	for _, want := range []string{"20261119_090000_bbbbbb", "user", ">>>weather<<<"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	for _, c := range []struct {
		args []string
		hits int
	}{
		{[]string{"build"}, 2},
		{[]string{"build", "--role", "assistant"}, 1},
		{[]string{"build", "--source", "telegram"}, 0},
		{[]string{"build", "--session", "bbbbbb"}, -1},
		{[]string{"build", "--session", "latest"}, 2},
		{[]string{"old", "--after", "7d"}, 0},
		{[]string{"old", "--before", "2026-06-01"}, 1},
		{[]string{"old", "--before", "soon"}, -1},
		{[]string{"build", "--limit", "1"}, 1},
		{[]string{"build", "--limit", "0"}, -1},
	} {
		out, _, err := run(t, s, append([]string{"search", "--json"}, c.args...)...)
		if c.hits < 0 {
			if err == nil {
				t.Errorf("%v gave no error", c.args)
			}
			continue
		}
		var hits []struct{ Session string }
		if err := json.Unmarshal([]byte(out), &hits); err != nil || len(hits) != c.hits {
			t.Errorf("%v: %d hits, want %d, %v", c.args, len(hits), c.hits, err)
		}
	}
	_, stderr, err := run(t, s, "search", "nowhere")
	if err != nil || !strings.Contains(stderr, "No messages found") {
		t.Errorf("an empty search says %q, %v", stderr, err)
	}
	if out := mustRun(t, s, "search", "Done", "-C", "1"); !strings.Contains(out, "tool: line") {
		t.Errorf("the neighbours are not in %q", out)
	}
}

func TestRenameAndMarks(t *testing.T) {
	t.Parallel()
	s := filled(t)
	mustRun(t, s, "rename", "latest", "a", "new", " title")
	mustRun(t, s, "pin", "a new title", "20261119")
	if out := mustRun(t, s, "archive", "latest"); !strings.HasSuffix(out, " is archived.\n") {
		t.Errorf("got %q", out)
	}
	row, err := s.FindSession(t.Context(), "a new title")
	if err != nil || !row.Pinned || !row.Archived {
		t.Errorf("%+v, %v", row, err)
	}
	mustRun(t, s, "unpin", "a new title")
	mustRun(t, s, "unarchive", "a new title")
	if row, _ = s.FindSession(t.Context(), "a new title"); row.Pinned || row.Archived {
		t.Errorf("%+v", row)
	}
	if _, _, err := run(t, s, "rename", "20261119", "a new title"); err == nil || !strings.Contains(err.Error(), `"a new title #2"`) {
		t.Errorf("a taken title: %v", err)
	}
	if _, _, err := run(t, s, "rename", "20261119", strings.Repeat("x", 101)); err == nil {
		t.Error("a long title was taken")
	}
}

func TestDeleteAsks(t *testing.T) {
	t.Parallel()
	s := filled(t)
	d := on(s)
	if _, _, err := runWith(t, d, "y\n", "delete", "latest"); err == nil || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("without a terminal: %v", err)
	}
	d.Terminal = func() bool { return true }
	if _, _, err := runWith(t, d, "\n", "delete", "latest"); err == nil {
		t.Error("no answer deleted a session")
	}
	if _, _, err := runWith(t, d, "y\n", "delete", "latest", "nothing there"); err == nil {
		t.Error("an unknown session gave no error")
	}
	if _, err := s.FindSession(t.Context(), "Fix the build"); err != nil {
		t.Error("a session was deleted anyway")
	}
	out, _, err := runWith(t, d, "y\n", "delete", "latest")
	if err != nil || !strings.Contains(out, `"Fix the build" with 4 messages? [y/N]`) {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := s.FindSession(t.Context(), "Fix the build"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("after a yes: %v", err)
	}
	mustRun(t, s, "delete", "-y", "20261119", "20261118")
}

func TestPrune(t *testing.T) {
	t.Parallel()
	s := filled(t)
	if out := mustRun(t, s, "prune", "--dry-run"); !strings.Contains(out, "cccccc") || strings.Contains(out, "eeeeee") || !strings.Contains(out, "Would delete 1 session.") {
		t.Errorf("a dry run says %q", out)
	}
	for _, none := range [][]string{{"--source", "telegram"}, {"--model", "x"}, {"--min-messages", "2"}, {"--end-reason", "new"}, {"--older-than", "400d"}, {"--cwd", "/no"}, {"--max-messages", "0"}} {
		if out := mustRun(t, s, append([]string{"prune", "-y"}, none...)...); !strings.Contains(out, "Nothing to prune") {
			t.Errorf("%v: %q", none, out)
		}
	}
	if _, _, err := run(t, s, "prune", "--older-than", "1d", "--before", "2026-01-01"); err == nil {
		t.Error("two ages were taken")
	}
	if _, _, err := run(t, s, "prune"); err == nil {
		t.Error("it did not ask")
	}
	mustRun(t, s, "prune", "-y", "--end-reason", "exit")
	if _, err := s.FindSession(t.Context(), "Old things"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	stats, _ := s.Stats(t.Context())
	if stats.Sessions != 4 {
		t.Errorf("%d sessions are left", stats.Sessions)
	}
}

func TestStatsOptimizeRepair(t *testing.T) {
	t.Parallel()
	s := filled(t)
	out := mustRun(t, s, "stats")
	for _, want := range []string{"sessions    5\n", "messages    6\n", "tool calls  1\n", "  cli       3\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	var stats struct{ Sessions int }
	if err := json.Unmarshal([]byte(mustRun(t, s, "stats", "--json")), &stats); err != nil || stats.Sessions != 5 {
		t.Errorf("%+v, %v", stats, err)
	}
	times := 0
	mustRun(t, optimized{s, &times}, "optimize")
	if times != 1 {
		t.Errorf("the store was optimized %d times", times)
	}
}

// TestRepairSaysWhatMayBeMissing: a part of the file that could not be read is not lost if a
// backup has it.
func TestRepairSaysWhatMayBeMissing(t *testing.T) {
	t.Parallel()
	const newer = "Only what was in these parts and is newer may be missing.\n"
	for want, r := range map[string]store.Repaired{
		"": {},
		"1 part of the damaged file could not be read.\nThere is no backup to take more from.\n":               {Lost: 1},
		"2 parts of the damaged file could not be read.\n1 of the messages is from the backup b.db. " + newer:  {Lost: 2, Backup: "b.db", FromBackup: 1},
		"2 parts of the damaged file could not be read.\n3 of the messages are from the backup b.db. " + newer: {Lost: 2, Backup: "b.db", FromBackup: 3},
		"2 parts of the damaged file could not be read.\nThe backup b.db has no more messages. " + newer:       {Lost: 2, Backup: "b.db"},
	} {
		r.Sessions, r.Messages, r.Kept = 2, 3, "old.db"
		d := on(nil)
		d.Repair = func(context.Context) (store.Repaired, error) { return r, nil }
		want = "Recovered 2 sessions with 3 messages.\n" + want + "The damaged file is kept as old.db.\n"
		if out, _, err := runWith(t, d, "", "repair"); err != nil || out != want {
			t.Errorf("%+v: %v\n%s\nwant:\n%s", r, err, out, want)
		}
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	s := filled(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "out.jsonl")
	mustRun(t, s, "export", file)
	if _, _, err := run(t, s, "export", file); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("an existing file: %v", err)
	}
	mustRun(t, s, "export", file, "--force")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(rows) != 3 {
		t.Fatalf("%d sessions with messages were written, want 3", len(rows))
	}
	var first struct{ Messages []hermes.Message }
	if err := json.Unmarshal([]byte(rows[0]), &first); err != nil || len(first.Messages) != 4 {
		t.Errorf("the first has %d messages, %v", len(first.Messages), err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".hermes-export-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	markdown := mustRun(t, s, "export", "-", "--session", "latest", "--format", "md")
	for _, want := range []string{"# Fix the build\n", "## You\n", "## terminal (failed)\n", "```json\n{\"command\":\"make\"}\n```"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("%q is not in:\n%s", want, markdown)
		}
	}
	page := mustRun(t, s, "export", "-", "--session", "latest", "--format", "html")
	if !strings.Contains(page, "please fix &lt;the&gt; build") || strings.Contains(page, "<the>") || strings.Contains(page, "recalled memory") {
		t.Errorf("the page is:\n%s", page)
	}
	safe := mustRun(t, s, "export", "-", "--session", "latest", "--redact")
	if strings.Contains(safe, "abcdefghijklmnopqrstuvwxyz") {
		t.Errorf("a secret is in %s", safe)
	}
	asked := mustRun(t, s, "export", "-", "--session", "latest", "--only", "user-prompts")
	if strings.Contains(asked, "make") || strings.Contains(asked, "You are Hermes") || !strings.Contains(asked, "please fix") {
		t.Errorf("user prompts are %s", asked)
	}
	if out := mustRun(t, s, "export", filepath.Join(dir, "never.md"), "--dry-run", "--newer-than", "2d"); !strings.Contains(out, "2 sessions with 5 messages") {
		t.Errorf("a dry run says %q", out)
	}
	for _, bad := range [][]string{{"--format", "pdf"}, {"--only", "x"}, {"--source", "none"}, {"--newer-than", "x"}, {"--session", "zzz"}} {
		if _, _, err := run(t, s, append([]string{"export", "-"}, bad...)...); err == nil {
			t.Errorf("%v gave no error", bad)
		}
	}
}

func TestTheFailureOfTheStoreIsReported(t *testing.T) {
	t.Parallel()
	broken := fmt.Errorf("broken")
	d := on(nil)
	d.Reader = func(context.Context) (store.Database, error) { return nil, broken }
	if _, _, err := runWith(t, d, "", "list"); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// filtering keeps the filter of a list.
type filtering struct {
	hermes.Store
	got *hermes.SessionFilter
}

func (s filtering) ListSessions(_ context.Context, f hermes.SessionFilter) ([]hermes.Session, error) {
	*s.got = f
	return nil, nil
}

func TestFlagsReachTheWork(t *testing.T) {
	t.Parallel()
	var got hermes.SessionFilter
	dir, err := on(nil).Dir()
	if err != nil {
		t.Fatal(err)
	}
	out := mustRun(t, filtering{hermestest.NewStore(), &got}, "list", "--source", "cli", "--title", "x", "--limit", "7", "--workspace", ".", "--all", "--include-archived", "--json")
	want := hermes.SessionFilter{Platform: "cli", Title: "x", Limit: 7, Dir: dir, Archived: true}
	if diff := cmp.Diff(want, got); diff != "" || out != "[]\n" {
		t.Errorf("%s%s", diff, out)
	}
	mustRun(t, filtering{hermestest.NewStore(), &got}, "list", "--json")
	if got.Limit != 20 || got.Archived || len(got.Exclude) == 0 {
		t.Errorf("%+v", got)
	}
	mustRun(t, filtering{hermestest.NewStore(), &got}, "list", "--json", "--all")
	if len(got.Exclude) > 0 {
		t.Errorf("%+v", got)
	}
}
