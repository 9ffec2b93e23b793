//go:build unix

package terminal_test

import (
	"encoding/json"
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
