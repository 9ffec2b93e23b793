package skill

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/internal/skill/guard"
)

// InstallOptions are the options of an installation.
type InstallOptions struct {
	Name     string // instead of the one in the frontmatter
	Category string
	// Force installs skills rated caution and overwrites local changes. Dangerous
	// skills are refused anyway.
	Force bool
	// Accept accepts that an update asks for more rights.
	Accept bool
}

// InstallReport is the result of an installation.
type InstallReport struct {
	Name    string
	Folder  string
	Updated bool
	Same    bool // nothing has changed
	Report  guard.Report
	Rights  Rights
	// Wider is what the new version asks for in addition to the old one.
	Wider []string
}

// RefusedError means that the policy does not allow an installation.
type RefusedError struct {
	Name    string
	Verdict guard.Verdict
	Trust   guard.Trust
	Report  guard.Report
}

// Error returns the verdict and what can be done.
func (e *RefusedError) Error() string {
	next := "not installed; --force does not change that"
	if e.Verdict == guard.Caution {
		next = "read the findings, then use --force if you trust it"
	}
	return fmt.Sprintf("the scan rates %q (trust: %s) as %s: %s; %s", e.Name, e.Trust, e.Verdict, strings.Join(e.Report.Serious(), "; "), next)
}

// WiderError means that an update asks for more than the installed version.
type WiderError struct {
	Name  string
	Wider []string
}

// Error lists what is new.
func (e *WiderError) Error() string {
	return fmt.Sprintf("the new version of %q asks for more than the installed one: %s; accept it with --accept-rights", e.Name, strings.Join(e.Wider, ", "))
}

// ErrEdited means that an update would overwrite local changes.
var ErrEdited = errors.New("it has local changes; use --force to overwrite them (the old files go to the archive)")

// Install puts a package into quarantine, scans it, and moves it into the library
// if the policy allows it. It replaces a skill of the same name only if that is
// an older version of the package.
func (l *Library) Install(ctx context.Context, p Package, o InstallOptions) (InstallReport, error) {
	p, m, err := prepare(p, o)
	if err != nil {
		return InstallReport{}, err
	}
	out := InstallReport{Name: m.Name, Rights: RightsOf(p.Files)}
	out.Report = Scan(p.Files)
	verdict := out.Report.Verdict()
	quarantine, err := l.quarantine(m.Name, p.Files)
	if err != nil {
		return out, err
	}
	if guard.Decide(p.Trust, verdict, o.Force) != guard.Install {
		l.logInstall("refused", m.Name, p, verdict)
		return out, &RefusedError{Name: m.Name, Verdict: verdict, Trust: p.Trust, Report: out.Report}
	}
	defer os.RemoveAll(quarantine)
	done, err := l.exclusive(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	if err := l.replaceable(ctx, &out, p, o); err != nil || out.Same {
		return out, err
	}
	return out, l.activate(ctx, &out, p, o, m, quarantine)
}

// prepare checks a package and gives it the requested name.
func prepare(p Package, o InstallOptions) (Package, Meta, error) {
	p, err := p.Named(o.Name)
	if err != nil {
		return p, Meta{}, err
	}
	m, _, err := Parse(p.Files[p.main()].Data)
	if err != nil {
		return p, m, fmt.Errorf("SKILL.md of %s: %w", p.Identifier, err)
	}
	return p, m, CheckCategory(o.Category)
}

// quarantine writes the files to a folder that nothing uses. Files with an unsafe
// path are not written; the scan has reported them.
func (l *Library) quarantine(name string, files []guard.File) (string, error) {
	folder := filepath.Join(l.hubFolder(), "quarantine", name+"-"+strings.ToLower(rand.Text()[:6]))
	if err := l.cfg.Home.Make(filepath.Dir(folder)); err != nil {
		return "", err
	}
	tree := map[string][]byte{}
	for _, f := range files {
		if f.Target == "" && safePath(f.Path) && len(f.Data) <= guard.MaxTotal {
			tree[f.Path] = f.Data
		}
	}
	if err := writeTree(folder, tree); err != nil {
		return "", fmt.Errorf("put %q into quarantine: %w", name, err)
	}
	return folder, nil
}

// replaceable checks that the name is free or belongs to the same package. The
// caller holds the exclusive lock.
func (l *Library) replaceable(ctx context.Context, out *InstallReport, p Package, o InstallOptions) error {
	it, err := l.find(ctx, out.Name)
	if errors.Is(err, hermes.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	lock, err := l.Installed()
	if err != nil {
		return err
	}
	old, ours := lock.Skills[out.Name]
	if !ours || old.Source != p.Source || old.Identifier != p.Identifier {
		if it.bundled != nil && o.Force {
			return nil // the installed one wins over the bundled one
		}
		return fmt.Errorf("there is already a %s skill %q; use --name to install this one under another name", it.source, out.Name)
	}
	out.Updated = true
	sum, _ := hashFiles(p.Files)
	now, err := l.StateOf(out.Name, old)
	switch {
	case err != nil:
		return err
	case now == Edited && !o.Force:
		return fmt.Errorf("the skill %q: %w", out.Name, ErrEdited)
	case sum == old.Hash && now == Intact:
		out.Same, out.Folder = true, it.folder
		return nil
	}
	if out.Wider = out.Rights.Wider(old.Rights); len(out.Wider) > 0 && !o.Accept {
		return &WiderError{Name: out.Name, Wider: out.Wider}
	}
	return nil
}

// activate moves the quarantined files into the library and records them.
func (l *Library) activate(ctx context.Context, out *InstallReport, p Package, o InstallOptions, m Meta, quarantine string) error {
	category := o.Category
	if category == "" && CheckCategory(m.Category) == nil && l.placeable(filepath.Join(l.cfg.Home.Skills(), m.Category, m.Name)) == nil {
		category = m.Category
	}
	lock, err := l.Installed()
	if err != nil {
		return err
	}
	now := l.cfg.Now().UTC()
	rec := Installed{
		Source: p.Source, Identifier: p.Identifier, Version: cmp.Or(p.Version, m.Version), Trust: p.Trust,
		Verdict: out.Report.Verdict(), Rights: out.Rights, At: now, Folder: joinSlash(category, m.Name),
	}
	rec.Hash, rec.Files = hashFiles(p.Files)
	var before string // the folder of the old version
	if old, ok := lock.Skills[m.Name]; ok && out.Updated {
		rec.At, rec.Updated, rec.Folder = old.At, now, old.Folder
		before = l.installedFolder(old)
	}
	out.Folder = l.installedFolder(rec)
	return l.cfg.Record(ctx, "person", "install the skill "+m.Name, []string{out.Folder, l.lockFile()}, func() error {
		if before != "" {
			it := item{entry: &entry{meta: Meta{Name: m.Name}}, folder: before}
			if _, err := l.archive(it, "updated"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := errors.Join(l.placeable(out.Folder), vacant(out.Folder)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(out.Folder), 0o700); err != nil {
			return err
		}
		if err := os.Rename(quarantine, out.Folder); err != nil {
			return err
		}
		l.logInstall("installed", m.Name, p, rec.Verdict)
		return l.changeLock(ctx, func(k *Lock) error { k.Skills[m.Name] = rec; return nil })
	})
}

func joinSlash(category, name string) string {
	if category == "" {
		return name
	}
	return category + "/" + name
}

// installedFolder returns the folder of an installed skill. A record with a path
// outside the skills folder is ignored.
func (l *Library) installedFolder(rec Installed) string {
	if !safePath(rec.Folder) {
		return filepath.Join(l.hubFolder(), "quarantine", "nowhere")
	}
	return filepath.Join(l.cfg.Home.Skills(), filepath.FromSlash(rec.Folder))
}
