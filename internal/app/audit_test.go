package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/session"
)

// recorded lists the rows of a scene's home as "kind tool decision by", and fails if the record
// has a problem.
func (s *scene) recorded() (rows []audit.Row, short []string) {
	s.t.Helper()
	l, err := app.New(app.Options{Home: s.home}).Audit() // as another process
	if err != nil {
		s.t.Fatal(err)
	}
	for r, err := range l.Rows(s.t.Context(), audit.Filter{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		if r.Kind == audit.KindFile {
			continue
		}
		rows = append(rows, r)
		short = append(short, strings.Join(strings.Fields(fmt.Sprint(r.Kind, " ", r.Tool, " ", r.Decision, " ", r.By, " ", r.Status)), " "))
	}
	if report, err := l.Verify(s.t.Context()); err != nil || len(report.Problems) > 0 {
		s.t.Errorf("%+v, %v", report, err)
	}
	return rows, short
}

// TestWhatTheAgentDidIsRecorded has an obedient model that writes a file, asks, is refused and reads.
func TestWhatTheAgentDidIsRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.say(`CALL write_file {"path":"a.txt","content":"hello"}`, `CALL read_file {"path":"a.txt"}`,
		`CALL terminal {"command":"rm -rf build"}`, `CALL terminal {"command":"rm -rf /"}`, `CALL nothing {"x":1}`)
	rows, got := s.recorded()
	want := []string{
		"call write_file", "result write_file ok",
		"call terminal", "asked terminal", "answer terminal denied user", "refusal terminal denied user failed",
		"call terminal", "refusal terminal forbidden program failed",
		"refusal nothing program failed",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	first := rows[0]
	if first.Subject != "a.txt" || first.Session != s.session || first.Turn == 0 || first.Platform != "cli" || len(first.Arguments) != 64 || len(rows[1].Result) != 64 || rows[1].Call != first.Call {
		t.Errorf("%+v\n%+v", first, rows[1])
	}
	if asked := rows[3]; asked.Subject != "rm -rf build" || asked.Dir == "" || !slices.Equal(asked.Risks, []string{"recursive-delete"}) || asked.Rule == "" {
		t.Errorf("%+v", asked)
	}
}

// TestWhoAllowedACallIsRecorded: the user for once and for good, then the grant, and yolo.
func TestWhoAllowedACallIsRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowAlways)
	s.say(`CALL terminal {"command":"rm -rf build"}`)
	s.fresh()
	s.say(`CALL terminal {"command":"rm -rf build"}`)
	s.quit()
	s.session, s.mode = "", "off"
	s.say(`CALL terminal {"command":"rm -rf src"}`)
	rows, got := s.recorded()
	want := []string{
		"call terminal", "asked terminal", "answer terminal always user", "grant terminal always user", "result terminal ok",
		"call terminal", "allowed terminal allowed grant", "result terminal ok",
		"call terminal", "allowed terminal allowed mode", "result terminal ok",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if rows[2].Scope != string(hermes.ScopeCall) {
		t.Errorf("%+v", rows[2])
	}
}

// TestChildrenAndSettingsAreRecorded has a child that writes, and a setting that is changed.
func TestChildrenAndSettingsAreRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	goal, _ := json.Marshal(`CALL write_file {"path":"b.txt","content":"x"}`)
	s.say(`CALL errand {"goal":` + string(goal) + `}`)
	cfg, err := s.app.ReadConfig()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Set(t.Context(), "approvals.mode", "smart"); err != nil {
		t.Fatal(err)
	}
	rows, got := s.recorded()
	at := slices.Index(got, "call write_file")
	if at < 0 || rows[at].Parent != s.session || rows[at].Session == s.session {
		t.Errorf("%q", got)
	}
	last := rows[len(rows)-1]
	if last.Kind != audit.KindSetting || !strings.Contains(last.Subject, "approvals.mode") {
		t.Errorf("%+v", last)
	}
}

// TestSecretsDoNotReachTheRecord also with security.redact_secrets off.
func TestSecretsDoNotReachTheRecord(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.config = "security: {redact_secrets: false}\n"
	key := "ghp_" + strings.Repeat("a1B2", 9)
	s.say(`CALL terminal {"command":"echo `+key+`"}`, `CALL terminal {"command":"rm -rf x `+key+`"}`)
	for _, name := range glob(t, filepath.Join(s.home, "audit", "*")) {
		if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), key) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	if rows, _ := s.recorded(); len(rows) < 4 {
		t.Error(rows)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	return found
}

// TestNothingRunsThatCannotBeRecorded has a record without its key.
func TestNothingRunsThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.say(`CALL write_file {"path":"a.txt","content":"x"}`)
	s.quit()
	if err := os.Remove(filepath.Join(s.home, "audit.key")); err != nil {
		t.Fatal(err)
	}
	s.session = ""
	s.say(`CALL write_file {"path":"b.txt","content":"x"}`, `CALL read_file {"path":"a.txt"}`)
	if _, err := os.Stat(filepath.Join(s.dir, "b.txt")); err == nil {
		t.Error("a call ran without a row")
	}
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	if !strings.Contains(s.model.read, "hermes audit verify") || !strings.Contains(s.model.read, "restore it from a backup") {
		t.Errorf("the model was told %s", s.model.read)
	}
}

// TestTheKeyOfTheRecordIsNotRead by any tool of a model, and the record not written.
func TestTheKeyOfTheRecordIsNotRead(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.say(`CALL write_file {"path":"a.txt","content":"x"}`)
	key, err := os.ReadFile(filepath.Join(s.home, "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(s.home, "audit", "00000001.jsonl")
	s.say(`CALL read_file {"path":"`+filepath.Join(s.home, "audit.key")+`"}`, `CALL search_files {"pattern":".","path":"`+s.home+`"}`,
		`CALL write_file {"path":"`+log+`","content":"x"}`, `CALL patch {"path":"`+log+`","old_string":"call","new_string":"x"}`)
	s.model.mu.Lock()
	if strings.Contains(s.model.read, strings.TrimSpace(string(key))) {
		t.Errorf("the model read the key: %s", s.model.read)
	}
	s.model.mu.Unlock()
	if rows, _ := s.recorded(); len(rows) < 4 {
		t.Error(rows)
	}
}

// TestAuditSettings: the record stays within audit.max_size_mb and audit.keep_days.
func TestAuditSettings(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]string{"by default": "", "by size": "audit: {max_size_mb: 1}\n", "by age": "audit: {keep_days: 10}\n"} {
		home := t.TempDir()
		writeFile(t, filepath.Join(home, "config.yaml"), settings)
		now := time.Now()
		a := app.New(app.Options{Home: home, Now: func() time.Time { return now }, Getenv: func(string) string { return "" }})
		l, err := a.Audit()
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			now = now.Add(time.Hour)
			if err := l.Append(t.Context(), audit.Row{Kind: audit.KindCall, Note: strings.Repeat("n", 400)}); err != nil {
				t.Fatal(err)
			}
		}
		report, err := l.Verify(t.Context())
		if err != nil || len(report.Problems) > 0 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		size := int64(0)
		for _, f := range glob(t, filepath.Join(home, "audit", "*.jsonl")) {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		switch {
		case name == "by default" && report.First != 1, name == "by size" && (size > 1<<20 || report.First == 1), name == "by age" && (report.First == 1 || report.Rows > 13*24):
			t.Errorf("%s: %d bytes, %+v", name, size, report)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAuditCostsLittleOfATurn compares the rows of the calls with the turns that made them.
func TestAuditCostsLittleOfATurn(t *testing.T) {
	s := newScene(t, hermes.Deny)
	s.say(`CALL write_file {"path":"a.txt","content":"x"}`) // all is open now
	const turns = 30
	began := time.Now()
	for i := range turns {
		s.say(fmt.Sprintf(`CALL write_file {"path":"f%d.txt","content":"x"}`, i))
	}
	turn := time.Since(began) / turns
	rows, _ := s.recorded()
	if len(rows) != 2*(turns+1) {
		t.Fatalf("%d rows", len(rows))
	}
	l, err := s.app.Audit()
	if err != nil {
		t.Fatal(err)
	}
	const rounds, calls = 10, 1_000
	each := time.Hour
	for range rounds { // the quickest says what the rows cost while no other program is in the way
		began = time.Now()
		for i := range calls {
			for _, r := range rows[2*(i%turns) : 2*(i%turns)+2] {
				if err := l.Append(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
		}
		each = min(each, time.Since(began)/calls)
	}
	share := 100 * float64(each) / float64(turn)
	t.Logf("a turn with one call takes %v, the rows of a call %v: %.2f %%", turn, each, share)
	if share > 2 {
		t.Errorf("the rows of a call cost %.2f %% of a turn, want at most 2 %%", share)
	}
}

// TestAChangeOfTheModeIsRecorded, and without its row the mode does not become wider.
func TestAChangeOfTheModeIsRecorded(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	setCalling(t, home, "", nil)
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: user})
	for _, m := range []hermes.RightsMode{hermes.ModePlan, hermes.ModeYolo, hermes.ModeYolo} {
		if err := s.Do(t.Context(), user, hermes.SetMode{Mode: m}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := a.Audit()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r, err := range l.Rows(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == audit.KindMode {
			got = append(got, r.Session+" "+r.Decision+" "+r.By)
		}
	}
	if want := []string{s.ID() + " plan user", s.ID() + " yolo user"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.RemoveAll(filepath.Join(home, "audit")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "audit"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(t.Context(), user, hermes.SetMode{Mode: hermes.ModePlan}); err != nil || s.Mode() != hermes.ModePlan {
		t.Errorf("a narrower mode without a row: %v, mode %s", err, s.Mode())
	}
	if err := s.Do(t.Context(), user, hermes.SetMode{Mode: hermes.ModeAsk}); err == nil || s.Mode() != hermes.ModePlan {
		t.Errorf("a wider mode without a row: %v, mode %s", err, s.Mode())
	}
}
