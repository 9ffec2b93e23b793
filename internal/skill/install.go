package skill

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/policy"
	"hermes/internal/skill/guard"
	"hermes/internal/yamledit"
)

// Package is a skill as it came from elsewhere.
type Package struct {
	Source, Identifier string
	Version            string
	Trust              guard.Trust
	Files              []guard.File
}

// InstallOptions are the person's wishes.
type InstallOptions struct {
	Name     string // instead of the one in the frontmatter
	Category string
	// Force installs what is of caution, and over local changes; it does not
	// help what is dangerous.
	Force bool
	// Accept agrees to wider rights of an update.
	Accept bool
}

// InstallReport tells how an installation went.
type InstallReport struct {
	Name    string
	Folder  string
	Updated bool
	Same    bool // nothing had changed
	Report  guard.Report
	Rights  Rights
	// Wider is what the new version asks for beyond the old one.
	Wider []string
}

// RefusedError is an installation that the policy does not allow.
type RefusedError struct {
	Name    string
	Verdict guard.Verdict
	Trust   guard.Trust
	Report  guard.Report
}

// Error tells the verdict and what can be done.
func (e *RefusedError) Error() string {
	next := "it is not installed, and --force does not change that"
	if e.Verdict == guard.Caution {
		next = "read the findings, then install it with --force if you trust it"
	}
	return fmt.Sprintf("the scan of %q (%s source) says %s: %s; %s", e.Name, e.Trust, e.Verdict, strings.Join(e.Report.Serious(), "; "), next)
}

// WiderError is an update that asks for more than the version before.
type WiderError struct {
	Name  string
	Wider []string
}

// Error lists what is new.
func (e *WiderError) Error() string {
	return fmt.Sprintf("the new version of %q asks for more than the installed one: %s; allow it with --accept-rights", e.Name, strings.Join(e.Wider, ", "))
}

// ErrEdited is an update of a skill that was changed here.
var ErrEdited = errors.New("it was changed here; --force replaces the changes, the old files go to the archive")

// Install puts a package into quarantine, looks at it there, and moves it into
// the library if the policy allows. What was there under the name before must
// be the same package.
func (l *Library) Install(ctx context.Context, p Package, o InstallOptions) (InstallReport, error) {
	p, m, err := prepare(p, o)
	if err != nil {
		return InstallReport{}, err
	}
	out := InstallReport{Name: m.Name, Rights: RightsOf(p.Files)}
	out.Report = guard.Scan(p.Files, guard.Options{Injection: policy.Injection})
	verdict := out.Report.Verdict()
	quarantine, err := l.quarantine(m.Name, p.Files)
	if err != nil {
		return out, err
	}
	if guard.Decide(p.Trust, verdict, o.Force) != guard.Install {
		l.audit("refused", m.Name, p, verdict)
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
	return out, l.settleIn(ctx, &out, p, o, m, quarantine)
}

// prepare checks what came and gives it the wanted name.
func prepare(p Package, o InstallOptions) (Package, Meta, error) {
	p, err := p.Named(o.Name)
	if err != nil {
		return p, Meta{}, err
	}
	m, _, err := Parse(p.Files[p.main()].Data)
	if err != nil {
		return p, m, fmt.Errorf("the SKILL.md of %s: %w", p.Identifier, err)
	}
	return p, m, CheckCategory(o.Category)
}

// main is the place of SKILL.md among the files, -1 without one.
func (p Package) main() int {
	return slices.IndexFunc(p.Files, func(f guard.File) bool { return f.Path == mainFile })
}

// Named is the package under another name; an empty one leaves its own.
func (p Package) Named(name string) (Package, error) {
	at := p.main()
	if at < 0 {
		return p, fmt.Errorf("%s has no SKILL.md, so it is no skill", p.Identifier)
	}
	if name == "" {
		return p, nil
	}
	if m, _, err := Parse(p.Files[at].Data); err == nil && m.Name == name {
		return p, nil
	}
	if err := CheckName(name); err != nil {
		return p, err
	}
	renamed, err := rename(p.Files[at].Data, name)
	if err != nil {
		return p, fmt.Errorf("%s: %w", p.Identifier, err)
	}
	p.Files = slices.Clone(p.Files)
	p.Files[at].Data = renamed
	return p, nil
}

// rename gives a SKILL.md another name.
func rename(text []byte, name string) ([]byte, error) {
	head, body, err := split(text)
	if err != nil {
		return nil, err
	}
	head, err = yamledit.Set(head, []string{"name"}, name)
	if err != nil {
		return nil, err
	}
	return []byte("---\n" + strings.TrimRight(string(head), "\n") + "\n---\n" + body), nil
}

// quarantine writes the files where nothing uses them. What has no safe path
// is not written; the scan has found it.
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

// replaceable checks that the name is free or the same package's. Hold the
// exclusive lock.
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
			return nil // the installed one stands before it
		}
		return fmt.Errorf("there is a %s skill %q already; install this one under another name with --name", it.source, out.Name)
	}
	out.Updated = true
	sum, _ := hashFiles(p.Files)
	now, err := l.state(out.Name, old)
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

// settleIn moves the quarantined files into the library and books them.
func (l *Library) settleIn(ctx context.Context, out *InstallReport, p Package, o InstallOptions, m Meta, quarantine string) error {
	category := o.Category
	if category == "" && CheckCategory(m.Category) == nil {
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
	var before string // the folder of the version before
	if old, ok := lock.Skills[m.Name]; ok && out.Updated {
		rec.At, rec.Updated, rec.Folder = old.At, now, old.Folder
		before = l.installedFolder(old)
	}
	out.Folder = l.installedFolder(rec)
	return l.cfg.Around(ctx, "person", "install the skill "+m.Name, []string{out.Folder, l.lockFile()}, func() error {
		if before != "" {
			it := item{entry: &entry{meta: Meta{Name: m.Name}}, folder: before}
			if _, err := l.archive(it, "updated"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if _, err := os.Lstat(out.Folder); err == nil {
			return fmt.Errorf("the folder %s is in the way; move it away first", out.Folder)
		}
		if err := os.MkdirAll(filepath.Dir(out.Folder), 0o700); err != nil {
			return err
		}
		if err := os.Rename(quarantine, out.Folder); err != nil {
			return err
		}
		l.audit("installed", m.Name, p, rec.Verdict)
		return l.changeLock(ctx, func(k *Lock) error { k.Skills[m.Name] = rec; return nil })
	})
}

func joinSlash(category, name string) string {
	if category == "" {
		return name
	}
	return category + "/" + name
}

// installedFolder is where an installed skill lies. A record that says
// anything but a place in the skills folder is not followed.
func (l *Library) installedFolder(rec Installed) string {
	if !safePath(rec.Folder) {
		return filepath.Join(l.hubFolder(), "quarantine", "nowhere")
	}
	return filepath.Join(l.cfg.Home.Skills(), filepath.FromSlash(rec.Folder))
}

// hashFiles is the hash of all files that are kept, and of each.
func hashFiles(files []guard.File) (string, map[string]string) {
	each := map[string]string{}
	for _, f := range files {
		if f.Target == "" && safePath(f.Path) {
			each[f.Path] = hash(f.Data)
		}
	}
	return joinHashes(each), each
}

func joinHashes(each map[string]string) string {
	names := make([]string, 0, len(each))
	for name := range each {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name + "\x00" + each[name] + "\n")
	}
	return hash([]byte(b.String()))
}

// State is how an installed skill stands on disk.
type State string

// The states.
const (
	Intact State = "intact"
	Edited State = "edited here"
	Gone   State = "missing"
)

// state compares an installed skill with its record.
func (l *Library) state(name string, rec Installed) (State, error) {
	files, err := guard.Read(l.installedFolder(rec))
	if errors.Is(err, fs.ErrNotExist) {
		return Gone, nil
	}
	if err != nil {
		return "", fmt.Errorf("look at the skill %q: %w", name, err)
	}
	if sum, _ := hashFiles(files); sum != rec.Hash {
		return Edited, nil
	}
	return Intact, nil
}

// StateOf is how an installed skill stands on disk.
func (l *Library) StateOf(name string, rec Installed) (State, error) { return l.state(name, rec) }

// Audited is an installed skill, looked at anew.
type Audited struct {
	Name   string
	Record Installed
	State  State
	Report guard.Report
}

// Audit scans what is installed again, with the rules of today.
func (l *Library) Audit(ctx context.Context) ([]Audited, error) {
	lock, err := l.Installed()
	if err != nil {
		return nil, err
	}
	var out []Audited
	for name, rec := range lock.Skills {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a := Audited{Name: name, Record: rec}
		if a.State, err = l.state(name, rec); err != nil {
			return nil, err
		}
		if files, err := guard.Read(l.installedFolder(rec)); err == nil {
			a.Report = guard.Scan(files, guard.Options{Injection: policy.Injection})
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Audited) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// audit adds a line to the log of installations.
func (l *Library) audit(what, name string, p Package, v guard.Verdict) {
	line, err := json.Marshal(map[string]any{
		"at": l.cfg.Now().UTC(), "what": what, "name": name, "source": p.Source, "identifier": p.Identifier, "trust": p.Trust, "verdict": v,
	})
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(l.hubFolder(), "audit.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // the installation itself is in the lock file
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// Hash is that of all files, as the record of an installation has it.
func (p Package) Hash() string {
	sum, _ := hashFiles(p.Files)
	return sum
}
