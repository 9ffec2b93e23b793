package cmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// repository makes the user's folder a repository with a commit.
func (p *user) repository() {
	p.t.Helper()
	real, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	p.dir = real
	if err := os.WriteFile(filepath.Join(p.dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
}

func (p *user) git(args ...string) string {
	p.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = p.dir
	out, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %s", args, out)
	}
	return strings.TrimSpace(string(out))
}

// trees is what `hermes worktree list --json` says.
func (p *user) trees() (all []struct {
	Name, Path, Branch string
	Sessions           []string
	Lost               []string `json:"would_be_lost"`
}) {
	p.t.Helper()
	out, errs, status := p.run("worktree", "list", "--json")
	if err := json.Unmarshal([]byte(out), &all); err != nil || status != 0 {
		p.t.Fatalf("status %d: %v: %s%s", status, err, out, errs)
	}
	return all
}

// writing is a model that writes a file if it is told to, and says hello.
func writing(r *chatserver.Request) (chatserver.Answer, error) {
	if results(r) == 0 && strings.Contains(r.Messages[len(r.Messages)-1].Text(), "write") {
		return call("write_file", map[string]string{"path": "new.txt", "content": "new\n"}), nil
	}
	return chatserver.Answer{Text: "hello"}, nil
}

// TestARunInAWorktree leaves the user's folder alone; what it made is kept, listed, and removed only by force.
func TestARunInAWorktree(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, writing)...)
	p.repository()
	out, errs, status := p.run("-w", "-z", "write it", "-m", "played")
	if status != 0 || out != "hello\n" || !strings.Contains(errs, "Working in the worktree "+filepath.Join(p.dir, ".worktrees")) || !strings.Contains(errs, "is kept") || !strings.Contains(errs, "1 new file: new.txt") {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "new.txt")); err == nil || p.git("status", "--porcelain") != "" {
		t.Error("the user's folder was changed")
	}
	all := p.trees()
	if len(all) != 1 || len(all[0].Sessions) != 1 || len(all[0].Lost) != 1 || !strings.HasPrefix(all[0].Branch, "hermes/") {
		t.Fatalf("listed: %+v", all)
	}
	if out, _, _ := p.run("worktree"); !strings.Contains(out, all[0].Name) || !strings.Contains(out, "new.txt") {
		t.Errorf("the table: %s", out)
	}
	if out, errs, status := p.run("worktree", "remove", all[0].Name); status != 1 || !strings.Contains(errs, "1 new file: new.txt") || !strings.Contains(errs, "--force") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if out, errs, status := p.run("worktree", "remove", all[0].Name, "--force"); status != 0 || !strings.Contains(out, "Lost: 1 new file: new.txt") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if len(p.trees()) > 0 || p.git("branch", "--list", "hermes/*") != "" {
		t.Error("something is left")
	}
	if _, errs, status := p.run("worktree", "remove", "nope"); status == 0 || !strings.Contains(errs, "hermes worktree list") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestASessionGoesBackToItsWorktree when it is resumed: also to one that was removed because it held nothing.
func TestASessionGoesBackToItsWorktree(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("worktrees are kept here")
	}
	p := newUser(t, serve(t, writing)...)
	p.repository()
	_, errs, status := p.run("--worktree", "-z", "hi", "-m", "played", "--usage-file", "usage.json")
	if status != 0 || !strings.Contains(errs, "was removed: nothing in it would be lost") || len(p.trees()) > 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	path := regexp.MustCompile(`worktree (/\S+),`).FindStringSubmatch(errs)[1]
	raw, err := os.ReadFile(filepath.Join(p.dir, "usage.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.dir, "usage.json")); err != nil {
		t.Fatal(err)
	}
	var u struct {
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal(raw, &u); err != nil {
		t.Fatal(err)
	}
	_, errs, status = p.run("--resume", u.Session, "-z", "write it", "-m", "played")
	if status != 0 || !strings.Contains(errs, "It was made again: "+path) || !strings.Contains(errs, "1 new file: new.txt") {
		t.Errorf("status %d: %s", status, errs)
	}
	if all := p.trees(); len(all) != 1 || all[0].Path != path || all[0].Sessions[0] != u.Session {
		t.Errorf("%+v", all)
	}
	if _, errs, status := p.run("--resume", u.Session, "-w", "-z", "hi", "-m", "played"); status != 2 || !strings.Contains(errs, "keeps its folder") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestTheSettingWorktree makes one for each new session; where there is no repository it says so and goes on, and the
// option does not. worktree_sync begins from the remote branch.
func TestTheSettingWorktree(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, writing)...)
	p.configure("worktree: true\n")
	if out, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 || out != "hello\n" || !strings.Contains(errs, "No worktree is made") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if out, errs, status := p.run("-w", "-z", "hi", "-m", "played"); status != 1 || !strings.Contains(errs, "git init") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	p.repository()
	if _, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 || !strings.Contains(errs, "Working in the worktree") {
		t.Errorf("status %d: %s", status, errs)
	}
	if _, errs, status := p.run("--worktree=false", "-z", "hi", "-m", "played"); status != 0 || strings.Contains(errs, "orktree") {
		t.Errorf("status %d: %s", status, errs)
	}
	origin := p.dir
	p.dir = filepath.Join(t.TempDir(), "clone")
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.git("clone", "-q", origin, ".")
	if out, err := exec.Command("git", "-C", origin, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "later", "--allow-empty").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	if _, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 || !strings.Contains(errs, "ahead of main") {
		t.Errorf("status %d: %s", status, errs)
	}
	p.configure("worktree: true\nworktree_sync: false\n")
	if _, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 || strings.Contains(errs, "ahead of main") {
		t.Errorf("status %d: %s", status, errs)
	}
}
