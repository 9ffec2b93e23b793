package skill

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/policy"
	"hermes/internal/skill/guard"
)

// Save writes one file of a skill. Changes of the agent wait for the person
// where that is configured, and always where the skill is not its own.
func (l *Library) Save(ctx context.Context, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	e.File = normalFile(e.File)
	it, err := l.admit(ctx, e)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	if err := l.doubt(e); err != nil {
		return hermes.SkillOutcome{}, err
	}
	if e.Stage || e.Agent && (l.waits(it) || lost(e)) {
		e.Stage = false
		id, err := l.stage(Pending{Edit: &e})
		return hermes.SkillOutcome{Staged: id, Notes: lint(e)}, err
	}
	return l.write(ctx, e, it)
}

func normalFile(file string) string {
	file = strings.TrimPrefix(filepath.ToSlash(strings.TrimSpace(file)), "./")
	if strings.EqualFold(file, mainFile) {
		return ""
	}
	return file
}

// foreign reports that a skill was made neither here nor by the person.
func foreign(it item) bool {
	return it.source == hermes.SkillBundled || it.source == hermes.SkillHub
}

// lost reports that a draft did not prove itself.
func lost(e hermes.SkillEdit) bool { return e.Trial != nil && e.Trial.Verdict == hermes.SkillLost }

// Check says what is wrong with a change, and changes nothing: what it lets
// pass may still have to wait for the person.
func (l *Library) Check(ctx context.Context, e hermes.SkillEdit) error {
	e.File = normalFile(e.File)
	if _, err := l.admit(ctx, e); err != nil {
		return err
	}
	return l.doubt(e)
}

// waits reports whether a change of the agent waits for the person.
func (l *Library) waits(it item) bool { return l.approve.Load() || foreign(it) }

// Waits reports whether a change of the agent to a skill would wait for the
// person in any case.
func (l *Library) Waits(ctx context.Context, name string) bool {
	it, err := l.find(ctx, name)
	return l.approve.Load() || err == nil && foreign(it)
}

// admit checks a change and finds the skill that it is about; for a new one
// the item is empty.
func (l *Library) admit(ctx context.Context, e hermes.SkillEdit) (item, error) {
	if err := errors.Join(CheckName(e.Name), CheckCategory(e.Category)); err != nil {
		return item{}, err
	}
	if err := checkContent(e); err != nil {
		return item{}, err
	}
	it, err := l.find(ctx, e.Name)
	switch {
	case e.New && err == nil:
		return item{}, fmt.Errorf("there is a %s skill %q already: edit that one, or choose another name", it.source, e.Name)
	case e.New && errors.Is(err, hermes.ErrNotFound):
		return item{}, nil
	case err != nil:
		return item{}, err
	}
	return it, it.writable()
}

func (it item) writable() error {
	switch it.source {
	case hermes.SkillProject, hermes.SkillExternal:
		return fmt.Errorf("the skill %q lies in %s, which is not this library's; change the files there, or make a skill of your own under another name", it.meta.Name, it.folder)
	}
	return nil
}

func checkContent(e hermes.SkillEdit) error {
	if e.File != "" {
		if len(e.Content) > maxFile {
			return fmt.Errorf("%s has %d bytes, at most %d fit", e.File, len(e.Content), maxFile)
		}
		if e.New {
			return errors.New("a new skill begins with its SKILL.md; add other files after it")
		}
		return CheckFile(e.File)
	}
	m, _, err := Parse([]byte(e.Content))
	if err != nil {
		return err
	}
	if m.Name != e.Name {
		return fmt.Errorf("the frontmatter says name: %s, but the skill is %s; make them the same", m.Name, e.Name)
	}
	return nil
}

// doubt has the scanner look at what the agent wrote.
func (l *Library) doubt(e hermes.SkillEdit) error {
	if !l.cfg.Guard || !e.Agent || e.Granted {
		return nil
	}
	r := guard.Scan([]guard.File{{Path: cmp.Or(e.File, mainFile), Data: []byte(e.Content)}}, guard.Options{Injection: policy.Injection})
	if guard.Decide(guard.Agent, r.Verdict(), false) == guard.Ask {
		return &hermes.SkillDoubt{Findings: r.Serious()}
	}
	return nil
}

// write makes the change on disk, one process at a time.
func (l *Library) write(ctx context.Context, e hermes.SkillEdit, it item) (out hermes.SkillOutcome, err error) {
	done, err := l.exclusive(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	out.Notes = lint(e)
	folder := it.folder
	if folder == "" {
		folder = l.ownFolder(e, it)
	}
	err = l.cfg.Around(ctx, actor(e.Agent, e.Session), Pending{Edit: &e}.What(), []string{folder}, func() error {
		out.Path, err = l.writeFile(e, it, folder)
		return err
	})
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	now := l.cfg.Now().UTC()
	return out, l.changeUsage(ctx, e.Name, func(u *Usage) {
		u.Changed, u.Outside = now, hermes.AddOutside(u.Outside, e.Outside)
		if e.New {
			u.Created, u.Agent, u.Session = now, e.Agent, e.Session
		}
		u.book(e.Trial)
	})
}

// ownFolder is where a new skill lies, or one of the person's own in place of
// a bundled one.
func (l *Library) ownFolder(e hermes.SkillEdit, it item) string {
	if it.bundled != nil {
		return filepath.Join(l.cfg.Home.Skills(), it.category, it.meta.Name)
	}
	return filepath.Join(cmp.Or(l.cfg.CreateDir, l.cfg.Home.Skills()), e.Category, e.Name)
}

func actor(agent bool, session string) string {
	if agent && session != "" {
		return session
	}
	return "person"
}

func (l *Library) writeFile(e hermes.SkillEdit, it item, folder string) (string, error) {
	if e.New {
		return folder, l.place(folder, map[string][]byte{mainFile: []byte(e.Content)})
	}
	if it.bundled != nil {
		if err := l.adopt(it, folder); err != nil {
			return "", err
		}
		it.folder = folder
	}
	return l.replace(it, e)
}

// exclusive keeps other processes from changing skills at the same time.
func (l *Library) exclusive(ctx context.Context) (func(), error) {
	if err := l.cfg.Home.Make(l.cfg.Home.Skills()); err != nil {
		return nil, err
	}
	held, err := atomicfile.Acquire(ctx, filepath.Join(l.cfg.Home.Skills(), ".write"), "hermes skills", lockWait)
	if err != nil {
		return nil, err
	}
	return func() { _ = held.Release() }, nil // the lock ends with the process in any case
}

// adopt copies a bundled skill into the person's folder, where it can change.
func (l *Library) adopt(it item, folder string) error {
	files := map[string][]byte{}
	for _, name := range contents(it.bundled) {
		raw, err := fs.ReadFile(it.bundled, name)
		if err != nil {
			return err
		}
		files[name] = raw
	}
	return l.place(folder, files)
}

// place puts a whole folder into its place in one step.
func (l *Library) place(folder string, files map[string][]byte) (err error) {
	if _, err := os.Lstat(folder); err == nil {
		return fmt.Errorf("the folder %s exists already; move it away or choose another name", folder)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return fmt.Errorf("make the folder of the skill: %w", err)
	}
	tmp := filepath.Join(filepath.Dir(folder), ".new-"+rand.Text()[:8])
	defer func() {
		if err != nil {
			_ = os.RemoveAll(tmp)
		}
	}()
	if err := writeTree(tmp, files); err != nil {
		return err
	}
	return os.Rename(tmp, folder)
}

func writeTree(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, data := range files {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// replace writes one file of a skill that is there.
func (l *Library) replace(it item, e hermes.SkillEdit) (string, error) {
	root, err := os.OpenRoot(it.folder)
	if err != nil {
		return "", fmt.Errorf("open the skill %q: %w", e.Name, err)
	}
	defer root.Close()
	name := cmp.Or(e.File, mainFile)
	before, err := root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s of the skill %q cannot be written: %w", name, e.Name, err)
	}
	if e.Base != "" && e.Base != hash(before) {
		return "", fmt.Errorf("%s of the skill %q has changed meanwhile; read it again and repeat the change", name, e.Name)
	}
	if before == nil && len(contents(root.FS())) >= guard.MaxFiles {
		return "", fmt.Errorf("the skill %q has %d files already; join some of them", e.Name, guard.MaxFiles)
	}
	if err := rootWrite(root, name, []byte(e.Content)); err != nil {
		return "", fmt.Errorf("write %s of the skill %q: %w", name, e.Name, err)
	}
	return filepath.Join(it.folder, filepath.FromSlash(name)), nil
}

// rootWrite replaces a file in one step, within the folder.
func rootWrite(root *os.Root, name string, data []byte) error {
	mode := fs.FileMode(0o600)
	if st, err := root.Stat(name); err == nil {
		if !st.Mode().IsRegular() {
			return errors.New("it is no regular file")
		}
		mode = st.Mode().Perm()
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	tmp := path.Join(path.Dir(name), ".new-"+rand.Text()[:8])
	if err := root.WriteFile(tmp, data, mode); err != nil {
		_ = root.Remove(tmp)
		return err
	}
	if err := root.Rename(tmp, name); err != nil {
		_ = root.Remove(tmp)
		return err
	}
	return nil
}

// lint gives hints on a skill; none of them stops it.
func lint(e hermes.SkillEdit) []string {
	if e.File != "" {
		return nil
	}
	m, body, err := Parse([]byte(e.Content))
	if err != nil {
		return nil
	}
	var notes []string
	low := strings.ToLower(body)
	if n := len([]rune(m.Description)); n > shown {
		notes = append(notes, fmt.Sprintf("lists show %d characters of the description, it has %d", shown, n))
	}
	for _, part := range [][3]string{
		{"when", "trigger", "say when the skill applies"},
		{"pitfall", "avoid", "name the pitfalls"},
		{"verif", "check", "say how to verify the outcome"},
	} {
		if !strings.Contains(low, part[0]) && !strings.Contains(low, part[1]) {
			notes = append(notes, part[2])
		}
	}
	if strings.Count(body, "\n") > 500 {
		notes = append(notes, "the body is long; move details to references/")
	}
	return notes
}
