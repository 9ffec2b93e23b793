package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/internal/skill/guard"
)

// Save writes one file of a skill. A change by the agent waits for the user if
// that is configured, and always if the skill is bundled or installed.
func (l *Library) Save(ctx context.Context, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	it, err := l.admit(ctx, &e)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	if err := l.scanEdit(e); err != nil {
		return hermes.SkillOutcome{}, err
	}
	if e.Propose || e.Agent && (l.waits(it) || lost(e)) {
		e.Propose = false
		id, err := l.savePending(Pending{Edit: &e})
		return hermes.SkillOutcome{Pending: id, Notes: lint(e)}, err
	}
	return l.write(ctx, e, it)
}

// normalFile returns the path of a file in its usual form, and "" for the
// SKILL.md in any spelling.
func normalFile(file string) string {
	file = strings.TrimPrefix(filepath.ToSlash(strings.TrimSpace(file)), "./")
	if strings.EqualFold(file, mainFile) {
		return ""
	}
	return file
}

// foreign reports whether a skill is bundled or installed.
func foreign(it item) bool {
	return it.source == hermes.SkillBundled || it.source == hermes.SkillHub
}

// lost reports whether a draft lost its replay.
func lost(e hermes.SkillEdit) bool { return e.Trial != nil && e.Trial.Verdict == hermes.SkillLost }

// Check reports what is wrong with a change and changes nothing. A valid change
// may still have to wait for the user.
func (l *Library) Check(ctx context.Context, e hermes.SkillEdit) error {
	if _, err := l.admit(ctx, &e); err != nil {
		return err
	}
	return l.scanEdit(e)
}

// waits reports whether a change by the agent waits for the user.
func (l *Library) waits(it item) bool { return l.approve.Load() || foreign(it) }

// Waits reports whether any change by the agent to a skill would wait for the
// user.
func (l *Library) Waits(ctx context.Context, name string) bool {
	it, err := l.find(ctx, name)
	return l.approve.Load() || err == nil && foreign(it)
}

// admit checks a change, brings its file to the usual form, and finds its skill.
// For a new skill the item is empty.
func (l *Library) admit(ctx context.Context, e *hermes.SkillEdit) (item, error) {
	if e.File != "" && strings.Trim(filepath.ToSlash(e.File), "./ \t\r\n") == "" {
		return item{}, CheckFile(e.File)
	}
	e.File = normalFile(e.File)
	if err := errors.Join(CheckName(e.Name), CheckCategory(e.Category)); err != nil {
		return item{}, err
	}
	if err := checkContent(*e); err != nil {
		return item{}, err
	}
	it, err := l.find(ctx, e.Name)
	switch {
	case e.New && err == nil:
		return item{}, fmt.Errorf("there is already a %s skill %q: edit that one, or choose another name", it.source, e.Name)
	case e.New && errors.Is(err, hermes.ErrNotFound):
		folder := l.ownFolder(*e, item{})
		return item{}, errors.Join(l.placeable(folder), vacant(folder))
	case err != nil:
		return item{}, err
	}
	return it, it.writable()
}

func (it item) writable() error {
	switch it.source {
	case hermes.SkillProject, hermes.SkillExternal:
		return fmt.Errorf("the skill %q is in %s, which this library does not manage; change the files there, or create a skill under another name", it.meta.Name, it.folder)
	}
	return nil
}

func checkContent(e hermes.SkillEdit) error {
	if e.File != "" {
		if len(e.Content) > maxFile {
			return fmt.Errorf("%s has %d bytes; the limit is %d", e.File, len(e.Content), maxFile)
		}
		if e.New {
			return errors.New("a new skill begins with its SKILL.md; add other files afterwards")
		}
		return CheckFile(e.File)
	}
	m, _, err := Parse([]byte(e.Content))
	if err != nil {
		return err
	}
	if m.Name != e.Name {
		return fmt.Errorf("the frontmatter has name: %s, but the skill is %s; use the same name", m.Name, e.Name)
	}
	return nil
}

// scanEdit scans what the agent wrote.
func (l *Library) scanEdit(e hermes.SkillEdit) error {
	if !l.cfg.Guard || !e.Agent || e.Granted {
		return nil
	}
	r := Scan([]guard.File{{Path: cmp.Or(e.File, mainFile), Data: []byte(e.Content)}})
	if guard.Decide(guard.Agent, r.Verdict(), false) == guard.Ask {
		return &hermes.SkillDoubt{Findings: r.Serious()}
	}
	return nil
}

// lint returns hints on a skill. None of them blocks it.
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
		notes = append(notes, fmt.Sprintf("lists show %d characters of the description; it has %d", shown, n))
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
