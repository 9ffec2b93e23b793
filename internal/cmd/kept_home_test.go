package cmd_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The home that version 0.1.0 wrote, and what it printed about it: see
// testdata/home-v1/README.md.
const (
	keptHome     = "testdata/home-v1/home"
	keptExpected = "testdata/home-v1/expected"
	keptPath     = "/tmp/h" // where the home was when it was written
	keptServer   = "http://127.0.0.1:18080/v1"
)

// Sessions of the kept home.
const (
	keptLog     = "20261122_092436_85af16"
	keptManual  = "20261122_092446_306328"
	keptMorning = "20261122_092456_1612d2"
	keptSite    = "20261122_092456_5bb4b4"
	keptAsking  = "20261122_092514_7e3466"
	keptWaiting = "20261122_092517_65fa3c"
	keptRunning = "20261122_092519_31189a"
)

// withKeptHome is somebody whose home is a copy of the kept one. A model
// server, as serve gives it, takes the place of the one in config.yaml.
func withKeptHome(t *testing.T, server ...string) *user {
	t.Helper()
	p := newUser(t)
	err := fs.WalkDir(os.DirFS(keptHome), ".", func(path string, d fs.DirEntry, err error) error {
		to := filepath.Join(p.home, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		content, err := os.ReadFile(filepath.Join(keptHome, path))
		if err != nil {
			return err
		}
		switch {
		case strings.HasSuffix(path, "undo/records.jsonl"):
			content = bytes.ReplaceAll(content, []byte(keptPath+"/"), []byte(p.home+"/"))
		case path == "config.yaml" && len(server) > 0:
			url := strings.TrimPrefix(server[0], "OPENAI_BASE_URL=")
			content = bytes.ReplaceAll(content, []byte(keptServer), []byte(url))
		}
		return os.WriteFile(to, content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// must runs a command that is to succeed and returns what it printed, with
// paths as they were when the home was written.
func (p *user) must(args ...string) string {
	p.t.Helper()
	out, errs, status := p.run(args...)
	if status != 0 {
		p.t.Fatalf("%v: status %d: %s%s", args, status, out, errs)
	}
	return strings.ReplaceAll(out, p.home, keptPath)
}

// file reads a file of the home.
func (p *user) file(path ...string) string {
	p.t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{p.home}, path...)...))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(content)
}

func expected(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(keptExpected, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// values are the JSON values of a text, one after another.
func values(t *testing.T, text string) []any {
	t.Helper()
	var list []any
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		list = append(list, v)
	}
	return list
}

// into decodes JSON.
func into[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// without takes fields out of a JSON value, however deep they are.
func without(v any, fields ...string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			without(one, fields...)
		}
	case map[string]any:
		for _, f := range fields {
			delete(v, f)
		}
		for _, one := range v {
			without(one, fields...)
		}
	}
}

func TestKeptHomeIsShownWhole(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	for _, tt := range []struct {
		file, command string
		except        []string // fields that depend on the day
	}{
		{"sessions.json", "sessions list --all --include-archived --limit 100 --json", nil},
		{"export.jsonl", "sessions export - --include-archived", nil},
		{"log.json", "sessions show " + keptLog + " --undone --json", nil},
		{"manual.json", "sessions show " + keptManual + " --undone --json", nil},
		{"stats.json", "sessions stats --json", []string{"file_bytes"}},
		{"search.json", "sessions search handle --json", nil},
		{"search-error.json", "sessions search error --json", nil},
		{"memory.json", "memory list --json", nil},
		{"memory-work.json", "-p work memory list --json", nil},
		{"learning.json", "learning list --all --json", nil},
		{"journey.json", "journey --json", nil},
		{"skill-changes.json", "curator ledger --all --json --limit 0", nil},
		{"spend-model.json", "spend --json --days 36500", []string{"since", "caps"}},
		{"spend-day.json", "spend --json --days 36500 --by day", []string{"since", "caps"}},
		{"spend-purpose.json", "spend --json --days 36500 --by purpose", []string{"since", "caps"}},
		{"spend-session.json", "spend --json --days 36500 --by session", []string{"since", "caps"}},
		// 0.1.0 counted a branch's copied messages again, and gave a model what another one answered.
		{"insights.json", "insights --json --days 36500", []string{"since", "messages", "turns", "tool_calls", "usage", "tokens", "by_model", "tools"}},
		{"config.json", "config show --json", nil},
		{"config-work.json", "-p work config show --json", nil},
		{"auth.json", "auth list --json", []string{"state", "reason", "rests_until"}},
		{"profiles.json", "profile list --json", nil},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			p := &user{t: t, home: p.home, dir: p.dir, env: p.env}
			got, want := values(t, p.must(strings.Fields(tt.command)...)), values(t, expected(t, tt.file))
			without(got, tt.except...)
			without(want, tt.except...)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("hermes %s (-version 0.1.0 +now):\n%s", tt.command, d)
			}
		})
	}
}

// TestKeptHomeAddsUp: insights counts each model call of the ledger once, and no
// message that a branch has copied.
func TestKeptHomeAddsUp(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	type usage = map[string]float64
	insights := into[struct {
		Messages, Turns, Tokens int
		ToolCalls               int `json:"tool_calls"`
		Usage                   usage
	}](t, p.must("insights", "--json", "--days", "36500"))
	spent := into[struct {
		Total struct {
			Tokens int
			Usage  usage
		}
	}](t, expected(t, "spend-model.json"))
	if insights.Tokens != spent.Total.Tokens || !cmp.Equal(insights.Usage, spent.Total.Usage) {
		t.Errorf("insights: %d tokens, %v; the ledger: %d, %v", insights.Tokens, insights.Usage, spent.Total.Tokens, spent.Total.Usage)
	}
	if insights.Messages == 0 || insights.Messages > 106 { // of 125 rows the branch has copied 19
		t.Errorf("%d messages", insights.Messages)
	}
}

func TestKeptHomeRaisesAndRests(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	type caps struct {
		Caps []map[string]any `json:"caps"`
	}
	args := []string{"spend", "--json", "--session", keptLog}
	got, want := into[caps](t, p.must(args...)), into[caps](t, expected(t, "spend-log.json"))
	if d := cmp.Diff(want.Caps[:2], got.Caps[:2]); d != "" { // the others are of the day and the month
		t.Errorf("caps of the session (-version 0.1.0 +now):\n%s", d)
	}
	states := map[string]string{}
	for _, k := range into[[]struct{ Label, State, Reason string }](t, p.must("auth", "list", "--json")) {
		states[k.Label] = k.State + " " + k.Reason
	}
	if states["gone"] != "dead auth_permanent" || states["work"] != "usable " {
		t.Errorf("keys: %v", states)
	}
}

// TestKeptHomeIsListed looks for what is stored in lists that are for people
// alone, whatever the sentences round it are.
func TestKeptHomeIsListed(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	for command, stored := range map[string][]string{
		"memory pending": {"5a31b2c297", "Pages of the site are written in Markdown.", "project file AGENTS.md",
			"The window is painted blue.", "The log files are in /var/log."},
		"skills pending":                     {"2oeiwy", "brew-tea"},
		"skills diff 2oeiwy":                 {"-2. Wait two minutes.", "+2. Wait three minutes."},
		"skills list --source user":          {"brew-tea", "count-lines"},
		"skills list --source hub":           {"fold-paper"},
		"skills list --all":                  {"papers"},
		"curator status":                     {"brew-tea"},
		"curator list-archived":              {"throw-away", "removed"},
		"skills inspect fold-paper":          {"/tmp/w/paper", "community", "safe", "1. Fold it."},
		"bundles list":                       {"evening", "count-lines", "fact-check"},
		"fallback list":                      {"custom:box:played-small", "custom:model-b", keptServer},
		"sessions show " + keptAsking:        {"\nWhich parts?\n", "web\n", "mail\n", "news\n"},
		"learning show 1":                    {"List the folder first.", "files", "20261122_092503_dcb273", "read_file manual.md; read_file lost.txt; project file AGENTS.md"},
		"config get model.aliases.quick":     {"custom:box:played-small"},
		"config get context.prompt_share":    {"0.2"},
		"config get spend.day.usd":           {"25"},
		"config get command_allowlist":       {"recursive-delete"},
		"profile show work":                  {"/tmp/h/profiles/work"},
		"-p work config get agent.max_turns": {"9"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := &user{t: t, home: p.home, dir: p.dir, env: p.env}
			out := p.must(strings.Fields(command)...)
			for _, s := range stored {
				if !strings.Contains(out, s) {
					t.Errorf("%q is missing:\n%s", s, out)
				}
			}
		})
	}
	if out := p.must("skills", "list"); strings.Contains(out, " papers ") {
		t.Errorf("the skill papers is switched off, and listed:\n%s", out)
	}
}

// A change of the undo journal, as its file holds it.
type keptChange struct {
	ID, Kind, Actor, Of string
	Open                bool
}

// changesKept is how many of them the kept home has.
const changesKept = 27

func changesOf(t *testing.T, records string) (list []keptChange) {
	t.Helper()
	for line := range strings.Lines(records) {
		if c := into[keptChange](t, line); !c.Open {
			list = append(list, c)
		}
	}
	return list
}

func TestKeptChangesAreListedAndUndone(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	var want, got [][2]string
	for _, c := range slices.Backward(changesOf(t, p.file("undo", "records.jsonl"))) {
		want = append(want, [2]string{c.ID, c.Kind})
	}
	for line := range strings.Lines(p.must("undo", "--list")) {
		words := strings.Fields(line)
		got = append(got, [2]string{words[0], words[3]}) // between them the day and the time
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("undo --list (-stored +listed):\n%s", d)
	}

	p.must("undo", "--yes") // the newest, hermes config unset display.bell_on_complete
	before, err := os.ReadFile(keptHome + "/undo/blobs/1b/1bd31d3b10e7789b1466ec39ed165785a6dfd480689a5ff41eeecc5634bbd15f")
	if err != nil || p.file("config.yaml") != string(before) {
		t.Errorf("config.yaml is, %v\n%s", err, p.file("config.yaml"))
	}
	p.must("undo", "20261122T092436-5528b0", "--yes") // MEMORY.md: removed
	if got := p.file("memories", "MEMORY.md"); got != "The log files are in the folder of work.\n§\nThe old printer is broken.\n" {
		t.Errorf("MEMORY.md is %q", got)
	}
	p.must("undo", "20261122T092500-ca1e4f", "--yes") // create the skill brew-tea
	if _, err := os.Stat(filepath.Join(p.home, "skills", "kitchen", "brew-tea", "SKILL.md")); err == nil {
		t.Error("the skill brew-tea is still there")
	}
	p.must("undo", "20261122T092510-bf4942", "--yes") // delete a learning
	if out := p.must("learning", "list", "--json"); !strings.Contains(out, `"fatal: not a git repository"`) || !strings.Contains(out, `"git init"`) {
		t.Errorf("learnings: %s", out)
	}
	// What is written today is written as it was.
	var undone []keptChange
	for _, c := range changesOf(t, p.file("undo", "records.jsonl"))[changesKept:] {
		c.ID = ""
		undone = append(undone, c)
	}
	if d := cmp.Diff([]keptChange{
		{Kind: "config", Actor: "person", Of: "20261122T092513-cfb698"},
		{Kind: "memory", Actor: "person", Of: "20261122T092436-5528b0"},
		{Kind: "skill", Actor: "person", Of: "20261122T092500-ca1e4f"},
		{Kind: "learning", Actor: "person", Of: "20261122T092510-bf4942"},
	}, undone); d != "" {
		t.Errorf("records of the undoing (-want +got):\n%s", d)
	}
}

func TestKeptProposalsCanBeAccepted(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	p.must("memory", "approve", "5a31b2c297")
	p.must("memory", "approve", "all")
	if got := p.file("memories", "MEMORY.md"); got != "The log files are in /var/log.\n§\nPages of the site are written in Markdown.\n§\nThe window is painted blue.\n" {
		t.Errorf("MEMORY.md is %q", got)
	}
	usage := into[map[string]map[string]any](t, p.file("skills", ".usage.json"))
	p.must("skills", "approve", "2oeiwy")
	now := into[map[string]map[string]any](t, p.file("skills", ".usage.json"))
	delete(usage["brew-tea"], "changed_at")
	delete(now["brew-tea"], "changed_at")
	if d := cmp.Diff(usage, now); d != "" {
		t.Errorf("use of skills, written again (-stored +now):\n%s", d)
	}
	if got := p.file("skills", "kitchen", "brew-tea", "SKILL.md"); !strings.HasSuffix(got, "2. Wait three minutes.\n") {
		t.Errorf("SKILL.md is %q", got)
	}
	for _, kind := range []string{"memory", "skills"} {
		if left, err := filepath.Glob(filepath.Join(p.home, "pending", kind, "*.json")); err != nil || len(left) > 0 {
			t.Errorf("still waiting: %v, %v", left, err)
		}
	}
	var actors []string
	for _, c := range changesOf(t, p.file("undo", "records.jsonl"))[changesKept:] {
		actors = append(actors, c.Actor)
	}
	if d := cmp.Diff([]string{"20261122_092456_5bb4b4", "20261122_092510_452d75", "20261122_092510_452d75"}, actors); d != "" {
		t.Errorf("who changed memory, twice, and the skill (-want +got):\n%s", d)
	}
	p.must("memory", "add", "--target", "user", "Wears a hat.")
	type entry struct {
		Text   string
		Origin struct{ By, Session, Outside string }
	}
	got := map[string]string{}
	for _, s := range into[[]struct{ Entries []entry }](t, p.must("memory", "list", "--json")) {
		for _, e := range s.Entries {
			got[e.Text] = strings.TrimSpace(e.Origin.By + " " + e.Origin.Session + " " + e.Origin.Outside)
		}
	}
	if d := cmp.Diff(map[string]string{
		"The log files are in /var/log.":             "agent 20261122_092510_452d75",
		"Pages of the site are written in Markdown.": "agent 20261122_092456_5bb4b4 project file AGENTS.md",
		"The window is painted blue.":                "agent 20261122_092510_452d75",
		"Likes short answers.":                       "person",
		"Drinks green tea, no coffee.":               "agent 20261122_092457_a398a1",
		"Wears a hat.":                               "person",
	}, got); d != "" {
		t.Errorf("origins (-want +got):\n%s", d)
	}
}

// TestKeptProposalIsBoundToItsText: what was proposed for another text of a
// skill is not carried out.
func TestKeptProposalIsBoundToItsText(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	path := filepath.Join(p.home, "skills", "kitchen", "brew-tea", "SKILL.md")
	mine := p.file("skills", "kitchen", "brew-tea", "SKILL.md") + "3. Drink.\n"
	if err := os.WriteFile(path, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, status := p.run("skills", "approve", "2oeiwy"); status == 0 {
		t.Errorf("approved: %s", out)
	}
	if got := p.file("skills", "kitchen", "brew-tea", "SKILL.md"); got != mine {
		t.Errorf("SKILL.md is %q", got)
	}
}
