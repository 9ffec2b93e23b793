package memory

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes/internal/memory"
)

func newPendingCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "pending", Short: "List changes that wait for your approval", Args: cobra.NoArgs, Example: "  hermes memory pending",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := n.file()
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
		fmt.Fprintln(out, "No pending changes.")
		return nil
	}
	for _, p := range waiting {
		fmt.Fprintf(out, "%s   %s, %s\n%s\n", p.ID, p.At.Local().Format("2006-01-02 15:04"), p.By, printable(p.Describe()))
	}
	return nil
}

func newApproveCmd(n noun) *cobra.Command {
	return newDecideCmd(n, "approve", "Apply pending changes", func(cmd *cobra.Command, b *memory.File, id string) error {
		s, err := b.Approve(cmd.Context(), id)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "Approved %s. %s [%s]\n", id, s.Target, s.Usage())
		}
		return err
	})
}

func newRejectCmd(n noun) *cobra.Command {
	return newDecideCmd(n, "reject", "Discard pending changes", func(cmd *cobra.Command, b *memory.File, id string) error {
		err := b.Reject(id)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "Rejected %s.\n", id)
		}
		return err
	})
}

func newDecideCmd(n noun, verb, short string, decide func(*cobra.Command, *memory.File, string) error) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID…|all", Short: short, Args: cobra.MinimumNArgs(1), Example: "  hermes memory " + verb + " all",
		RunE: func(cmd *cobra.Command, ids []string) error {
			b, err := n.file()
			if err != nil {
				return err
			}
			if len(ids) == 1 && ids[0] == "all" {
				if ids, err = b.Waiting(); err != nil {
					return err
				}
				if len(ids) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "No pending changes.")
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
