package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// maxStacked is how many skills one message may load by name.
const maxStacked = 5

// Expanded is a message that loads skills.
type Expanded struct {
	Names []string // the skills, each once
	// Text is what the model gets in addition to the message.
	Text string
	// Rest is the message without the skill names.
	Rest string
	// Skipped are the bundled names for which there is no skill.
	Skipped []string
	// Provenance names the skills that others wrote, as in [hermes.Message].
	Provenance string
}

// Expand loads the skills that a message begins with, written as /name, at most
// five. A bundle wins over a skill of the same name. ok is false if the message
// does not begin with a skill.
func (l *Library) Expand(ctx context.Context, line string) (e Expanded, ok bool, err error) {
	rest := strings.TrimSpace(line)
	var names, says []string
	for range maxStacked {
		word, after := cutWord(rest)
		name, isName := strings.CutPrefix(word, "/")
		name = strings.ToLower(name)
		if !isName || CheckName(name) != nil {
			break
		}
		members, said, err := l.called(ctx, name)
		if errors.Is(err, hermes.ErrNotFound) {
			break
		}
		if err != nil {
			return e, false, err
		}
		names, rest = append(names, members...), after
		if said != "" {
			says = append(says, said)
		}
	}
	if len(names) == 0 {
		return Expanded{}, false, nil
	}
	e, err = l.Load(ctx, names)
	e.Rest = rest
	if len(says) > 0 {
		e.Text += "\n\n" + strings.Join(says, "\n")
	}
	return e, err == nil, err
}

func cutWord(s string) (word, rest string) {
	end := strings.IndexAny(s, " \t\n")
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimSpace(s[end:])
}

// called returns the skills of a name: the members of a bundle, or the skill.
func (l *Library) called(ctx context.Context, name string) (members []string, instruction string, err error) {
	b, err := l.bundle(name)
	if err == nil {
		return b.Skills, b.Instruction, nil
	}
	if !errors.Is(err, hermes.ErrNotFound) {
		return nil, "", err
	}
	it, err := l.find(ctx, name)
	if err != nil {
		return nil, "", err
	}
	if why := l.hidden(it); why != "" {
		return nil, "", fmt.Errorf("the skill %q cannot be used: %s", name, why)
	}
	return []string{it.meta.Name}, "", nil
}

// Load returns the text that shows skills to the model, and counts their use.
// Unknown names are skipped; it is an error if all are unknown.
func (l *Library) Load(ctx context.Context, names []string) (Expanded, error) {
	var e Expanded
	var b strings.Builder
	for _, name := range names {
		if slices.Contains(e.Names, name) {
			continue
		}
		t, err := l.View(ctx, name, "")
		if errors.Is(err, hermes.ErrNotFound) {
			e.Skipped = append(e.Skipped, name)
			continue
		}
		if err != nil {
			return e, err
		}
		e.Names = append(e.Names, t.Skill.Name)
		e.Provenance = hermes.AddProvenance(e.Provenance, t.Skill.Provenance())
		fmt.Fprintf(&b, "\n\n<skill name=%q>\n%s\n</skill>", t.Skill.Name, describe(t))
		if err := l.Count(ctx, t.Skill.Name, Used); err != nil {
			return e, err
		}
	}
	if len(e.Names) == 0 {
		return e, fmt.Errorf("there is no skill %s: %w", strings.Join(names, ", "), hermes.ErrNotFound)
	}
	which := "the skill " + e.Names[0]
	if len(e.Names) > 1 {
		which = "the skills " + strings.Join(e.Names, ", ")
	}
	e.Text = "[The user asks for " + which + ". Follow what it says for this message.]" + b.String()
	return e, nil
}

// describe returns the body of a skill and the notes needed to use it.
func describe(t hermes.SkillText) string {
	body := t.Content
	if _, rest, err := split([]byte(t.Content)); err == nil {
		body = rest
	}
	return strings.TrimSpace(strings.TrimSpace(body) + "\n\n" + t.Notes())
}

// Call reads the skills that a line begins with, in a session of a folder, and returns the
// message that loads them for the model; ok is false if there are none.
func (l *Library) Call(ctx context.Context, dir, line string) (parts []hermes.Part, ok bool, err error) {
	e, ok, err := l.In(dir).Expand(ctx, line)
	if !ok || err != nil {
		return nil, false, err
	}
	return []hermes.Part{{Text: e.Text, Hidden: true, Provenance: e.Provenance}, {Text: line}}, true, nil
}
