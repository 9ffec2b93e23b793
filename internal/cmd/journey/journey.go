// Package journey holds the command `hermes journey`: a list of everything the
// agent learned, by date. It shows memory entries, skills and fixes for errors,
// each with a reference for editing or deleting it.
//
// The data belongs to internal/memory, internal/skill and internal/learning.
// Changes go through these packages, so that `hermes undo` works. Start at NewCmd;
// step.go collects the list, change.go edits and deletes.
package journey

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/memory"
	"hermes/internal/skill"
	"hermes/internal/usage"
)

// Learnings gives access to the fixes for errors.
type Learnings interface {
	Find(ctx context.Context, q hermes.LearningQuery) ([]hermes.Learning, error)
	Get(ctx context.Context, ids ...int64) ([]hermes.Learning, error)
	Admit(l hermes.Learning) (hermes.Learning, error)
	Save(ctx context.Context, by string, l hermes.Learning) (hermes.Learning, error)
	Delete(ctx context.Context, by string, ids ...int64) ([]hermes.Learning, error)
}

// Sources are the stores of what was learned.
type Sources struct {
	Memory    *memory.File
	Library   *skill.Library
	Learnings Learnings
}

// noun makes the verbs.
type noun struct {
	*factory.Factory
	open func() (Sources, error)
}

// NewCmd makes `hermes journey`. Without a verb it lists. open replaces the sources of
// the app in tests.
func NewCmd(f *factory.Factory, open func() (Sources, error)) *cobra.Command {
	if open == nil {
		open = func() (Sources, error) {
			file, err := f.App().Memory()
			if err != nil {
				return Sources{}, err
			}
			skills, err := f.App().Skills()
			if err != nil {
				return Sources{}, err
			}
			return Sources{Memory: file.File, Library: skills.Library, Learnings: f.App().Learned()}, nil
		}
	}
	n := noun{f, open}
	list := n.list()
	cmd := &cobra.Command{
		Use: "journey", Short: "Show and change what the agent learned, day by day", Args: cobra.NoArgs, RunE: list.RunE,
		Long:    "Show what the agent learned: memory entries, skills, and fixes for errors. REF names an entry as in the list,\nsuch as skill:release-notes. Changes can be undone with `hermes undo`.",
		Example: "  hermes journey\n  hermes journey --kind skill",
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, n.remove(), n.edit())
	return cmd
}

// call is one use of a verb.
type call struct {
	Sources
	out  io.Writer
	in   io.Reader
	args []string
}

// say prints a line without control characters, since entries may be untrusted text.
func (c *call) say(format string, args ...any) {
	fmt.Fprintln(c.out, strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return '�'
		}
		return r
	}, fmt.Sprintf(format, args...)))
}

// verb makes a command that works with the sources.
func (n noun) verb(use, short, example string, args cobra.PositionalArgs, work func(ctx context.Context, c *call) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		s, err := n.open()
		if err != nil {
			return err
		}
		return work(cmd.Context(), &call{s, cmd.OutOrStdout(), cmd.InOrStdin(), args})
	}}
}

func (n noun) list() *cobra.Command {
	var asJSON bool
	var kind string
	cmd := n.verb("list", "List what was learned, oldest first", "hermes journey list --kind learning", cobra.NoArgs, func(ctx context.Context, c *call) error {
		steps, err := c.steps(ctx)
		if err != nil {
			return err
		}
		if kind != "" {
			if !slices.Contains(kinds(), kind) {
				return usage.Errorf("invalid --kind %q: use one of %s", kind, strings.Join(kinds(), ", "))
			}
			steps = slices.DeleteFunc(steps, func(s step) bool { return s.Kind != kind })
		}
		if asJSON {
			return factory.WriteJSON(c.out, steps)
		}
		c.print(steps)
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&kind, "kind", "", "show only this `kind`: memory, user, skill, installed or learning")
	return cmd
}

// widest is the maximum width of the column of references. A longer one shifts
// only its own line.
const widest = 36

// shownLine is how much of a text a line shows, in characters.
const shownLine = 90

func (c *call) print(steps []step) {
	wide := 0
	for _, s := range steps {
		wide = max(wide, min(utf8.RuneCountInString(s.Ref), widest))
	}
	last := "-"
	for _, s := range steps {
		on := "unknown date (edited by hand)"
		if !s.Date.IsZero() {
			on = s.Date.Local().Format("2006-01-02")
		}
		if on != last {
			c.say("%s", on)
			last = on
		}
		c.say("  %-*s  %s%s", wide, s.Ref, s.what, s.counts())
		if s.Session != "" {
			c.say("  %-*s  in session %s", wide, "", s.Session)
		}
	}
	if len(steps) == 0 {
		c.say("Nothing learned yet. After a hard task the agent offers to save a skill; say yes to keep it.")
	}
}

// counts describes how often something was used, helped and harmed.
func (s step) counts() string {
	if s.Uses == nil {
		return ""
	}
	var parts []string
	for _, n := range []struct {
		word  string
		count int
	}{{"used", *s.Uses}, {"helped", *s.Wins}, {"harmed", *s.Harms}} {
		switch {
		case n.count == 1:
			parts = append(parts, n.word+" once")
		case n.count > 1:
			parts = append(parts, fmt.Sprintf("%s %d times", n.word, n.count))
		}
	}
	if len(parts) == 0 {
		return " (not used yet)"
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// when orders steps by date; those without a date come first.
func when(a, b step) int {
	if c := a.Date.Truncate(time.Second).Compare(b.Date.Truncate(time.Second)); c != 0 {
		return c
	}
	return strings.Compare(a.Ref, b.Ref)
}
