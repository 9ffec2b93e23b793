// Package skills holds the commands about skills: `hermes skills` (list, search,
// install, write and approve them), `hermes curator` (archive unused ones) and
// `hermes bundles` (names for several).
//
// It reads flags, asks the user and prints. The rules of skills are in
// internal/skill, the registries they come from in internal/skill/hub. Start at
// NewCmd.
package skills

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/skill"
	"hermes/internal/skill/hub"
	"hermes/internal/undo"
)

// Deps are what the verbs need.
type Deps struct {
	// Open returns the library as seen from the working folder.
	Open func() (*skill.Library, error)
	// Hub returns the registries.
	Hub func() (*hub.Hub, error)
	// Load reads the configuration again at every call.
	Load func() (*config.Config, error)
	// Curation returns the configured rules of the curator.
	Curation func() (skill.Curation, error)
	// Journal opens the record of changes that can be undone; done closes it.
	Journal func() (j *undo.Journal, done func() error, err error)
	// Dir is the working folder.
	Dir func() (string, error)
	// Edit opens a file in the user's editor.
	Edit func(ctx context.Context, path string) error
	// Terminal reports whether the user can be asked.
	Terminal func() bool
	// Replay tries a skill on a recorded session and records the outcome. Turn 0
	// means the turn with the most calls.
	Replay func(ctx context.Context, name, session string, turn int64) (hermes.SkillTrial, error)
}

// NewCmd makes `hermes skills`. Without a verb it lists the skills.
func NewCmd(d Deps) *cobra.Command {
	list := d.list()
	cmd := &cobra.Command{
		Use: "skills", Short: "List, search, install and write skills", Args: cobra.NoArgs, RunE: list.RunE,
		Example: "  hermes skills list\n  hermes skills search pdf\n  hermes skills install anthropics/skills/pdf",
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(
		list, d.inspect(), d.browse(), d.search(), d.install(), d.check(), d.update(), d.audit(), d.uninstall(),
		d.create(), d.edit(), d.remove(), d.reset(), d.optOut(), d.optIn(), d.config(),
		d.pending(), d.diff(), d.approve(), d.reject(), d.replay(), d.trust(), d.untrust(), d.tap(), d.snapshot(), d.publish(),
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
func (d Deps) verb(use, short, example string, args cobra.PositionalArgs, work run) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		lib, err := d.Open()
		if err != nil {
			return err
		}
		return work(cmd.Context(), &call{lib: lib, out: cmd.OutOrStdout(), in: cmd.InOrStdin(), args: args})
	}}
}

// confirm asks the user, unless yes is set. Without a terminal the answer is no.
func (d Deps) confirm(c *call, yes bool, question string) error {
	if yes {
		return nil
	}
	if !d.Terminal() {
		return errors.New("no terminal to ask on; use --yes to confirm")
	}
	fmt.Fprintf(c.out, "%s [y/N] ", question)
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && line == "" {
		return errors.New("no answer; nothing was changed")
	}
	if a := strings.ToLower(strings.TrimSpace(line)); a != "y" && a != "yes" {
		return errors.New("canceled; nothing was changed")
	}
	return nil
}
