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
	"io"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
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
	cmd := &cobra.Command{
		Use: "skills", Short: "List, search, install and write skills", Args: cobra.NoArgs, RunE: list.RunE,
		Example: "  hermes skills list\n  hermes skills search pdf\n  hermes skills install anthropics/skills/pdf",
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(
		list, n.inspect(), n.browse(), n.search(), n.install(), n.check(), n.update(), n.audit(), n.uninstall(),
		n.create(), n.edit(), n.remove(), n.reset(), n.optOut(), n.optIn(), n.config(),
		n.pending(), n.diff(), n.approve(), n.reject(), n.replay(), n.trust(), n.untrust(), n.tap(), n.snapshot(), n.publish(),
	)
	return cmd
}

// run is the work of a verb.
type run func(ctx context.Context, c *call) error

// call is one use of a verb.
type call struct {
	lib  *skill.Library
	out  io.Writer
	in   io.Reader
	args []string
}

// say prints a line without control characters, since skills come from strangers.
func (c *call) say(format string, args ...any) {
	fmt.Fprintln(c.out, printable(fmt.Sprintf(format, args...)))
}

// verb makes a command that works with the library.
func (n noun) verb(use, short, example string, args cobra.PositionalArgs, work run) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		lib, err := n.Open()
		if err != nil {
			return err
		}
		return work(cmd.Context(), &call{lib: lib, out: cmd.OutOrStdout(), in: cmd.InOrStdin(), args: args})
	}}
}

// confirm asks the user, unless yes is set.
func (n noun) confirm(c *call, yes bool, question string) error {
	if yes {
		return nil
	}
	return n.Confirm(c.in, c.out, question)
}
