// Package skills is the commands about skills: `hermes skills` (look, search,
// install, write, decide), `hermes curator` (what becomes of unused ones),
// `hermes bundles` (names for several).
//
// What a skill is and what may change it is the matter of internal/skill, where
// they come from that of internal/skill/hub; this package puts both into words
// for a person. Start at NewCmd.
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
	// Open gives the library as seen from the working folder.
	Open func() (*skill.Library, error)
	// Hub gives the public places.
	Hub func() (*hub.Hub, error)
	// Load reads the configuration anew.
	Load func() (*config.Config, error)
	// Curation is the rules of the curator as they are configured.
	Curation func() (skill.Curation, error)
	// Journal opens the record of what can be taken back; done frees what it
	// opened.
	Journal func() (j *undo.Journal, done func() error, err error)
	// Dir is the working folder.
	Dir func() (string, error)
	// Edit opens a file in the person's editor.
	Edit func(ctx context.Context, path string) error
	// Terminal reports that a person can be asked.
	Terminal func() bool
	// Replay tries a skill on a recorded session, and books the outcome; turn 0
	// is the one with most calls.
	Replay func(ctx context.Context, name, session string, turn int64) (hermes.SkillTrial, error)
}

// NewCmd makes `hermes skills`; alone it lists.
func NewCmd(d Deps) *cobra.Command {
	list := d.list()
	cmd := &cobra.Command{Use: "skills", Short: "Look at skills, search, install, write and check them", Args: cobra.NoArgs, RunE: list.RunE}
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

// say prints a line. What strangers wrote cannot steer the terminal with it.
func (c *call) say(format string, args ...any) {
	fmt.Fprintln(c.out, printable(fmt.Sprintf(format, args...)))
}

// verb makes a command that works with the library.
func (d Deps) verb(use, short string, args cobra.PositionalArgs, work run) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		lib, err := d.Open()
		if err != nil {
			return err
		}
		return work(cmd.Context(), &call{lib: lib, out: cmd.OutOrStdout(), in: cmd.InOrStdin(), args: args})
	}}
}

// agreed asks the person, unless yes was given; without a terminal the answer
// is no.
func (d Deps) agreed(c *call, yes bool, question string) error {
	if yes {
		return nil
	}
	if !d.Terminal() {
		return errors.New("nobody can be asked here; say yes with -y")
	}
	fmt.Fprintf(c.out, "%s [y/N] ", question)
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && line == "" {
		return errors.New("nothing was answered, so nothing was done")
	}
	if a := strings.ToLower(strings.TrimSpace(line)); a != "y" && a != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}
