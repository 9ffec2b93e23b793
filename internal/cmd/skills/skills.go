// Package skills holds the commands about skills: `hermes skills` (list, search,
// install, write and approve them), `hermes curator` (archive unused ones) and
// `hermes bundles` (names for several).
//
// It reads flags, asks the user and prints. The rules of skills are in
// internal/skill, the registries they come from in internal/skill/hub. Start at
// NewCmd.
package skills

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/skill"
	"hermes/internal/skill/hub"
	"hermes/internal/undo"
)

// Source is where skills come from.
type Source interface {
	// Open returns the library as seen from the working folder.
	Open() (*skill.Library, error)
	// Hub returns the registries.
	Hub() (*hub.Hub, error)
	// Curation returns the configured rules of the curator.
	Curation() (skill.Curation, error)
	// Journal returns the record of changes that can be undone.
	Journal() (*undo.Journal, error)
	// Replay tries a skill on a recorded session and records the outcome. Turn 0
	// means the turn with the most calls.
	Replay(ctx context.Context, name, session string, turn int64) (hermes.SkillTrial, error)
}

// fromApp is the Source of the app.
type fromApp struct{ *factory.Factory }

func (f fromApp) Open() (*skill.Library, error) {
	lib, err := f.App().Skills()
	if err != nil {
		return nil, err
	}
	dir, err := f.Dir()
	if err != nil {
		return nil, err
	}
	return lib.In(dir), nil
}

func (f fromApp) Hub() (*hub.Hub, error) { return f.App().SkillHub() }

func (f fromApp) Curation() (skill.Curation, error) { return f.App().Curation() }

func (f fromApp) Journal() (*undo.Journal, error) { return f.App().Changes() }

func (f fromApp) Replay(ctx context.Context, name, session string, turn int64) (t hermes.SkillTrial, err error) {
	lib, err := f.App().Skills()
	if err != nil {
		return t, err
	}
	return lib.Replay(ctx, name, session, turn)
}

// noun makes the verbs.
type noun struct {
	*factory.Factory
	Source
}

func newNoun(f *factory.Factory, s Source) noun {
	if s == nil {
		s = fromApp{f}
	}
	return noun{f, s}
}

// NewCmd makes `hermes skills`. Without a verb it lists the skills. A source replaces
// the app in tests.
func NewCmd(f *factory.Factory, s Source) *cobra.Command {
	n := newNoun(f, s)
	list := n.list()
	cmd := factory.Noun("skills", "List, search, install and write skills",
		"hermes skills list\n  hermes skills search pdf\n  hermes skills install anthropics/skills/pdf",
		list, n.inspect(), n.install(), n.check(), n.update(), n.audit(), n.uninstall(),
		n.searching("search QUERY", "Search the registries for skills", "hermes skills search pdf", cobra.MinimumNArgs(1)),
		n.searching("browse [QUERY]", "Browse the registries", "hermes skills browse --source github", cobra.ArbitraryArgs),
		n.create(), n.edit(), n.remove(), n.reset(), n.optOut(), n.optIn(), n.config(), n.diff(),
		n.replay(), n.trust(), n.untrust(), n.tap(), n.snapshot(), n.publish(),
	)
	cmd.AddCommand(n.pending().Verbs()...)
	cmd.Flags().AddFlagSet(list.Flags())
	return cmd
}

// run is the work of a verb.
type run func(ctx context.Context, c *call) error

// call is one use of a verb, with the library.
type call struct {
	*factory.Call
	lib *skill.Library
}

// say prints a line without control characters, since skills come from strangers.
func (c *call) say(format string, args ...any) {
	c.Say("%s", markup.Visible(fmt.Sprintf(format, args...)))
}

// verb makes a command that works with the library.
func (n noun) verb(use, short, example string, args cobra.PositionalArgs, work run) *cobra.Command {
	return factory.VerbOn(n.Open, use, short, example, args, func(ctx context.Context, c *factory.Call, lib *skill.Library) error {
		return work(ctx, &call{c, lib})
	})
}

// simple makes a command that does one thing and says so, if it did.
func (n noun) simple(use, short, example string, args cobra.PositionalArgs, do func(ctx context.Context, c *call) (said string, err error)) *cobra.Command {
	return n.verb(use, short, example, args, func(ctx context.Context, c *call) error {
		said, err := do(ctx, c)
		if err == nil {
			c.say("%s", said)
		}
		return err
	})
}

// confirm asks the user, unless yes is set.
func (n noun) confirm(c *call, yes bool, question string) error {
	if yes {
		return nil
	}
	return n.Confirm(c.In, c.Out, question)
}
