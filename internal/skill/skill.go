// Package skill manages skills: folders with a SKILL.md, as agentskills.io
// describes it, and other files. It owns finding and validating skills, the list
// in the system prompt, changes and their approval, usage counts, the curator,
// and the record of installed skills with their content hashes.
//
// If several sources have a skill of one name, the first wins: the project's
// folders (only while their content is trusted), the skills folder of the home,
// configured folders, the built-in set.
//
// The package calls no service and no model. Package skill/hub fetches skills,
// and skill/guard scans them. Start at New, then source.go (finding), save.go
// (what may change), write.go (writing) and install.go (installing).
package skill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/home"
)

// Config is what New needs.
type Config struct {
	Home home.Dir
	// Bundled is the built-in set; nil means the one in the program.
	Bundled fs.FS
	// External are additional read-only folders. CreateDir, if set, is where new
	// skills go instead of the home's folder.
	External  []string
	CreateDir string
	// Disabled are the names of skills that are never offered, and PlatformDisabled of those
	// that are not offered on a platform such as telegram.
	Disabled         []string
	PlatformDisabled map[string][]string
	// OS is the operating system, named as in runtime.GOOS.
	OS string
	// Approve makes every change of the agent wait for the user's approval.
	// Guard scans what the agent writes.
	Approve, Guard bool
	// Getenv looks up a skill's variables; nil means that none is set.
	Getenv func(string) string
	// KeyOf says whose key a variable holds if it never reaches commands, and ""
	// for others; nil knows none.
	KeyOf func(name string) string
	Now   func() time.Time // nil is time.Now
	// Record runs a change and records it for undo. by is a session's id or
	// "person"; paths are what write may change. Nil only calls write.
	Record func(ctx context.Context, by, what string, paths []string, write func() error) error
}

// Library is the set of skills as one project sees it. It is safe for concurrent use.
type Library struct {
	cfg     Config
	project string // folder, empty for none
	on      string // platform, empty for none
	memory  *memory
	approve *atomic.Bool
}

var _ hermes.SkillLibrary = (*Library)(nil)

// New makes a library. It reads no files yet.
func New(c Config) *Library {
	if c.Bundled == nil {
		c.Bundled = bundledSet()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	if c.Record == nil {
		c.Record = func(_ context.Context, _, _ string, _ []string, write func() error) error { return write() }
	}
	l := &Library{cfg: c, memory: &memory{entries: map[string]*entry{}}, approve: &atomic.Bool{}}
	l.approve.Store(c.Approve)
	return l
}

// In returns the library as seen from a folder: with the project's skills, if
// they are trusted. Both libraries share their cache.
func (l *Library) In(folder string) *Library {
	return &Library{cfg: l.cfg, project: folder, on: l.on, memory: l.memory, approve: l.approve}
}

// On returns the library as offered on a platform. Both libraries share their cache.
func (l *Library) On(platform string) *Library {
	return &Library{cfg: l.cfg, project: l.project, on: platform, memory: l.memory, approve: l.approve}
}

// disabled reports whether the settings turn a skill off.
func (l *Library) disabled(name string) bool {
	return slices.Contains(l.cfg.Disabled, name) || slices.Contains(l.cfg.PlatformDisabled[l.on], name)
}

// List returns the skills that can be used on this machine.
func (l *Library) List(ctx context.Context) ([]hermes.Skill, error) {
	items, err := l.items(ctx)
	if err != nil {
		return nil, err
	}
	var out []hermes.Skill
	for _, it := range items {
		if l.hidden(it) == "" {
			out = append(out, it.skill())
		}
	}
	return out, nil
}

// hidden returns why a skill is not offered, or "" if it is.
func (l *Library) hidden(it item) string {
	switch here := platform(l.cfg.OS); {
	case it.fault != "":
		return it.fault
	case l.disabled(it.meta.Name):
		return "disabled (skills.disabled)"
	case here != "" && len(it.meta.Platforms) > 0 && !slices.Contains(it.meta.Platforms, here):
		return "only for " + strings.Join(it.meta.Platforms, ", ")
	}
	return ""
}

// View returns a file of a skill, even if the skill is not offered.
func (l *Library) View(ctx context.Context, name, file string) (hermes.SkillText, error) {
	it, err := l.find(ctx, name)
	if err != nil {
		return hermes.SkillText{}, err
	}
	if l.disabled(it.meta.Name) {
		return hermes.SkillText{}, fmt.Errorf("the skill %q is disabled in the settings (skills.disabled)", name)
	}
	folder, done, err := it.open()
	if err != nil {
		return hermes.SkillText{}, err
	}
	defer done()
	file = cmp.Or(strings.TrimPrefix(filepath.ToSlash(file), "./"), mainFile)
	files := contents(folder)
	if !safePath(file) {
		return hermes.SkillText{}, fmt.Errorf("%q is not a file of the skill; it has: %s", file, offered(files))
	}
	raw, err := readBounded(folder, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hermes.SkillText{}, fmt.Errorf("the skill %q has no file %q; it has: %s: %w", name, file, offered(files), hermes.ErrNotFound)
	case err != nil:
		return hermes.SkillText{}, fmt.Errorf("read %s of the skill %q: %w", file, name, err)
	case strings.ContainsRune(string(raw[:min(len(raw), 8000)]), 0):
		return hermes.SkillText{}, fmt.Errorf("%s of the skill %q is not a text file; use it by its path: %s", file, name, filepath.Join(it.folder, filepath.FromSlash(file)))
	}
	return hermes.SkillText{
		Skill: it.skill(), File: file, Content: string(raw), Hash: hash(raw),
		Files:  slices.DeleteFunc(files, func(f string) bool { return f == file }),
		Folder: it.folder, Missing: l.missing(it.meta), Withheld: l.withheld(it.meta),
	}, nil
}

// withheld returns the variables of a skill that never reach commands.
func (l *Library) withheld(m Meta) []hermes.WithheldVariable {
	var out []hermes.WithheldVariable
	for _, v := range m.Env {
		if l.cfg.KeyOf == nil {
			break
		}
		if whose := l.cfg.KeyOf(v.Name); whose != "" {
			out = append(out, hermes.WithheldVariable{Name: v.Name, Holds: whose})
		}
	}
	return out
}

func (l *Library) missing(m Meta) []hermes.SkillVariable {
	var out []hermes.SkillVariable
	for _, v := range m.Env {
		if l.cfg.Getenv(v.Name) == "" {
			out = append(out, v)
		}
	}
	return out
}

// find returns the skill with a name, which may also be given as "category/name".
func (l *Library) find(ctx context.Context, name string) (item, error) {
	items, err := l.items(ctx)
	if err != nil {
		return item{}, err
	}
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	for _, it := range items {
		if it.meta.Name == name || it.category != "" && it.category+"/"+it.meta.Name == name {
			return it, nil
		}
	}
	return item{}, fmt.Errorf("there is no skill %q%s: %w", name, nearest(name, items), hermes.ErrNotFound)
}

// nearest suggests skills with a similar name.
func nearest(name string, items []item) string {
	var like []string
	for _, it := range items {
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. /", r) }) {
			if len(word) > 2 && strings.Contains(it.meta.Name, word) && len(like) < 5 && !slices.Contains(like, it.meta.Name) {
				like = append(like, it.meta.Name)
			}
		}
	}
	if len(like) == 0 {
		return "; list the skills to see their names"
	}
	return "; did you mean " + strings.Join(like, ", ") + "?"
}

func offered(files []string) string {
	if len(files) == 0 {
		return "none"
	}
	return strings.Join(files[:min(len(files), 40)], ", ")
}

// contents lists the files of a skill's folder, sorted.
func contents(folder fs.FS) []string {
	var out []string
	_ = fs.WalkDir(folder, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // an unreadable file is not listed
		case p != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir():
			out = append(out, p)
		}
		if len(out) >= 500 {
			return fs.SkipAll
		}
		return nil
	})
	return out
}

func readBounded(folder fs.FS, file string) ([]byte, error) {
	st, err := fs.Stat(folder, file)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if st.Size() > maxFile {
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", st.Size(), maxFile)
	}
	return fs.ReadFile(folder, file)
}

// hash is the SHA-256 of data in hex.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// openFolder opens a folder. Links in it cannot lead out of it.
func openFolder(path string) (fs.FS, func(), error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), func() { _ = root.Close() }, nil // read only: nothing to lose
}

// Variables returns the environment variables that the offered skills need.
func (l *Library) Variables(ctx context.Context) ([]string, error) {
	items, err := l.items(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, it := range items {
		if l.hidden(it) != "" {
			continue
		}
		for _, v := range it.meta.Env {
			out = append(out, v.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// CredentialFiles returns the files of this machine that the offered skills need, as they name them.
func (l *Library) CredentialFiles(ctx context.Context) ([]string, error) {
	items, err := l.items(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, it := range items {
		if l.hidden(it) == "" {
			out = append(out, it.meta.Credentials...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Approval reports whether changes of the agent wait for the user.
func (l *Library) Approval() bool { return l.approve.Load() }

// SetApproval sets whether changes of the agent wait for the user.
func (l *Library) SetApproval(on bool) { l.approve.Store(on) }

// Status is a skill and, if it is not offered, the reason.
type Status struct {
	hermes.Skill
	Hidden string
	Folder string // empty for a bundled one
}

// States lists all skills, including those that are not offered.
func (l *Library) States(ctx context.Context) ([]Status, error) {
	items, err := l.items(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Status, len(items))
	for i, it := range items {
		out[i] = Status{it.skill(), l.hidden(it), it.folder}
	}
	return out, nil
}
