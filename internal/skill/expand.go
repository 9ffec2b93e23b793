package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// maxStacked is how many skills one message may call by name.
const maxStacked = 5

// Expanded is a message that calls skills.
type Expanded struct {
	Names []string // the skills, each once
	// Text is what the model gets beside the message.
	Text string
	// Rest is the message without the names.
	Rest string
	// Skipped are members of bundles that do not exist.
	Skipped []string
	// Provenance says which of the skills others wrote, as in [hermes.Message].
	Provenance string
}

// Expand reads the skills that stand at the beginning of a message as /name,
// up to five one after another; a bundle beats a skill of its name. ok is
// false if the message does not begin with one.
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

// called are the skills that a name stands for.
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

// Load makes the text that puts skills before the model, and counts their use.
// Names that do not exist are skipped, unless none is left.
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
	e.Text = "[The person asks for " + which + ". Follow what it says for this message.]" + b.String()
	return e, nil
}

// describe is the body of a skill with what must be known to use it.
func describe(t hermes.SkillText) string {
	body := t.Content
	if _, rest, err := split([]byte(t.Content)); err == nil {
		body = rest
	}
	return strings.TrimSpace(strings.TrimSpace(body) + "\n\n" + t.Notes())
}
