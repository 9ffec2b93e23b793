package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hermes"
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
	if e.Propose || e.Agent && (l.waits(it) || lost(e)) {
		e.Propose = false
		id, err := l.savePending(Pending{Edit: &e})
		return hermes.SkillOutcome{Pending: id, Notes: lint(e)}, err
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
