package permissions_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/permissions"
	"hermes/internal/permission"
)

// desk runs `hermes permissions` on a file with two grants.
type desk struct {
	t    *testing.T
	home string
	file *permission.File
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("command_allowlist: [chmod]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &desk{t, home, permission.New(filepath.Join(home, permission.Name), nil, nil)}
	day := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	err := d.file.Add(t.Context(),
		hermes.Grant{Tool: "terminal", Key: "recursive-delete", Subject: "rm -rf build\nrm \x1b[2Jx", Dir: "/work", Platform: "cli", Created: day},
		hermes.Grant{Tool: "write_file", Key: "path:system", Created: day})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) run(args ...string) (string, error) {
	d.t.Helper()
	var out bytes.Buffer
	cmd := permissions.NewCmd(factory.New(app.Options{Home: d.home}, factory.IO{}))
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(d.t.Context())
	return out.String(), err
}

func (d *desk) ids() []string {
	d.t.Helper()
	list, problems, err := d.file.List()
	if err != nil || len(problems) > 0 {
		d.t.Fatal(problems, err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestListSaysWhatIsAllowedAndWhere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.run()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		d.ids()[0] + "  terminal  recursive-delete\n          rm -rf build\n            rm ␛[2Jx\n          in /work, on cli, since 2026-11-22\n",
		d.ids()[1] + "  write_file  path:system\n          every call with this risk\n          in any folder, since 2026-11-22\n",
		"any tool  chmod", "from the setting command_allowlist",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	out, err = d.run("list", "--json")
	var list []map[string]any
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 2 || list[0]["subject"] != "rm -rf build\nrm \x1b[2Jx" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestListOfABrokenFileSaysWhatAllowsNothing has one entry that is understood and one
// that is not.
func TestListOfABrokenFileSaysWhatAllowsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	text := "grants:\n- {tool: terminal, key: a}\n- {tool: terminal, key: b, only_on: weekdays}\n"
	if err := os.WriteFile(d.file.Place(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := d.run()
	if err != nil || !strings.Contains(out, permission.Name+":3: this entry allows nothing") || !strings.Contains(out, "terminal  a\n") {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.WriteFile(d.file.Place(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := d.run("list", "--json"); err != nil || out != "[]\n" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.ids()
	if _, err := d.run("revoke"); err == nil || !strings.Contains(err.Error(), "permissions list") {
		t.Errorf("without an id: %v", err)
	}
	if _, err := d.run("revoke", "nope"); err == nil || !strings.Contains(err.Error(), "permissions list") {
		t.Errorf("an unknown id: %v", err)
	}
	out, err := d.run("revoke", ids[0])
	if err != nil || !strings.Contains(out, "Revoked "+ids[0]) || len(d.ids()) != 1 || d.ids()[0] != ids[1] {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = d.run("revoke", "--all"); err != nil || len(d.ids()) != 0 {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = d.run("revoke", "--all"); err != nil || !strings.Contains(out, "There are no permissions.") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestUnattended(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	call := hermes.Grant{Tool: "write_file", Key: "path:system", Unattended: true}
	if _, err := d.run("unattended", d.ids()[1]); err != nil || !d.file.Covers(call) {
		t.Errorf("%v, covers %v", err, d.file.Covers(call))
	}
	if out, err := d.run(); err != nil || !strings.Contains(out, "also unattended") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := d.run("unattended", d.ids()[1], "--off"); err != nil || d.file.Covers(call) {
		t.Errorf("%v, covers %v", err, d.file.Covers(call))
	}
	if _, err := d.run("unattended", "nope"); err == nil {
		t.Error("an unknown id is taken")
	}
}

// TestACallIsJudged as the tool chain would, and the rule is named.
func TestACallIsJudged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	work := t.TempDir()
	rules := "rules:\n- {deny: 'terminal: git push --force*', reason: never}\n- {ask: 'write_file: ./docs/**', when: {platform: telegram}}\n- allow: 'terminal: rm -rf build'\n"
	if err := os.WriteFile(d.file.Place(), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"terminal: rm -rf build"}, []string{"runs without asking", "rule: allow \"terminal: rm -rf build\"", "permissions.yaml:4"}},
		{[]string{"terminal: rm -rf build", "--unattended"}, []string{"runs without asking"}},
		{[]string{"terminal: rm -rf src"}, []string{"asks", "recursive-delete"}},
		{[]string{"terminal: rm -rf src", "--unattended"}, []string{"refused, unless a setting"}},
		{[]string{"terminal: rm -rf src", "--mode", "yolo"}, []string{"runs without asking", "recursive-delete is allowed by the mode"}},
		{[]string{"terminal: git push origin --force", "--mode", "yolo"}, []string{"never runs", "permissions.yaml:2", "never"}},
		{[]string{"terminal: rm -rf /"}, []string{"never runs"}},
		{[]string{"write_file: docs/a.md"}, []string{"runs without asking", "no rule is about it"}},
		{[]string{"write_file: docs/a.md", "--platform", "telegram", "--mode", "yolo"}, []string{"asks", "permissions.yaml:3"}},
		{[]string{"memory: x", "--after-reading", "web_extract a page", "--mode", "yolo"}, []string{"asks", "taint:memory", "web_extract a page"}},
		{[]string{"skill_manage: x", "--after-reading", "web_extract a page", "--mode", "yolo"}, []string{"asks", "taint:skill", "web_extract a page"}},
		{[]string{"write_file: " + d.file.Place()}, []string{"is refused as it is", "file tools must not write it"}},
		{[]string{"write_file: " + filepath.Join(d.home, "config.yaml"), "--mode", "yolo"}, []string{"is refused as it is", "file tools must not write it"}},
		{[]string{"write_file: " + filepath.Join(d.home, "trust.json")}, []string{"is refused as it is", "file tools must not write it"}},
		{[]string{"patch", "--arguments", `{"mode":"replace","path":"docs/a.md","old_string":"a","new_string":"b"}`}, []string{"runs without asking"}},
		{[]string{"terminal: ls", "--mode", "plan"}, []string{"runs without asking"}},
		{[]string{"terminal: make", "--mode", "plan"}, []string{"refused in plan mode"}},
		{[]string{"read_file: a", "--mode", "plan"}, []string{"runs without asking"}},
		{[]string{"terminal: rm -rf src", "--json"}, []string{`"verdict": "ask"`, `"key": "recursive-delete"`}},
	} {
		out, err := d.run(append([]string{"test", "--dir", work}, tt.args...)...)
		if err != nil {
			t.Errorf("%v: %v", tt.args, err)
		}
		for _, w := range tt.want {
			if !strings.Contains(out, w) {
				t.Errorf("%v: got %q, want %q", tt.args, out, w)
			}
		}
	}
	if _, err := d.run("test", "terminal: ls", "--mode", "nope"); err == nil || !strings.Contains(err.Error(), "--mode") {
		t.Errorf("an unknown mode: %v", err)
	}
	for args, want := range map[string]string{"nope: x": "there is no tool", ": x": "write the call as"} {
		if out, err := d.run("test", "--dir", work, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q: %s", args, err, want, out)
		}
	}
}

// TestRulesAreListed with what is wrong with them.
func TestRulesAreListed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rules := "rules:\n- {deny: 'terminal: git push --force*', reason: never}\n- {ask: memory, when: {platform: telegram}}\n- {allow: 'memory: x'}\n- {denny: x}\n- {deny: terminl}\n- {deny: file.Write}\n"
	if err := os.WriteFile(d.file.Place(), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := d.run("list")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"deny      terminal: git push --force*", "never", "ask       memory  (in some sessions)", "permissions.yaml:4", "the rule is ignored", "permissions.yaml:5", "no call runs until it is repaired", "deny      terminl  (there is no such tool now)"} {
		if !strings.Contains(out, w) {
			t.Errorf("got %q, want %q", out, w)
		}
	}
	if n := strings.Count(out, "no such tool"); n != 1 {
		t.Errorf("%d rules are said to be about no tool: %s", n, out)
	}
}

// TestSuggestedRulesAreAddedByTheirNumber: from the record to the file of rules, which then decides.
func TestSuggestedRulesAreAddedByTheirNumber(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := app.New(app.Options{Home: d.home})
	for _, line := range []string{"docker stop web", "docker stop web", "rm -rf build", "rm -rf build"} {
		risk := "docker-lifecycle"
		if strings.HasPrefix(line, "rm") {
			risk = "recursive-delete"
		}
		for range 2 {
			if err := a.Record(t.Context(), audit.Row{Kind: audit.KindAnswer, By: "user", Tool: "terminal", Subject: line, Risks: []string{risk}, Decision: "once"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.Record(t.Context(), audit.Row{Kind: audit.KindAnswer, By: "model", Tool: "terminal", Subject: "docker kill x", Risks: []string{"docker-lifecycle"}, Decision: "once"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := d.run("suggest", "--json")
	var list []struct {
		Number int
		Rule   string
		Count  int
	}
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0].Rule != "terminal: docker stop web" || list[0].Count != 4 {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := d.run("suggest", "--min-count", "5"); err != nil || !strings.Contains(out, "nothing to suggest") {
		t.Errorf("%v: %s", err, out)
	}
	for _, numbers := range []string{"2", "0", "x", "1,2"} {
		if out, err := d.run("suggest", "--apply", numbers); err == nil || !strings.Contains(err.Error(), "there is no suggestion") {
			t.Errorf("%s: %v: %s", numbers, err, out)
		}
	}
	if out, err := d.run("suggest", "--apply", "1"); err != nil || !strings.Contains(out, "Added: allow: terminal: docker stop web") {
		t.Fatalf("%v: %s", err, out)
	}
	for line, rule := range map[string]bool{"docker stop web": true, "docker stop db": false} {
		if out, err := d.run("test", "terminal: "+line); err != nil || strings.Contains(out, "rule: ") != rule {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	if out, err := d.run("suggest"); err != nil || !strings.Contains(out, "nothing to suggest") {
		t.Errorf("what a rule allows is suggested again: %v: %s", err, out)
	}
	if len(d.ids()) != 2 {
		t.Error("the permissions that were there are lost")
	}
}
