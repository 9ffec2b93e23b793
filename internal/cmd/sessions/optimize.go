package sessions

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

func newOptimize(f *factory.Factory) *cobra.Command {
	o := &base{Factory: f}
	return o.verb("optimize", "Optimize the search index and free disk space", "hermes sessions optimize", cobra.NoArgs, o.optimize)
}

func (o *base) optimize(ctx context.Context) error {
	s, err := o.Store(ctx)
	if err != nil {
		return err
	}
	before, err := s.Stats(ctx)
	if err != nil {
		return err
	}
	if err := s.Optimize(ctx); err != nil {
		return err
	}
	after, err := s.Stats(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Size on disk: %s before, %s now.\n", text.Size(before.FileBytes), text.Size(after.FileBytes))
	return nil
}

func newRepair(f *factory.Factory) *cobra.Command {
	return factory.Verb("repair", "Recover sessions from a damaged database", "hermes sessions repair", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		r, err := f.Repair(ctx)
		if err != nil {
			return err
		}
		c.Say("Recovered %s with %s.", text.Plural(r.Sessions, "session", "sessions"), text.Plural(r.Messages, "message", "messages"))
		if r.Lost > 0 {
			c.Say("%s of the damaged file could not be read.", text.Plural(r.Lost, "part", "parts"))
		}
		switch {
		case r.FromBackup > 0:
			c.Say("%d of the messages %s from the backup %s. Only what was in these parts and is newer may be missing.", r.FromBackup, word(r.FromBackup, "is", "are"), r.Backup)
		case r.Lost > 0 && r.Backup != "":
			c.Say("The backup %s has no more messages. Only what was in these parts and is newer may be missing.", r.Backup)
		case r.Lost > 0:
			c.Say("There is no backup to take more from.")
		}
		c.Say("The damaged file is kept as %s.", r.Kept)
		return nil
	})
}
