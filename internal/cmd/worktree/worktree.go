// Package worktree holds the command `hermes worktree`, which lists and removes the Git
// worktrees that sessions work in. It shows what would be lost; internal/worktree finds that
// out. Start at NewCmd.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/worktree"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// NewCmd makes `hermes worktree`; without a verb it lists.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	list := n.list()
	cmd := factory.Noun("worktree", "List and remove the Git worktrees of sessions",
		"hermes --worktree\n  hermes worktree list\n  hermes worktree remove fix-the-build", list, n.remove())
	cmd.Long = "`hermes --worktree` starts a session in a Git worktree of its own. At its end that is removed if nothing in it\n" +
		"would be lost."
	cmd.Flags().AddFlagSet(list.Flags())
	return cmd
}

func (n noun) open() (*app.Worktrees, error) { return n.App().Worktrees() }

// shown is a worktree in a list.
type shown struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"`
	Branch   string    `json:"branch"`
	Sessions []string  `json:"sessions"`
	Made     time.Time `json:"made"`
	// Lost is what would be lost with it; empty if nothing would.
	Lost []string `json:"would_be_lost"`
}

func (n noun) list() *cobra.Command {
	var asJSON bool
	cmd := factory.VerbOn(n.open, "list", "List the worktrees, and what would be lost with each", "hermes worktree list\n  hermes worktree list --json", cobra.NoArgs, func(ctx context.Context, c *factory.Call, trees *app.Worktrees) error {
		all, err := trees.Records()
		if err != nil {
			return err
		}
		list := []shown{}
		for _, r := range all {
			if r.State != worktree.Ready {
				continue
			}
			s := shown{Name: r.Name, Path: r.Path, Branch: r.Branch, Made: r.Made, Lost: []string{}}
			if s.Sessions, err = n.sessions(ctx, r); err != nil {
				return err
			}
			if _, err := os.Lstat(r.Path); errors.Is(err, os.ErrNotExist) {
				s.Lost = append(s.Lost, "its folder is gone")
			} else {
				s.Lost = append(s.Lost, trees.Look(ctx, r)...)
			}
			list = append(list, s)
		}
		if asJSON {
			return factory.WriteJSON(c.Out, list)
		}
		if len(list) == 0 {
			c.Say("No worktrees.")
			return nil
		}
		table := factory.Table{Fit: n.Width()}
		for _, s := range list {
			state := "clean"
			if len(s.Lost) > 0 {
				state = strings.Join(s.Lost, "; ")
			}
			table.Row(s.Name, text.VisibleName(s.Path), s.Branch, strings.Join(s.Sessions, " "), n.Now().Sub(s.Made).Round(time.Minute).String(), state)
		}
		return table.Print(c.Out)
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// sessions returns the ids of the sessions that began in a worktree, the last active first.
func (n noun) sessions(ctx context.Context, r worktree.Record) ([]string, error) {
	ids := []string{}
	store, err := n.Reader(ctx)
	if err != nil {
		return ids, err
	}
	rows, err := store.ListSessions(ctx, hermes.SessionFilter{Dir: r.Start, Archived: true})
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return slices.Compact(ids), err
}

func (n noun) remove() *cobra.Command {
	var force bool
	cmd := factory.VerbOn(n.open, "remove NAME", "Remove a worktree, unless something would be lost", "hermes worktree remove fix-the-build\n  hermes worktree remove fix-the-build --force", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, trees *app.Worktrees) error {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		r, err := trees.Named(dir, c.Arg(0))
		if err != nil {
			return err
		}
		gone, err := trees.Remove(ctx, r, force)
		var loss *worktree.LossError
		if errors.As(err, &loss) {
			return fmt.Errorf("%w. Save it, or remove all of it with --force; commits stay on the branch %s", loss, r.Branch)
		}
		if err != nil {
			return err
		}
		for _, l := range gone.Lost {
			c.Say("Lost: %s", l)
		}
		if gone.Kept != "" {
			c.Say("Removed %s. Its branch %s is kept; merge it with `git merge %s`.", text.VisibleName(r.Path), gone.Kept, gone.Kept)
			return nil
		}
		c.Say("Removed %s and its branch.", text.VisibleName(r.Path))
		return nil
	})
	cmd.Aliases = []string{"rm"}
	cmd.Flags().BoolVar(&force, "force", false, "also remove what would be lost, and what is in use")
	return cmd
}
