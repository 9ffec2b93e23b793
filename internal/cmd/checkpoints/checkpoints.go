// Package checkpoints holds the command `hermes checkpoints`, which lists, compares, restores
// and prunes snapshots of files. It finds the folder, shows what will happen and asks the user.
// internal/checkpoint keeps the snapshots and restores them. Start at NewCmd.
package checkpoints

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/checkpoint"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// NewCmd makes `hermes checkpoints`; without a verb it lists.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	list := n.list()
	cmd := factory.Noun("checkpoints", "List and restore snapshots of your files",
		"hermes checkpoints\n  hermes checkpoints diff 3\n  hermes checkpoints restore 3 main.go",
		list, n.diff(), n.restore(), n.prune())
	cmd.Long = "Before the agent changes files it makes a checkpoint of the folder, once a turn. Restoring one undoes what the\n" +
		"agent changed since; your own changes are kept."
	cmd.Flags().AddFlagSet(list.Flags())
	return cmd
}

// verb makes a verb that works on the store that the flags choose.
func (n noun) verb(p *place, use, short, example string, args cobra.PositionalArgs, do func(ctx context.Context, c *factory.Call, s *checkpoint.Store) error) *cobra.Command {
	return factory.Verb(use, short, example, args, func(ctx context.Context, c *factory.Call) error {
		if p.backend == "" && p.session == "" {
			s, err := n.App().Checkpoints()
			if err != nil {
				return err
			}
			return do(ctx, c, s)
		}
		at, err := n.App().CheckpointsAt(ctx, p.backend, p.session)
		if err != nil {
			return err
		}
		defer at.Close()
		p.elsewhere = at.Elsewhere
		if p.elsewhere || p.dir == "" {
			p.dir = at.Folder(p.dir)
		}
		return do(ctx, c, at.Store)
	})
}

// place is the folder whose checkpoints a command is about.
type place struct {
	dir              string
	backend, session string
	elsewhere        bool // the folder is not on this machine; dir is absolute
}

func (p *place) flags(cmd *cobra.Command) {
	p.flagDir(cmd)
	p.flagsElsewhere(cmd)
}

func (p *place) flagDir(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.dir, "dir", "C", "", "use the checkpoints of this `folder` (default: the current one)")
}

func (p *place) flagsElsewhere(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.backend, "backend", "", "those that this `backend` keeps where it works, such as docker or ssh")
	cmd.Flags().StringVar(&p.session, "session", "", "those where this `session` works")
	cmd.MarkFlagsMutuallyExclusive("backend", "session")
}

// find returns the folder with checkpoints and where the user is in it.
func (p place) find(s *checkpoint.Store) (folder string, err error) {
	dir := p.dir
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	folder, ok := s.Nearest(dir)
	if !ok {
		return "", fmt.Errorf("%s has no checkpoints; list those of all folders with `hermes checkpoints list --all`", dir)
	}
	return folder, nil
}

// relative returns paths, which the user gives from the current folder, as ones in the
// workspace.
func (p place) relative(folder string, paths []string) ([]string, error) {
	var out []string
	for _, arg := range paths {
		rel, ok := p.below(folder, arg)
		if !ok {
			return nil, usage.Errorf("%s is not in %s", arg, folder)
		}
		out = append(out, rel)
	}
	return out, nil
}

func (p place) below(folder, arg string) (rel string, ok bool) {
	if p.elsewhere {
		at := arg
		if !path.IsAbs(at) {
			at = path.Join(p.dir, arg)
		}
		rel, ok := strings.CutPrefix(path.Clean(at)+"/", strings.TrimSuffix(folder, "/")+"/")
		return cmp.Or(strings.TrimSuffix(rel, "/"), "."), ok
	}
	at := arg
	if !filepath.IsAbs(at) {
		at = filepath.Join(cmp.Or(p.dir, "."), arg)
	}
	at, err := filepath.Abs(at)
	if err != nil {
		return "", false
	}
	return checkpoint.Rel(folder, at)
}

func (n noun) list() *cobra.Command {
	var p place
	var all, asJSON, tree bool
	cmd := n.verb(&p, "list", "List checkpoints, newest first", "hermes checkpoints list\n  hermes checkpoints list --tree\n  hermes checkpoints list --all --json", cobra.NoArgs, func(ctx context.Context, c *factory.Call, s *checkpoint.Store) error {
		found, err := s.Workspaces()
		if err != nil {
			return err
		}
		shown := []checkpoint.Workspace{}
		folder, _ := p.find(s)
		for _, w := range found {
			if all || w.Folder == folder {
				shown = append(shown, w)
			}
		}
		if asJSON {
			return factory.WriteJSON(c.Out, shown)
		}
		if len(shown) == 0 {
			c.Say("No checkpoints.")
		}
		for i, w := range shown {
			if i > 0 {
				c.Say("")
			}
			show := n.show
			if tree {
				show = n.showTree
			}
			if err := show(ctx, c, w); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.Aliases = []string{"ls"}
	p.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "those of all folders")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&tree, "tree", false, "show which checkpoint follows which, oldest first, with sessions and messages")
	return cmd
}

// head prints the line above the checkpoints of one folder.
func head(c *factory.Call, w checkpoint.Workspace) {
	c.Say("%s  %s", text.VisibleName(w.Folder), text.Size(w.Size))
	for _, d := range w.Damaged {
		c.Note("hermes: %s is damaged", d)
	}
}

// show prints the checkpoints of one folder.
func (n noun) show(_ context.Context, c *factory.Call, w checkpoint.Workspace) error {
	head(c, w)
	numbers := map[string]int{}
	for _, s := range w.Snapshots {
		numbers[s.ID] = s.Number
	}
	table := factory.Table{Fit: n.Width()}
	for i := len(w.Snapshots) - 1; i >= 0; i-- {
		s := w.Snapshots[i]
		mark, from := "", ""
		if s.ID == w.Head {
			mark = "*"
		}
		if i > 0 && s.Parent != w.Snapshots[i-1].ID && s.Parent != "" {
			from = fmt.Sprintf("from %d", numbers[s.Parent])
		}
		about := s.Reason
		if s.Name != "" {
			about = s.Name
		}
		table.Row(mark, s.Number, s.Time.In(n.Now().Location()).Format(time.DateTime), text.Plural(s.Files, "file", "files"), from, text.OneLine(text.Visible(about), 200))
	}
	return table.Print(c.Out)
}

func (n noun) diff() *cobra.Command {
	var p place
	var to string
	cmd := n.verb(&p, "diff CHECKPOINT [PATH...]", "Show what changed since a checkpoint", "hermes checkpoints diff 3\n  hermes checkpoints diff 3 --to 5 src", cobra.MinimumNArgs(1), func(ctx context.Context, c *factory.Call, s *checkpoint.Store) error {
		folder, err := p.find(s)
		if err != nil {
			return err
		}
		paths, err := p.relative(folder, c.Args[1:])
		if err != nil {
			return err
		}
		changes, err := s.Diff(ctx, folder, c.Arg(0), to, paths)
		if err != nil {
			return err
		}
		for _, ch := range changes {
			fmt.Fprint(c.Out, text.Visible(ch.Text))
		}
		if len(changes) == 0 {
			c.Say("No changes.")
		}
		return nil
	})
	p.flags(cmd)
	cmd.Flags().StringVar(&to, "to", "", "compare with this `checkpoint` instead of the files as they are")
	return cmd
}

func (n noun) prune() *cobra.Command {
	var p place
	cmd := n.verb(&p, "prune", "Remove old checkpoints", "hermes checkpoints prune", cobra.NoArgs, func(ctx context.Context, c *factory.Call, s *checkpoint.Store) error {
		did, err := s.Prune(ctx)
		if err != nil {
			return err
		}
		c.Say("Removed %s, freed %s. Checkpoints take %s now.", text.Plural(did.Snapshots, "checkpoint", "checkpoints"), text.Size(did.Freed), text.Size(did.Size))
		if len(did.Busy) > 0 {
			c.Note("hermes: %s in use and not pruned: %s", text.Plural(len(did.Busy), "folder is", "folders are"), strings.Join(did.Busy, ", "))
		}
		return nil
	})
	p.flagsElsewhere(cmd)
	return cmd
}
