package memory

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes/internal/memory"
)

func newPendingCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "pending", Short: "List the changes that wait for you", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := d.File()
			if err != nil {
				return err
			}
			return pending(b, cmd.OutOrStdout())
		},
	}
}

func pending(b *memory.File, out io.Writer) error {
	waiting, err := b.Proposals()
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		fmt.Fprintln(out, "No changes are waiting.")
		return nil
	}
	for _, p := range waiting {
		fmt.Fprintf(out, "%s   %s, %s\n%s\n", p.ID, p.At.Local().Format("2006-01-02 15:04"), p.By, printable(p.Describe()))
	}
	return nil
}

func newApproveCmd(d Deps) *cobra.Command {
	return newDecideCmd(d, "approve", "Carry out a change that waits, or all", func(cmd *cobra.Command, b *memory.File, id string) error {
		s, err := b.Approve(cmd.Context(), id)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%s approved; %s [%s]\n", id, s.Target, s.Usage())
		}
		return err
	})
}

func newRejectCmd(d Deps) *cobra.Command {
	return newDecideCmd(d, "reject", "Drop a change that waits, or all", func(cmd *cobra.Command, b *memory.File, id string) error {
		err := b.Reject(id)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%s rejected\n", id)
		}
		return err
	})
}

func newDecideCmd(d Deps, verb, short string, decide func(*cobra.Command, *memory.File, string) error) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID…|all", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			b, err := d.File()
			if err != nil {
				return err
			}
			if len(ids) == 1 && ids[0] == "all" {
				if ids, err = b.Waiting(); err != nil {
					return err
				}
				if len(ids) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "No changes are waiting.")
				}
			}
			for _, id := range ids {
				if err := decide(cmd, b, id); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
