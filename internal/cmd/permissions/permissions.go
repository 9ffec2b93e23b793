// Package permissions is the command `hermes permissions`: it lists what the user
// has allowed for good, and ends it.
//
// Grants are made by answering "always" to an approval. What they cover and where
// they are kept is decided in internal/permission. Start at NewCmd.
package permissions

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/permission"
	"hermes/internal/text"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// NewCmd makes `hermes permissions`; without a verb it lists.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	list := n.list()
	cmd := &cobra.Command{
		Use: "permissions", Short: "Show and revoke what runs without asking", Args: cobra.NoArgs, RunE: list.RunE,
		Long: "A permission is made when you answer \"always\" to an approval. It is kept in permissions.yaml of your home\n" +
			"and holds in new sessions on the same platform, but not where no user can be asked.",
		Example: "  hermes permissions\n  hermes permissions revoke 1a2b3c4d",
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, n.revoke(), n.unattended())
	return cmd
}

func (n noun) revoke() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "revoke ID…", Short: "Ask again before such calls", Example: "  hermes permissions revoke 1a2b3c4d\n  hermes permissions revoke --all",
		Args: func(_ *cobra.Command, args []string) error {
			if all != (len(args) == 0) {
				return errors.New("name the permissions to revoke, or use --all; list them with `hermes permissions list`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f, _, err := n.App().Permissions()
			if err != nil {
				return err
			}
			if all {
				if args, err = ids(f); err != nil {
					return err
				}
			}
			return revoke(cmd.Context(), cmd.OutOrStdout(), f, args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "revoke all permissions")
	return cmd
}

func ids(f *permission.File) ([]string, error) {
	list, _, err := f.List()
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids, err
}

func revoke(ctx context.Context, out io.Writer, f *permission.File, ids []string) error {
	gone, err := f.Revoke(ctx, ids...)
	if err != nil {
		return listed(err)
	}
	for _, s := range gone {
		fmt.Fprintf(out, "Revoked %s: %s %s\n", s.ID, markup.Visible(s.Tool), markup.Visible(s.Key))
	}
	if len(gone) == 0 {
		fmt.Fprintln(out, "There are no permissions.")
		return nil
	}
	fmt.Fprintf(out, "%s ended. Sessions that are open ask again, too.\n", text.Plural(len(gone), "permission", "permissions"))
	return nil
}

func (n noun) unattended() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use: "unattended ID", Short: "Let a permission hold where no user can be asked", Args: cobra.ExactArgs(1),
		Example: "  hermes permissions unattended 1a2b3c4d\n  hermes permissions unattended 1a2b3c4d --off",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, _, err := n.App().Permissions()
			if err != nil {
				return err
			}
			if err := f.SetUnattended(cmd.Context(), args[0], !off); err != nil {
				return listed(err)
			}
			where := "also where no user can be asked"
			if off {
				where = "only where the user can be asked"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s holds %s.\n", args[0], where)
			return nil
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "hold only where the user can be asked")
	return cmd
}

// listed adds where to find ids to an error about one.
func listed(err error) error {
	if errors.Is(err, hermes.ErrNotFound) {
		return fmt.Errorf("%w; list them with `hermes permissions list`", err)
	}
	return err
}
