package app

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/hook/script"
	"hermes/internal/trust"
	"hermes/internal/yamledit"
)

// projectHooks returns the hooks that the project of a session brings along: a set for each folder with settings, in
// which they run as if the session had begun there. They run as long as exactly these settings are trusted, from
// the bytes that were hashed: ready writes those to where they run, and returns what commands must be able to
// read for that.
func (a *App) projectHooks(run hermes.RunSpec) (sets []script.Set, ready func() ([]string, error)) {
	if run.Workspace.Elsewhere() {
		return nil, nil
	}
	p, err := a.projects()
	if err != nil {
		return nil, nil
	}
	dir := run.Workspace.Dir
	if here, err := thereOrHere(dir); err == nil {
		dir = here
	}
	cfg, err := a.config()
	found := p.look(dir)
	if found.err != nil || err != nil {
		return nil, nil
	}
	copies := copiesOf(found.project, filepath.Join(cfg.Home().HookCopies(), found.project.Hash))
	chosen := trusted(cfg, run.Workspace)
	for _, f := range found.project.Named(trust.Config) {
		entries, problems := readProjectHooks(f)
		for _, problem := range problems {
			a.log().Warn("hooks of a project", "file", f.Path, "key", problem.Key, "problem", problem.Text)
		}
		if len(entries) == 0 {
			continue
		}
		sets = append(sets, script.Set{
			Entries: entries, Project: found.project.Dir, Dir: f.Folder, Copied: copies.of, Chosen: chosen != nil && chosen(dir),
			Trusted: func() bool {
				d, err := p.decided(dir, found)
				return err == nil && d.State == trust.Trusted
			},
		})
	}
	return sets, func() ([]string, error) { return []string{copies.dir}, copies.write(a.opts.Now()) }
}

// readProjectHooks reads the hooks of a file of settings of a project. What would send away what happens in a
// session is left out.
func readProjectHooks(f trust.File) ([]script.Entry, []script.Problem) {
	section, err := hooksSection(f.Content)
	if err != nil {
		return nil, []script.Problem{{Key: "hooks", Text: "cannot be read: " + err.Error(), Served: "no hook of the file runs"}}
	}
	entries, webhooks, problems := script.Parse(section, filepath.Join(f.Folder, filepath.FromSlash(f.Name)))
	const no = "is a request: only your own settings may send what happens in a session to a service"
	if len(webhooks) > 0 {
		problems = append(problems, script.Problem{Key: "hooks.outbound", Text: no, Served: "it is not sent"})
	}
	entries = slices.DeleteFunc(entries, func(e script.Entry) bool {
		if e.Request.URL == "" {
			return false
		}
		problems = append(problems, script.Problem{Key: e.Key, Text: no, Served: "the hook does not run"})
		return true
	})
	return entries, problems
}

// hookCopies are copies of the files that a project has in .hermes/hooks, by the paths of those.
type hookCopies struct {
	dir   string
	files map[string]trust.File
}

func copiesOf(p trust.Project, dir string) hookCopies {
	c := hookCopies{dir: dir, files: map[string]trust.File{}}
	for _, f := range p.Files {
		if strings.HasPrefix(f.Name, trust.Hooks+"/") {
			c.files[filepath.Join(f.Folder, filepath.FromSlash(f.Name))] = f
		}
	}
	return c
}

// of returns the copy of a file. It need not be there yet.
func (c hookCopies) of(path string) (string, bool) {
	f, ok := c.files[path]
	if !ok {
		return "", false
	}
	return filepath.Join(c.dir, filepath.FromSlash(f.Path)), true
}

// keepCopies is how long copies stay that no session uses any more.
const keepCopies = 30 * 24 * time.Hour

// write writes the copies, and removes those of other versions that are old.
func (c hookCopies) write(now time.Time) error {
	for path, f := range c.files {
		to, _ := c.of(path)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if f.Program {
			mode = 0o700
		}
		if had, err := os.ReadFile(to); err == nil && bytes.Equal(had, f.Content) {
			if info, err := os.Lstat(to); err == nil && info.Mode() == mode {
				continue
			}
		}
		if err := atomicfile.Write(to, f.Content, atomicfile.Options{Mode: mode, Force: true}); err != nil {
			return fmt.Errorf("copy a hook of the project: %w", err)
		}
	}
	if err := os.Chtimes(c.dir, now, now); err != nil && len(c.files) > 0 {
		return err
	}
	list, err := os.ReadDir(filepath.Dir(c.dir))
	if err != nil {
		return nil // there are none
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.IsDir() && now.Sub(info.ModTime()) > keepCopies {
			_ = os.RemoveAll(filepath.Join(filepath.Dir(c.dir), e.Name()))
		}
	}
	return nil
}

// hooksSection is the section hooks of a file of settings.
func hooksSection(content []byte) (map[string]any, error) {
	d, err := yamledit.Parse(content)
	if err != nil {
		return nil, err
	}
	v, err := yamledit.Value(d.Root())
	if err != nil {
		return nil, err
	}
	all, _ := v.(map[string]any)
	section, _ := all["hooks"].(map[string]any)
	return section, nil
}
