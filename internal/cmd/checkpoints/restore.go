package checkpoints

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hermes/internal/checkpoint"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

func (n noun) restore() *cobra.Command {
	var p place
	var all, preview, yes bool
	cmd := n.verb(&p, "restore CHECKPOINT [PATH...]", "Undo what the agent changed since a checkpoint", "hermes checkpoints restore 3\n  hermes checkpoints restore 3 main.go --preview", cobra.MinimumNArgs(1), func(ctx context.Context, c *factory.Call, s *checkpoint.Store) error {
		folder, err := p.find(s)
		if err != nil {
			return err
		}
		paths, err := p.relative(folder, c.Args[1:])
		if err != nil {
			return err
		}
		plan, err := s.Plan(ctx, folder, c.Arg(0), checkpoint.RestoreOptions{Paths: paths, All: all})
		if err != nil {
			return err
		}
		showPlan(c, plan)
		if len(plan.Steps) == 0 || preview {
			return nil
		}
		if !yes {
			err := n.Confirm(c.In, c.Out, fmt.Sprintf("Restore %s in %s?", text.Plural(len(plan.Steps), "path", "paths"), text.VisibleName(folder)))
			if errors.Is(err, factory.ErrCanceled) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		did, err := s.Restore(ctx, plan, checkpoint.Meta{Reason: fmt.Sprint("before restoring ", plan.Snapshot.Number)})
		if err != nil {
			return err
		}
		c.Say("Restored %s. Undo it with: hermes checkpoints restore %d", text.Plural(did.Done, "path", "paths"), did.Before.Number)
		for _, k := range did.Failed {
			c.Note("hermes: %s was not restored: %s", text.VisibleName(k.Path), k.Why)
		}
		if len(did.Failed) > 0 {
			return errors.New("some files were not restored; see above")
		}
		return nil
	})
	p.flags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&all, "all", false, "restore everything, also what you changed yourself")
	flags.BoolVar(&preview, "preview", false, "show what would be restored, and change nothing")
	flags.BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

// showPlan prints what a restore will do and what it will not touch.
func showPlan(c *factory.Call, p checkpoint.Plan) {
	for _, st := range p.Steps {
		fmt.Fprint(c.Out, text.Visible(st.Text))
	}
	for _, k := range p.Yours {
		c.Say("kept: %s (%s)", text.VisibleName(k.Path), k.Why)
	}
	for _, k := range p.Conflicts {
		c.Say("conflict: %s: %s; it stays as it is", text.VisibleName(k.Path), k.Why)
	}
	switch {
	case len(p.Steps) == 0 && len(p.Yours)+len(p.Conflicts) == 0:
		c.Say("Nothing to restore: the files are as they were.")
	case len(p.Steps) == 0:
		c.Say("Nothing to restore. Restore what is kept, too, with --all.")
	}
}
