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

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/audit"
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
	cmd := factory.Noun("permissions", "Show, test and revoke what runs without asking",
		"hermes permissions\n  hermes permissions revoke 1a2b3c4d\n  hermes permissions test 'terminal: rm -rf build'",
		list, n.revoke(), n.unattended(), n.test(), n.suggest())
	cmd.Long = "A permission is made when you answer \"always\" to an approval. It is kept in permissions.yaml of your home\n" +
		"and holds in new sessions on the same platform, but not where no user can be asked.\n\n" +
		"The section rules of the same file is yours: it denies, asks or allows calls by tool and subject. See docs/permissions.md."
	cmd.Flags().AddFlagSet(list.Flags())
	return cmd
}

func (n noun) file() (*permission.File, error) {
	f, _, err := n.App().Permissions()
	return f, err
}

func (n noun) revoke() *cobra.Command {
	var all bool
	named := func(_ *cobra.Command, args []string) error {
		if all != (len(args) == 0) {
			return errors.New("name the permissions to revoke, or use --all; list them with `hermes permissions list`")
		}
		return nil
	}
	cmd := factory.VerbOn(n.file, "revoke ID…", "Ask again before such calls", "hermes permissions revoke 1a2b3c4d\n  hermes permissions revoke --all", named, func(ctx context.Context, c *factory.Call, f *permission.File) error {
		ids := c.Args
		if all {
			list, _, err := f.List()
			if err != nil {
				return err
			}
			for _, s := range list {
				ids = append(ids, s.ID)
			}
		}
		gone, err := f.Revoke(ctx, ids...)
		if err != nil {
			return listed(err)
		}
		if err := n.record(ctx, gone); err != nil {
			c.Note("hermes: the permissions are revoked, but that is missing in the audit log: %v", err)
		}
		for _, s := range gone {
			c.Say("Revoked %s: %s %s", s.ID, markup.Visible(s.Tool), markup.Visible(s.Key))
		}
		if len(gone) == 0 {
			c.Say("There are no permissions.")
			return nil
		}
		c.Say("%s ended. Sessions that are open ask again, too.", text.Plural(len(gone), "permission", "permissions"))
		return nil
	})
	cmd.Flags().BoolVar(&all, "all", false, "revoke all permissions")
	return cmd
}

// record writes to the audit log which permissions have ended.
func (n noun) record(ctx context.Context, gone []permission.Stored) error {
	if len(gone) == 0 {
		return nil
	}
	var err error
	for _, s := range gone {
		if err == nil {
			err = n.App().Record(ctx, audit.Row{Kind: audit.KindRevoked, By: "user", Tool: s.Tool, Risks: []string{s.Key}, Subject: s.Subject, Dir: s.Dir, Platform: s.Platform})
		}
	}
	return err
}

func (n noun) unattended() *cobra.Command {
	var off bool
	cmd := factory.VerbOn(n.file, "unattended ID", "Let a permission hold where no user can be asked", "hermes permissions unattended 1a2b3c4d\n  hermes permissions unattended 1a2b3c4d --off", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, f *permission.File) error {
		if err := f.SetUnattended(ctx, c.Args[0], !off); err != nil {
			return listed(err)
		}
		where := "also where no user can be asked"
		if off {
			where = "only where the user can be asked"
		}
		c.Say("%s holds %s.", c.Args[0], where)
		return n.App().Record(ctx, audit.Row{Kind: audit.KindGrant, By: "user", Subject: "permission " + c.Args[0], Note: "holds " + where})
	})
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
