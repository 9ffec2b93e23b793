//go:build unix

package file_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	backend "hermes/internal/environment"
	"hermes/internal/tool/file"
)

// swapHost is a session on this machine, in which something happens at the moment
// between the judgement of a path and the change of the file.
type swapHost struct {
	hermes.Host
	local *backend.Local
	swap  func()
}

func (h *swapHost) Session() hermes.SessionRef      { return hermes.SessionRef{ID: "s"} }
func (h *swapHost) Environment() hermes.Environment { return swapEnvironment{h.local, h} }

type swapEnvironment struct {
	hermes.Environment
	host *swapHost
}

func (e swapEnvironment) Files() hermes.Files { return swapFiles{e.Environment.Files(), e.host} }

type swapFiles struct {
	hermes.Files
	host *swapHost
}

func (f swapFiles) OnHost() bool { return true }

// NoLinks keeps the swap over the view that follows no links.
func (f swapFiles) NoLinks() hermes.Files {
	if strict, ok := f.Files.(interface{ NoLinks() hermes.Files }); ok {
		return swapFiles{strict.NoLinks(), f.host}
	}
	return f
}

func (f swapFiles) now() {
	if f.host.swap != nil {
		swap := f.host.swap
		f.host.swap = nil
		swap()
	}
}

func (f swapFiles) Write(ctx context.Context, path string, data []byte, mode fs.FileMode) error {
	f.now()
	return f.Files.Write(ctx, path, data, mode)
}

func (f swapFiles) Remove(ctx context.Context, path string) error {
	f.now()
	return f.Files.Remove(ctx, path)
}

func (f swapFiles) Rename(ctx context.Context, from, to string) error {
	f.now()
	return f.Files.Rename(ctx, from, to)
}

// TestWhatIsJudgedIsWhatIsWritten: a folder or a file that becomes a link after its
// path was judged does not lead the change out of the project.
func TestWhatIsJudgedIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	const update = "*** Begin Patch\n*** Update File: sub/a.txt\n@@\n-inside\n+changed\n*** End Patch"
	const add = "*** Begin Patch\n*** Add File: sub/new.txt\n+changed\n*** End Patch"
	const remove = "*** Begin Patch\n*** Delete File: sub/a.txt\n*** End Patch"
	const move = "*** Begin Patch\n*** Update File: top.txt\n*** Move to: sub/top.txt\n@@\n-inside\n+changed\n*** End Patch"
	for name, call := range map[string]struct {
		tool string
		args args
	}{
		"write over":     {"write_file", args{"path": "sub/a.txt", "content": "changed\n"}},
		"write new":      {"write_file", args{"path": "sub/new.txt", "content": "changed\n"}},
		"write deeper":   {"write_file", args{"path": "sub/deep/er/new.txt", "content": "changed\n"}},
		"through a link": {"write_file", args{"path": "link/a.txt", "content": "changed\n"}},
		"replace":        {"patch", args{"path": "sub/a.txt", "old_string": "inside", "new_string": "changed"}},
		"update":         {"patch", args{"patch": update}},
		"add":            {"patch", args{"patch": add}},
		"delete":         {"patch", args{"patch": remove}},
		"move":           {"patch", args{"patch": move}},
	} {
		for what, swap := range map[string]func(t *testing.T, project, outside string){
			"folder": func(t *testing.T, project, outside string) {
				must(t, os.Rename(filepath.Join(project, "sub"), filepath.Join(project, "old")))
				must(t, os.Symlink(outside, filepath.Join(project, "sub")))
			},
			"file": func(t *testing.T, project, outside string) {
				for _, name := range []string{"a.txt", "new.txt", "top.txt"} {
					os.Remove(filepath.Join(project, "sub", name))
					must(t, os.Symlink(filepath.Join(outside, name), filepath.Join(project, "sub", name)))
				}
			},
		} {
			t.Run(name+", a "+what+" is swapped", func(t *testing.T) {
				t.Parallel()
				home, err := filepath.EvalSymlinks(t.TempDir())
				must(t, err)
				project, outside := filepath.Join(home, "project"), filepath.Join(home, ".hermes", "skills", "a")
				for _, dir := range []string{filepath.Join(project, "sub"), outside} {
					must(t, os.MkdirAll(dir, 0o755))
				}
				must(t, os.WriteFile(filepath.Join(project, "sub", "a.txt"), []byte("inside\n"), 0o644))
				must(t, os.WriteFile(filepath.Join(project, "top.txt"), []byte("inside\n"), 0o644))
				must(t, os.Symlink("sub", filepath.Join(project, "link")))
				must(t, os.WriteFile(filepath.Join(outside, "a.txt"), []byte("protected\n"), 0o644))
				before := tree(t, outside)

				local, err := backend.NewLocal(backend.LocalConfig{Dir: project, Home: home, Temp: t.TempDir()})
				must(t, err)
				t.Cleanup(func() { local.Close() })
				h := &swapHost{local: local}
				h.swap = func() { swap(t, project, outside) }
				raw, err := json.Marshal(call.args)
				must(t, err)
				for _, tool := range mustTools(t, file.New(file.Config{State: filepath.Join(home, ".hermes"), TrustWrites: true})) {
					if tool.Spec().Name == call.tool {
						_, err = tool.Run(t.Context(), &hermes.Call{ID: "c", Name: call.tool, Arguments: raw, Host: h})
					}
				}
				if h.swap != nil {
					t.Fatalf("nothing was changed: %v", err)
				}
				if after := tree(t, outside); after != before {
					t.Errorf("the protected folder holds %q, before it was %q (error %v)", after, before, err)
				}
				if what == "folder" && (err == nil || !strings.Contains(err.Error(), "link")) {
					t.Errorf("error %v does not say what happened", err)
				}
			})
		}
	}
}

// TestWhatIsAskedAboutIsWhatIsWritten: a path that leads to another protected file
// than the user was asked about, or that needed no question, is not written.
func TestWhatIsAskedAboutIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, after string // where the link leads; empty is an ordinary file
		asks, written bool
	}{
		"no question, then a start file": {"", ".bashrc", false, false},
		"another file of the same kind":  {".bashrc", ".zshrc", true, false},
		"the same file":                  {".bashrc", ".bashrc", true, true},
		"a free file by then":            {".bashrc", "notes.txt", true, true},
		"an ordinary file":               {"", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, file.Config{TrustWrites: true})
			link := func(to string) {
				os.Remove(w.path("x"))
				if to == "" {
					w.put("x", "old\n")
					return
				}
				must(t, os.Symlink(filepath.Join(w.home, to), w.path("x")))
			}
			for _, file := range []string{".bashrc", ".zshrc", "notes.txt"} {
				must(t, os.WriteFile(filepath.Join(w.home, file), []byte("old\n"), 0o644))
			}
			link(tt.before)
			call := w.call("write_file", args{"path": "x", "content": "new\n"})
			tool := w.tool("write_file")
			if got := len(tool.(hermes.RiskAssessor).AssessRisk(t.Context(), call)) > 0; got != tt.asks {
				t.Errorf("asks: %v, want %v", got, tt.asks)
			}
			link(tt.after)
			_, err := tool.Run(t.Context(), call)
			target := w.path("x")
			if tt.after != "" {
				target = filepath.Join(w.home, tt.after)
			}
			data, readErr := os.ReadFile(target)
			must(t, readErr)
			if got := string(data) == "new\n"; got != tt.written || (err == nil) != tt.written {
				t.Errorf("written: %v, error %v, want %v", got, err, tt.written)
			}
		})
	}
}

// TestACallThatWaitsIsNotForgotten: others may run while the user thinks.
func TestACallThatWaitsIsNotForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("x", "old\n")
	must(t, os.WriteFile(filepath.Join(w.home, ".bashrc"), []byte("old\n"), 0o644))
	tool := w.tool("write_file")
	waiting := w.call("write_file", args{"path": "x", "content": "new\n"})
	tool.(hermes.RiskAssessor).AssessRisk(t.Context(), waiting)
	for i := range 1500 {
		other := w.call("write_file", args{"path": "y", "content": "new\n"})
		other.ID = fmt.Sprint("other", i)
		tool.(hermes.RiskAssessor).AssessRisk(t.Context(), other)
		w.set.Hook().AfterTool(t.Context(), other, &hermes.Result{})
	}
	must(t, os.Remove(w.path("x")))
	must(t, os.Symlink(filepath.Join(w.home, ".bashrc"), w.path("x")))
	if _, err := tool.Run(t.Context(), waiting); err == nil || !strings.Contains(err.Error(), "approved") {
		t.Errorf("error %v", err)
	}
}

// TestADeletedLinkIsTheOneThatWasAskedAbout: the same file behind two links does not
// make them one.
func TestADeletedLinkIsTheOneThatWasAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.WriteFile(filepath.Join(w.home, ".bashrc"), nil, 0o644))
	for _, dir := range []string{"one", "two"} {
		must(t, os.Mkdir(w.path(dir), 0o755))
		must(t, os.Symlink(filepath.Join(w.home, ".bashrc"), w.path(dir+"/rc")))
	}
	must(t, os.Symlink("one", w.path("at")))
	call := w.call("patch", whole("*** Delete File: at/rc\n"))
	tool := w.tool("patch")
	if len(tool.(hermes.RiskAssessor).AssessRisk(t.Context(), call)) == 0 {
		t.Fatal("no question")
	}
	must(t, os.Remove(w.path("at")))
	must(t, os.Symlink("two", w.path("at")))
	if _, err := tool.Run(t.Context(), call); err == nil || !strings.Contains(err.Error(), "approved") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(w.path("two/rc")); err != nil {
		t.Error(err)
	}
}

// TestALinkIsJudgedByItsOwnNameToo: a start file that is a link is changed where it is,
// whatever the path is and wherever it leads.
func TestALinkIsJudgedByItsOwnNameToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.WriteFile(filepath.Join(w.home, "dotfile"), []byte("old\n"), 0o644))
	must(t, os.Symlink("dotfile", filepath.Join(w.home, ".bashrc")))
	must(t, os.Symlink(w.home, w.path("at")))
	call := w.call("patch", whole("*** Delete File: at/.bashrc\n"))
	if len(w.tool("patch").(hermes.RiskAssessor).AssessRisk(t.Context(), call)) == 0 {
		t.Error("no question")
	}
}

// TestAStoppedPatchIsUndone: the turn's end stops the patch and not its undoing.
func TestAStoppedPatchIsUndone(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	project := filepath.Join(home, "project")
	must(t, os.Mkdir(project, 0o755))
	must(t, os.WriteFile(filepath.Join(project, "a.txt"), []byte("one\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(project, "b.txt"), []byte("two\n"), 0o644))
	local, err := backend.NewLocal(backend.LocalConfig{Dir: project, Home: home, Temp: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { local.Close() })
	ctx, stop := context.WithCancel(t.Context())
	h := &swapHost{local: local}
	h.swap = func() { h.swap = stop } // at the second file
	raw, err := json.Marshal(whole("*** Update File: a.txt\n-one\n+1\n*** Update File: b.txt\n-two\n+2\n"))
	must(t, err)
	for _, tool := range mustTools(t, file.New(file.Config{})) {
		if tool.Spec().Name == "patch" {
			_, err = tool.Run(ctx, &hermes.Call{ID: "c", Name: "patch", Arguments: raw, Host: h})
		}
	}
	data, readErr := os.ReadFile(filepath.Join(project, "a.txt"))
	if err == nil || readErr != nil || string(data) != "one\n" || !strings.Contains(err.Error(), "every file is as it was before") {
		t.Errorf("a.txt has %q, %v, error %v", data, readErr, err)
	}
}

// TestProtectedFoldersMayBeLinks: Hermes' home and the user's are protected under
// the path that they lead to, as well.
func TestProtectedFoldersMayBeLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Symlink(elsewhere, filepath.Join(w.home, ".hermes")))
	w.refused("write_file", args{"path": filepath.Join(elsewhere, "config.yaml"), "content": "x"}, "Hermes")
	must(t, os.Symlink(elsewhere, w.path("h")))
	w.refused("write_file", args{"path": "h/skills/a/SKILL.md", "content": "x"}, "skill")
	home := filepath.Join(t.TempDir(), "ada")
	must(t, os.Symlink(w.home, home))
	w.env.home = home
	w.refused("write_file", args{"path": filepath.Join(w.home, ".ssh", "authorized_keys"), "content": "x"}, "credentials")
	w.refused("read_file", args{"path": filepath.Join(w.home, ".ssh", "id_x")}, "credentials")
}

func mustTools(t *testing.T, set *file.Toolset) []hermes.Tool {
	t.Helper()
	tools, err := set.Tools(t.Context())
	must(t, err)
	return tools
}

// tree is every file below a folder with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, strings.TrimPrefix(path, dir)+"="+string(data))
		return err
	}))
	return strings.Join(all, " ")
}
