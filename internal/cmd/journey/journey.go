// Package journey is the command `hermes journey`: what was learned, by time.
// Entries of memory, skills and what helped against errors stand in one list,
// each with a reference by which it can be changed or deleted.
//
// What they are is the matter of internal/memory, internal/skill and
// internal/learning; changes go through them, so that hermes undo takes them
// back. Start at NewCmd; step.go gathers the list, change.go changes it.
package journey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/memory"
	"hermes/internal/skill"
	"hermes/internal/usage"
)

// Learnings is what the command needs of what was learned from errors.
type Learnings interface {
	Find(ctx context.Context, q hermes.LearningQuery) ([]hermes.Learning, error)
	Get(ctx context.Context, ids ...int64) ([]hermes.Learning, error)
	Admit(l hermes.Learning) (hermes.Learning, error)
	Save(ctx context.Context, by string, l hermes.Learning) (hermes.Learning, error)
	Delete(ctx context.Context, by string, ids ...int64) ([]hermes.Learning, error)
}

// Sources are where what was learned is kept.
type Sources struct {
	Memory    *memory.File
	Library   *skill.Library
	Learnings Learnings
}

// Deps are what the verbs need.
type Deps struct {
	// Open gives the sources; done frees what it opened.
	Open func() (s Sources, done func() error, err error)
	// Edit opens a file in the person's editor.
	Edit func(ctx context.Context, path string) error
	// Terminal reports that a person can be asked.
	Terminal func() bool
}

// NewCmd makes `hermes journey`; alone it lists.
func NewCmd(d Deps) *cobra.Command {
	list := d.list()
	cmd := &cobra.Command{
		Use: "journey", Short: "Tell what was learned, day by day, and change it", Args: cobra.NoArgs, RunE: list.RunE,
		Long: "Tell what was learned: entries of memory, skills, and what helped against errors.\nChanges can be taken back with hermes undo.",
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, d.remove(), d.edit())
	return cmd
}

// call is one use of a verb.
type call struct {
	Sources
	out  io.Writer
	in   io.Reader
	args []string
}

// say prints a line. What was learned from outside cannot steer the terminal.
func (c *call) say(format string, args ...any) {
	fmt.Fprintln(c.out, strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return '�'
		}
		return r
	}, fmt.Sprintf(format, args...)))
}

// verb makes a command that works with the sources.
func (d Deps) verb(use, short string, args cobra.PositionalArgs, work func(ctx context.Context, c *call) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) (err error) {
		s, done, err := d.Open()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		return work(cmd.Context(), &call{s, cmd.OutOrStdout(), cmd.InOrStdin(), args})
	}}
}

func (d Deps) list() *cobra.Command {
	var asJSON bool
	var kind string
	cmd := d.verb("list", "List what was learned, the oldest first", cobra.NoArgs, func(ctx context.Context, c *call) error {
		steps, err := c.steps(ctx)
		if err != nil {
			return err
		}
		if kind != "" {
			if !slices.Contains(kinds(), kind) {
				return usage.Errorf("--kind %q: use one of %s", kind, strings.Join(kinds(), ", "))
			}
			steps = slices.DeleteFunc(steps, func(s step) bool { return s.Kind != kind })
		}
		if asJSON {
			enc := json.NewEncoder(c.out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(steps)
		}
		c.tell(steps)
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&kind, "kind", "", "only memory, user, skill, installed or learning")
	return cmd
}

// widest is how much room references get before what stands beside them: a name
// that is longer pushes its own line only.
const widest = 36

func (c *call) tell(steps []step) {
	wide := 0
	for _, s := range steps {
		wide = max(wide, min(utf8.RuneCountInString(s.Ref), widest))
	}
	last := "-"
	for _, s := range steps {
		on := "by hand, at some time"
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
		c.say("Nothing was learned yet. Skills come from hard tasks that ended well: say yes when the agent offers to keep the way.")
	}
}

// counts tells how it went with what was learned.
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

// when orders steps: what has no date comes first.
func when(a, b step) int {
	if c := a.Date.Truncate(time.Second).Compare(b.Date.Truncate(time.Second)); c != 0 {
		return c
	}
	return strings.Compare(a.Ref, b.Ref)
}
