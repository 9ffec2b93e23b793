package cmd_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/chatserver"
)

var wished = regexp.MustCompile(`(?m)^CALL (\w+) (\{.*\})$`)

// newWorker is a user whose model makes the calls of the newest message.
func newWorker(t *testing.T) *user {
	t.Helper()
	return newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		said, done := "", 0
		for _, m := range r.Messages {
			switch m.Role {
			case "user":
				said, done = m.Text(), 0
			case "tool":
				done++
			}
		}
		calls := wished.FindAllStringSubmatch(said, -1)
		if len(r.Tools) == 0 || done >= len(calls) {
			return chatserver.Answer{Text: "Done."}, nil
		}
		return call(calls[done][1], json.RawMessage(calls[done][2])), nil
	})...)
}

// work has the agent make calls in a session of its own.
func (p *user) work(calls ...string) {
	p.t.Helper()
	p.must("--yolo", "-m", "played", "-z", strings.Join(calls, "\n"))
}

func (p *user) put(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *user) get(name string) string {
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return "gone"
	}
	return string(data)
}

// contents returns everything that is in a folder, with modes.
func contents(t *testing.T, dir string, except ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if slices.Contains(except, rel) {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		out[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kinds is what changes of each kind made of a user's home and folder. Of learnings it is their list.
func (p *user) kinds() map[string]string {
	p.t.Helper()
	out := contents(p.t, p.dir)
	for _, name := range []string{"config.yaml", "permissions.yaml", "memories/MEMORY.md", "trust.json"} {
		data, err := os.ReadFile(filepath.Join(p.home, name))
		if err != nil {
			data = []byte("gone")
		}
		out[name] = strings.TrimSuffix(string(data), "gone")
	}
	for _, name := range []string{"one", "two"} {
		data, _ := os.ReadFile(filepath.Join(p.home, "skills", name, "SKILL.md"))
		out["skill "+name] = string(data)
	}
	out["learnings"] = p.must("learning", "list", "--all")
	return out
}

const grantsAtFirst = `# mine
grants:
  - {tool: terminal, key: delete, subject: rm -rf build, platform: cli}
  - {tool: terminal, key: force-push, platform: cli}
`

// TestUndoOfEverythingGivesTheFirstState makes random changes of every kind through the program,
// with edits of the user in between. One undo gives the first state byte for byte, with the
// user's edits, and undoing the undos gives the state before.
func TestUndoOfEverythingGivesTheFirstState(t *testing.T) {
	t.Parallel()
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 8))
			p := newWorker(t)
			p.configure("# mine\nagent: {max_turns: 40}\n")
			if err := os.WriteFile(filepath.Join(p.home, "permissions.yaml"), []byte(grantsAtFirst), 0o600); err != nil {
				t.Fatal(err)
			}
			p.put("both.txt", "top\n"+strings.Repeat("between\n", 5)+"bottom\n")
			p.put("work/first", "first\n")
			p.put("mine/first", "first\n")
			want := p.kinds()
			shell := func(format string, args ...any) {
				line, _ := json.Marshal(map[string]string{"command": fmt.Sprintf(format, args...)})
				p.work("CALL terminal " + string(line))
			}
			grants := regexp.MustCompile(`(?m)^[0-9a-f]{8}\b`).FindAllString(p.must("permissions"), -1)
			if len(grants) != 2 {
				t.Fatalf("grants: %v", grants)
			}
			skills := []string{"one", "two"}
			other, declined := t.TempDir(), false // a project
			if err := os.Mkdir(filepath.Join(other, ".hermes"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(other, ".hermes", "permissions.yaml"), []byte("rules:\n- allow: 'terminal: make'\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for i := range 14 {
				kind := r.IntN(10)
				if i < 10 {
					kind = (i + seed) % 10 // each at least once
				}
				switch n := r.IntN(4); kind {
				case 0:
					shell("mkdir -p work/d%d && printf 'text %d' > work/d%d/f && chmod 7%d0 work/d%d/f", n, i, n, n, n)
				case 1:
					shell("mv work/first work/moved%d; rm -rf work/d%d; printf '%d' > work/first", i, n, i)
				case 2:
					p.work(fmt.Sprintf(`CALL write_file {"path":"work/n%d/new","content":"new\n"}`, i), fmt.Sprintf(`CALL patch {"path":"work/n%d/new","old_string":"new","new_string":"newer"}`, i))
				case 3:
					shell("sed -i 's/^bottom.*/bottom %d/' both.txt", i)
				case 4: // the user
					p.put(fmt.Sprint("mine/n", n), fmt.Sprint(i))
					_, rest, _ := strings.Cut(p.get("both.txt"), "\n")
					p.put("both.txt", fmt.Sprintf("top %d\n%s", i, rest))
					mine := contents(t, p.dir)
					for name := range mine {
						if strings.HasPrefix(name, "mine") {
							want[name] = mine[name]
						}
					}
					want["both.txt"] = mine["both.txt"][:strings.Index(mine["both.txt"], " ")] + fmt.Sprintf(" top %d\n%sbottom\n", i, strings.Repeat("between\n", 5))
				case 5:
					p.must("memory", "add", fmt.Sprintf("Fact %d is true.", i))
				case 6:
					if len(skills) > 0 {
						args, _ := json.Marshal(map[string]string{"action": "create", "name": skills[0], "content": "---\nname: " + skills[0] + "\ndescription: Brew tea\n---\n# Steps\nBoil water.\n"})
						p.work("CALL skill_manage " + string(args))
						skills = skills[1:]
					}
				case 7:
					p.must("config", "set", "agent.max_turns", fmt.Sprint(50+i))
					p.must("learning", "add", fmt.Sprintf("error: number %d is odd", i), "add one")
				case 8:
					if len(grants) > 0 {
						p.must("permissions", "unattended", grants[0])
						p.must("permissions", "revoke", grants[0])
						grants = grants[1:]
					}
				case 9:
					p.must("trust", map[bool]string{true: "revoke", false: "decline"}[declined], other)
					declined = !declined
				}
			}
			before := p.kinds()
			if d := cmp.Diff(want, before); d == "" {
				t.Fatal("nothing was changed")
			}
			p.must("undo", "--since", "1h", "--preview")
			if d := cmp.Diff(before, p.kinds()); d != "" {
				t.Fatalf("a preview changes (-before +now):\n%s", d)
			}
			p.must("undo", "--since", "1h", "--yes")
			if d := cmp.Diff(want, p.kinds()); d != "" {
				t.Fatalf("undone (-first +now):\n%s", d)
			}
			for _, c := range p.changes() {
				if c.Undo {
					p.must("undo", c.ID, "--yes")
				}
			}
			if d := cmp.Diff(before, p.kinds()); d != "" {
				t.Fatalf("redone (-before +now):\n%s", d)
			}
		})
	}
}

// oneChange is a line of `hermes undo list --json`.
type oneChange struct {
	ID, Kind, What, By string
	Undone, Undo       bool
}

func (p *user) changes() []oneChange {
	p.t.Helper()
	return into[[]oneChange](p.t, p.must("undo", "list", "--json"))
}

// TestUndoIsOfTheNewestChangeOfAnyKind undoes one change after the other.
func TestUndoIsOfTheNewestChangeOfAnyKind(t *testing.T) {
	t.Parallel()
	p := newWorker(t)
	p.put("a.txt", "old\n")
	p.work(`CALL read_file {"path":"a.txt"}`, `CALL write_file {"path":"a.txt","content":"new\n"}`)
	p.must("config", "set", "agent.max_turns", "9")
	p.must("memory", "add", "The kettle is blue.")
	p.work(`CALL write_file {"path":"b.txt","content":"b\n"}`)
	var kinds []string
	for _, c := range p.changes() {
		kinds = append(kinds, c.Kind+" "+c.By)
	}
	if d := cmp.Diff([]string{"file write_file", "memory person", "config person", "file write_file"}, kinds); d != "" {
		t.Errorf("the list:\n%s", d)
	}
	if out := p.must("undo", "list"); !strings.Contains(out, "write_file: b.txt in ") {
		t.Errorf("the list: %s", out)
	}
	out, errs, status := p.run("undo")
	if status != 1 || !strings.Contains(out, "-b\n") || !strings.Contains(errs, "--yes") || p.get("b.txt") != "b\n" {
		t.Errorf("without a terminal: status %d, %s%s", status, out, errs)
	}
	for i, want := range []string{"write_file: b.txt", "kettle", "max_turns", "write_file: a.txt"} {
		if out := p.must("undo", "--yes"); !strings.Contains(out, want) || !strings.Contains(out, "Undid 1 change.") {
			t.Errorf("undo %d: %s, want %q", i, out, want)
		}
	}
	if p.get("a.txt") != "old\n" || p.get("b.txt") != "gone" {
		t.Errorf("%q %q", p.get("a.txt"), p.get("b.txt"))
	}
	if out := p.must("undo", "--yes"); !strings.Contains(out, "Nothing to undo.") {
		t.Errorf("at the end: %s", out)
	}
	for _, c := range p.changes() {
		if c.Undone == c.Undo {
			t.Errorf("after all is undone: %+v", c)
		}
		if c.Undo && c.Kind == "config" { // redo it, and undo it again
			p.must("undo", c.ID, "--yes")
			if out := p.must("undo", "--yes"); !strings.Contains(out, "max_turns") {
				t.Errorf("after a redo: %s", out)
			}
		}
	}
	newest := p.changes()[slices.IndexFunc(p.changes(), func(c oneChange) bool { return c.Kind == "file" })]
	if !newest.Undo || newest.Undone {
		t.Errorf("the newest is %+v", newest)
	}
	p.must("undo", newest.ID, "--yes") // redo
	if p.get("a.txt") != "new\n" {
		t.Errorf("redone: %q", p.get("a.txt"))
	}
	p.must("undo", "--yes") // which can be undone again
	if p.get("a.txt") != "old\n" {
		t.Errorf("undone again: %q", p.get("a.txt"))
	}
}

// TestWhatCannotBeUndoneIsNamed: a conflict keeps what the user wrote, the other changes are
// undone, and the exit status says that something was not.
func TestWhatCannotBeUndoneIsNamed(t *testing.T) {
	t.Parallel()
	p := newWorker(t)
	p.put("a.txt", "old\n")
	p.work(`CALL read_file {"path":"a.txt"}`, `CALL write_file {"path":"a.txt","content":"new\n"}`, `CALL write_file {"path":"b.txt","content":"b\n"}`)
	p.must("config", "set", "agent.max_turns", "9")
	p.configure("# by hand\n" + p.file("config.yaml"))
	p.put("a.txt", "mine\n")
	byHand := p.file("config.yaml")
	out, errs, status := p.run("undo", "--since", "1h", "--yes")
	if status != 1 || !strings.Contains(errs, "2 of 3 changes could not be undone") || !strings.Contains(errs, "a.txt: you and the agent changed it in the same lines") ||
		!strings.Contains(errs, "config.yaml: the file has changed since") || !strings.Contains(out, "conflict: a.txt") || !strings.Contains(out, "Undid 1 change.") {
		t.Errorf("status %d\n%s\n%s", status, out, errs)
	}
	if p.get("a.txt") != "mine\n" || p.get("b.txt") != "gone" || p.file("config.yaml") != byHand {
		t.Errorf("%q %q %q", p.get("a.txt"), p.get("b.txt"), p.file("config.yaml"))
	}
	out, _, status = p.run("undo", "--since", "1h", "--yes", "--json")
	got := into[struct {
		Undone int
		Failed []struct{ What, Why string }
	}](t, out)
	if status != 1 || got.Undone != 0 || len(got.Failed) != 2 {
		t.Errorf("--json: status %d, %+v", status, got)
	}
	if _, errs, status := p.run("undo", "--json"); status != 2 || !strings.Contains(errs, "--preview") {
		t.Errorf("--json without an answer: status %d, %s", status, errs)
	}
}

// TestUndoSaysWhatItDid: what changed nothing does not count, and a time that cannot be meant
// undoes nothing.
func TestUndoSaysWhatItDid(t *testing.T) {
	t.Parallel()
	p := newWorker(t)
	p.put("a.txt", "old\n")
	p.work(`CALL read_file {"path":"a.txt"}`, `CALL write_file {"path":"a.txt","content":"new\n"}`, `CALL write_file {"path":"a.txt","content":"old\n"}`)
	p.must("config", "set", "agent.max_turns", "9")
	id := p.changes()[0].ID
	for _, args := range [][]string{{"--since", ""}, {"--since", "2999-01-01"}, {id, "--since", "1h"}} {
		if out, errs, status := p.run(append([]string{"undo", "--yes"}, args...)...); status != 2 {
			t.Errorf("%q: status %d, %s%s", args, status, out, errs)
		}
	}
	if out := p.must("undo", "--json", "--preview"); !strings.Contains(out, `"diff": "--- `) || !strings.Contains(out, "-  max_turns: 9") {
		t.Errorf("--json hides what becomes of the settings: %s", out)
	}
	if out := p.must("undo", "--since", "1h", "--yes"); !strings.Contains(out, "Undid 1 change.") || !strings.Contains(out, "undo each other") {
		t.Errorf("two writes that undo each other: %s", out)
	}
	// A folder that the agent made has a file of the user.
	p.work(`CALL terminal {"command":"mkdir made"}`)
	p.put("made/mine.txt", "mine\n")
	if out, errs, status := p.run("undo", "--yes"); status != 1 || strings.Contains(out, "Undid") || !strings.Contains(errs, "made: the folder has files that stay") {
		t.Errorf("a folder that stays: status %d, %s%s", status, out, errs)
	}
	if p.get("made/mine.txt") != "mine\n" {
		t.Error("the user's file is gone")
	}
}
