package journey

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/compose"
	"hermes/internal/markup"
	"hermes/internal/memory"
	"hermes/internal/text"
)

// editable is an entry that can be edited or deleted.
type editable struct {
	text   string // the present text
	save   func(ctx context.Context, text string) error
	remove func(ctx context.Context) error
}

// find resolves a reference of the list.
func (c *call) find(ctx context.Context, ref string) (editable, error) {
	kind, rest, ok := strings.Cut(ref, ":")
	if !ok || rest == "" {
		return editable{}, fmt.Errorf("%q is not a reference; use one that `hermes journey` lists, such as skill:NAME or learning:3", ref)
	}
	switch kind {
	case "memory", "user":
		return c.entry(memory.Target(kind), ref)
	case "skill":
		return c.skill(ctx, rest)
	case "learning":
		return c.fix(ctx, rest)
	}
	return editable{}, fmt.Errorf("unknown kind in %q: use memory, user, skill or learning, not %q", ref, kind)
}

func (c *call) entry(t memory.Target, ref string) (editable, error) {
	s, err := c.Memory.Read(t)
	if err != nil {
		return editable{}, err
	}
	for _, e := range s.Entries {
		if refOf(t, e.Text) != ref {
			continue
		}
		do := func(ctx context.Context, o memory.Operation) error {
			_, err := c.Memory.Change(ctx, t, []memory.Operation{o}, memory.Origin{By: "person"})
			return err
		}
		return editable{
			text: e.Text,
			save: func(ctx context.Context, text string) error {
				return do(ctx, memory.Operation{Action: "replace", OldText: e.Text, Content: text})
			},
			remove: func(ctx context.Context) error { return do(ctx, memory.Operation{Action: "remove", OldText: e.Text}) },
		}, nil
	}
	return editable{}, fmt.Errorf("there is no %s; it may have changed, list entries with `hermes journey`: %w", ref, hermes.ErrNotFound)
}

func (c *call) skill(ctx context.Context, name string) (editable, error) {
	now, err := c.Library.View(ctx, name, "")
	if err != nil {
		return editable{}, err
	}
	return editable{
		text: now.Content,
		save: func(ctx context.Context, text string) error {
			_, err := c.Library.Save(ctx, hermes.SkillEdit{Name: name, Content: text, Base: now.Hash})
			return err
		},
		remove: func(ctx context.Context) error {
			_, err := c.Library.Remove(ctx, hermes.SkillRemoval{Name: name})
			return err
		},
	}, nil
}

func (c *call) fix(ctx context.Context, number string) (editable, error) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return editable{}, fmt.Errorf("%q is not the number of a learning", number)
	}
	list, err := c.Learnings.Get(ctx, id)
	if err != nil {
		return editable{}, err
	}
	l := list[0]
	return editable{
		text: l.Fix,
		save: func(ctx context.Context, text string) error {
			checked, err := c.Learnings.Admit(hermes.Learning{Tool: l.Tool, Pattern: l.Pattern, Fix: text, Context: l.Context, Tags: l.Tags})
			if err != nil {
				return err
			}
			l.Fix = checked.Fix
			_, err = c.Learnings.Save(ctx, "person", l)
			return err
		},
		remove: func(ctx context.Context) error {
			_, err := c.Learnings.Delete(ctx, "person", id)
			return err
		},
	}, nil
}

func (n noun) remove() *cobra.Command {
	var yes bool
	cmd := n.verb("delete REF…", "Delete entries", "hermes journey delete skill:release-notes", cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		var things []editable
		for _, ref := range c.args { // look up all before deleting the first
			t, err := c.find(ctx, ref)
			if err != nil {
				return err
			}
			things = append(things, t)
		}
		if !yes {
			if err := n.Confirm(c.in, c.out, "Delete "+strings.Join(c.args, ", ")+"?"); err != nil {
				return err
			}
		}
		for i, t := range things {
			if err := t.remove(ctx); err != nil {
				return err
			}
			c.say("Deleted %s: %s", c.args[i], text.Short(markup.OneLine(t.text), shownLine))
		}
		c.say("Undo the last change with: hermes undo")
		return nil
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (n noun) edit() *cobra.Command {
	var from string
	cmd := n.verb("edit REF [TEXT]", "Edit a memory entry, a skill or a fix", "hermes journey edit learning:3 \"use uv instead\"", cobra.RangeArgs(1, 2), func(ctx context.Context, c *call) error {
		t, err := c.find(ctx, c.args[0])
		if err != nil {
			return err
		}
		text, err := n.written(ctx, c, from, t.text)
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == strings.TrimSpace(t.text) {
			c.say("No changes.")
			return nil
		}
		if err := t.save(ctx, text); err != nil {
			return err
		}
		c.say("Changed: %s", c.args[0])
		return nil
	})
	cmd.Flags().StringVar(&from, "from-file", "", "read the text from this `file`; - is standard input")
	return cmd
}

// written returns the new text: from the command line, a file or the editor.
func (n noun) written(ctx context.Context, c *call, from, before string) (string, error) {
	if len(c.args) < 2 {
		return compose.Composer{From: from, In: c.in, Name: "text.md", Terminal: n.Terminal, Edit: n.Edit}.Text(ctx, before)
	}
	if from != "" {
		return "", errors.New("use either the text or --from-file, not both")
	}
	return c.args[1], nil
}
