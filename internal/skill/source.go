package skill

import (
	"archive/zip"
	"cmp"
	"context"
	_ "embed"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/order"
)

// item is a skill that was found. Its entry is shared and must not be changed.
type item struct {
	*entry
	source   hermes.SkillSource
	category string
	folder   string // on this machine; empty for a bundled one
	bundled  fs.FS  // its folder, for a bundled one
}

func (it item) skill() hermes.Skill {
	return hermes.Skill{Name: it.meta.Name, Description: it.meta.Description, Category: it.category, Source: it.source, Tags: it.meta.Tags}
}

// open opens the skill's folder; done closes it.
func (it item) open() (folder fs.FS, done func(), err error) {
	if it.bundled != nil {
		return it.bundled, func() {}, nil
	}
	return openFolder(it.folder)
}

// items returns all skills, sorted by category and name. If several sources have
// one name, the first wins. Broken skills are included with their fault.
func (l *Library) items(ctx context.Context) ([]item, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.memory.load(l.indexFile())
	all := make([]item, 0, len(l.memory.entries)+8)
	for _, folder := range l.projectFolders() {
		all = l.walk(all, folder, hermes.SkillProject)
	}
	before := len(all)
	all = l.walk(all, l.cfg.Home.Skills(), hermes.SkillUser)
	lock := l.readLock()
	for i := range all[before:] {
		if own := &all[before+i]; lock.has(own.meta.Name) {
			own.source = hermes.SkillHub
		}
	}
	if l.cfg.CreateDir != "" {
		all = l.walk(all, l.cfg.CreateDir, hermes.SkillUser)
	}
	for _, folder := range l.cfg.External {
		all = l.walk(all, folder, hermes.SkillExternal)
	}
	if !l.optedOut() {
		all = l.builtin(all)
	}
	l.memory.save(l.indexFile(), l.cfg.Home)
	return firstOfEach(all), nil
}

// firstOfEach keeps the first skill of each name and sorts.
func firstOfEach(all []item) []item {
	seen := make(map[string]bool, len(all))
	out := all[:0]
	for _, it := range all {
		if !seen[it.meta.Name] {
			seen[it.meta.Name] = true
			out = append(out, it)
		}
	}
	order.By(out, func(a, b item) int {
		return cmp.Or(strings.Compare(a.category, b.category), strings.Compare(a.meta.Name, b.meta.Name))
	})
	return out
}

// walk adds the skills below a folder, at most depth levels down.
func (l *Library) walk(to []item, folder string, source hermes.SkillSource) []item {
	return l.descend(to, folder, "", 0, source)
}

// depth is how many levels below a source a skill may be.
const depth = 3

func (l *Library) descend(to []item, folder, category string, level int, source hermes.SkillSource) []item {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return to // the source does not exist
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		sub := filepath.Join(folder, name)
		main := sub + string(filepath.Separator) + mainFile
		st, err := os.Lstat(main)
		switch {
		case err == nil && st.Mode().IsRegular():
			at := stamp{st.ModTime().UnixNano(), st.Size()}
			en := l.memory.entry(main, at, func() ([]byte, error) { return os.ReadFile(main) })
			to = append(to, located(en, source, category, name, sub))
		case err == nil:
			to = append(to, located(&entry{fault: "its SKILL.md is a link or not a file"}, source, category, name, sub))
		case level+1 < depth && e.IsDir():
			to = l.descend(to, sub, cmp.Or(category, name), level+1, source)
		}
	}
	return to
}

// located makes an item of a parsed skill.
func located(en *entry, source hermes.SkillSource, category, name, folder string) item {
	if !validName(en.meta.Name) { // a broken one is named after its folder
		broken := *en
		broken.meta.Name, en = name, &broken
	}
	return item{entry: en, source: source, category: cmp.Or(category, en.meta.Category), folder: folder}
}

// builtin adds the bundled skills.
func (l *Library) builtin(to []item) []item {
	buf := make([]byte, 16<<10)
	_ = fs.WalkDir(l.cfg.Bundled, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != mainFile {
			return nil // an embedded set has no unreadable files
		}
		folder := path.Dir(p)
		at, err := contentStamp(l.cfg.Bundled, p, buf)
		if err != nil {
			return nil
		}
		en := l.memory.entry("bundled:"+p, at, func() ([]byte, error) { return fs.ReadFile(l.cfg.Bundled, p) })
		sub, err := fs.Sub(l.cfg.Bundled, folder)
		if err != nil {
			return nil
		}
		it := located(en, hermes.SkillBundled, "", path.Base(folder), "")
		if c := path.Dir(folder); c != "." {
			it.category = path.Base(c)
		}
		it.bundled = sub
		to = append(to, it)
		return nil
	})
	return to
}

// contentStamp identifies a file by its content, for one that has no date. It reads
// through buf: a start looks at all files and needs the text of none.
func contentStamp(from fs.FS, name string, buf []byte) (stamp, error) {
	f, err := from.Open(name)
	if err != nil {
		return stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	if h, ok := info.Sys().(*zip.FileHeader); ok { // an archive knows it
		return stamp{int64(h.CRC32), info.Size()}, nil
	}
	sum := crc32.NewIEEE()
	n, err := io.CopyBuffer(sum, f, buf)
	return stamp{int64(sum.Sum32()), n}, err
}

// optedOut reports whether the user opted out of the bundled skills.
func (l *Library) optedOut() bool {
	_, err := os.Lstat(l.optOutFile())
	return err == nil
}

func (l *Library) optOutFile() string {
	return filepath.Join(l.cfg.Home.Skills(), ".no-bundled-skills")
}

// OptOut hides the bundled skills, or shows them again.
func (l *Library) OptOut(out bool) error {
	if !out {
		if err := os.Remove(l.optOutFile()); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	if err := l.cfg.Home.Make(l.cfg.Home.Skills()); err != nil {
		return err
	}
	return os.WriteFile(l.optOutFile(), nil, 0o600)
}

// Bundled reports whether a skill of this name is built in.
func (l *Library) Bundled(name string) bool {
	_, ok := l.bundledItem(name)
	return ok
}

func (l *Library) bundledItem(name string) (item, bool) {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	all := l.builtin(nil)
	at := slices.IndexFunc(all, func(it item) bool { return it.meta.Name == name })
	if at < 0 {
		return item{}, false
	}
	return all[at], true
}

// bundledArchive is the folder bundled, compressed. After a change of the folder: go test ./internal/skill -run Archive -update.
//
//go:embed bundled.zip
var bundledArchive string

// bundledSet returns the built-in skills.
var bundledSet = sync.OnceValue(func() fs.FS {
	r, err := zip.NewReader(strings.NewReader(bundledArchive), int64(len(bundledArchive)))
	if err != nil {
		panic(err) // the archive is embedded
	}
	return r
})
