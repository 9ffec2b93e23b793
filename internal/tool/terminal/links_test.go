//go:build unix

package terminal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/tool/terminal"
)

// risksOf lists the keys of the risks of a command.
func (b *fixture) risksOf(command string) []string {
	b.t.Helper()
	text, err := json.Marshal(map[string]any{"command": command})
	if err != nil {
		b.t.Fatal(err)
	}
	var keys []string
	for _, r := range b.tools["terminal"].(hermes.RiskAssessor).AssessRisk(b.t.Context(), &hermes.Call{Name: "terminal", Arguments: text, Host: b.host}) {
		keys = append(keys, r.Key)
	}
	return keys
}

// TestLinksOnDiskAreFollowed: what an earlier command linked is judged by where it
// leads, on the real disk.
func TestLinksOnDiskAreFollowed(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(home, ".hermes")
	b := mustFixture(t, terminal.Config{Home: home, Hermes: own})
	for _, dir := range []string{own + "/skills/a", own + "/cache", own + "/profiles/work", b.dir + "/real/sub"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"config.yaml", "profiles/work/.env"} {
		if err := os.WriteFile(filepath.Join(own, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"h": own, "skill": "h/skills/a", "up": "real/sub", "dangling": own + "/permissions.yaml", "loop": "loop", "fine": "real", "c": own + "/cache", "real/back": "../h",
	} {
		if err := os.Symlink(to, filepath.Join(b.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"hard": "config.yaml", "hard2": "profiles/work/.env"} {
		if err := os.Link(filepath.Join(own, to), filepath.Join(b.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"echo x > h/permissions.yaml": "write-hermes", "cd h && echo x > permissions.yaml": "write-hermes", "cp x skill/SKILL.md": "write-hermes", "tee skill/../../config.yaml": "write-hermes",
		"echo x > dangling": "write-hermes", "echo x > up/../back/auth.json": "write-hermes", "cat x | sponge real/back/auth.json": "write-hermes", "echo x > hard": "write-hermes", "tee hard2 < x": "write-hermes",
		"ln -s ~/.hermes new; echo x > new/auth.json": "write-hermes", "echo x > /proc/self/cwd/h/auth.json": "write-hermes", "echo x > loop/a": "unknown-path",
		fmt.Sprintf("echo x > /proc/%d/root%s/auth.json", os.Getpid(), own): "write-hermes",
		"echo x > fine/a": "", "echo x > c/a": "", "cat h/config.yaml": "", "ls h": "", "echo x > new-file": "", "mkdir -p a/b && echo x > a/b/c": "", "./run fine/a": "",
	} {
		got := b.risksOf(line)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %v, want %q", line, got, want)
		}
	}
	many := "prettier --write"
	for i := range 1_500 {
		many += fmt.Sprintf(" d%d/x", i)
	}
	if got := b.risksOf(many); !slices.Contains(got, "unknown-path") {
		t.Errorf("a line with 1,500 paths: %v", got)
	}
	if got := b.risksOf("prettier --write " + strings.Repeat("fine/", 3_000) + "x"); len(got) > 0 {
		t.Errorf("a missing path of 3,000 folders: %v", got)
	}
}

// TestPathsThatCannotBeFollowedAreAskedAbout: past what is looked up, a path may lead
// anywhere, and the answer holds for this call only.
func TestPathsThatCannotBeFollowedAreAskedAbout(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(home, ".hermes")
	b := mustFixture(t, terminal.Config{Home: home, Hermes: own})
	few, many := "prettier --write", "prettier --write"
	for i := range 700 {
		name := fmt.Sprintf(" d%d/s/x", i)
		if err := os.MkdirAll(filepath.Join(b.dir, name[1:]), 0o700); err != nil {
			t.Fatal(err)
		}
		if many += name; i < 300 {
			few += name
		}
	}
	for i := range 20 {
		env := fmt.Sprintf("%s/profiles/p%02d/.env", own, i)
		if err := os.MkdirAll(filepath.Dir(env), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(env, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(env, filepath.Join(b.dir, fmt.Sprintf("hard%02d", i))); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{few: "", many: "unknown-path", "echo x > hard00": "write-hermes", "echo x > hard19": "unknown-path"} {
		got := b.risksOf(line)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%.40s: %v, want %q", line, got, want)
		}
	}
	text, _ := json.Marshal(map[string]any{"command": many})
	for _, r := range b.tools["terminal"].(hermes.RiskAssessor).AssessRisk(t.Context(), &hermes.Call{Name: "terminal", Arguments: text, Host: b.host}) {
		if r.Key == "unknown-path" && !r.NoRemember {
			t.Error("the answer may be remembered")
		}
	}
}

// TestInputOfProgramsNamesPaths: what a running program is told may name a file that
// it writes.
func TestInputOfProgramsNamesPaths(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
	id := b.start("sleep 3000; sqlite3", nil).ID
	for data, want := range map[string]string{
		".open /home/ada/.hermes/hermes.db": "write-hermes", "open('/home/ada/.bashrc', 'a')": "write-shell-start", "select 1;": "", "print('/tmp/x')": "",
	} {
		text, _ := json.Marshal(map[string]any{"action": "submit", "session_id": id, "data": data})
		found := b.tools["process"].(hermes.RiskAssessor).AssessRisk(t.Context(), &hermes.Call{Name: "process", Arguments: text, Host: b.host})
		if hit := slices.ContainsFunc(found, func(r hermes.Risk) bool { return r.Key == want }); hit != (want != "") || want == "" && len(found) > 0 {
			t.Errorf("%s: %v, want %q", data, found, want)
		}
	}
}

// TestHardLinksOfProfilesAreFoundInAnyHome: also where the name of its folder looks like a
// pattern.
func TestHardLinksOfProfilesAreFoundInAnyHome(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "me [work] *?")
	env := filepath.Join(home, ".hermes", "profiles", "work", ".env")
	b := mustFixture(t, terminal.Config{Home: home, Hermes: filepath.Join(home, ".hermes")})
	if err := errors.Join(os.MkdirAll(filepath.Dir(env), 0o700), os.WriteFile(env, nil, 0o600), os.Link(env, filepath.Join(b.dir, "hard"))); err != nil {
		t.Fatal(err)
	}
	if got := b.risksOf("echo x > hard"); !slices.Contains(got, "write-hermes") {
		t.Errorf("risks %v", got)
	}
}
