package auth

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func newRemoveCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "remove PROVIDER WHICH", Aliases: []string{"rm"}, Short: "Remove a key or login by position, id or label",
		Example: "  hermes auth remove openrouter work",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			name, p, err := n.Pool(args[0])
			if err != nil {
				return err
			}
			e, err := p.Remove(c.Context(), args[1])
			if err != nil {
				return fmt.Errorf("remove %q of %s: %w", args[1], name, err)
			}
			fmt.Fprintf(c.OutOrStdout(), "Removed %q from %s. The service still accepts it. Revoke it there if others may have seen it.\n", plain(e.Label), name)
			return nil
		},
	}
}

func newResetCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "reset PROVIDER [WHICH]", Short: "Make paused keys and logins usable again",
		Long:    "Make the paused keys and logins of a service usable again, or only one (position, id or label).",
		Example: "  hermes auth reset openrouter",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			name, p, err := n.Pool(args[0])
			if err != nil {
				return err
			}
			which := ""
			if len(args) > 1 {
				which = args[1]
			}
			freed, err := p.Reset(c.Context(), which)
			if err != nil {
				return err
			}
			if freed == 0 {
				fmt.Fprintf(c.OutOrStdout(), "Nothing to reset for %s.\n", name)
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "%s again for %s.\n", count(freed, "usable"), name)
			return nil
		},
	}
}

func newPriorityCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "priority PROVIDER WHICH NUMBER", Short: "Set the priority; the smallest number is used first",
		Long:    "Set the priority of a key or login (position, id or label). The smallest number is used first.",
		Example: "  hermes auth priority openrouter work 1",
		Args:    cobra.ExactArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := strconv.Atoi(args[2])
			if err != nil {
				return fmt.Errorf("priority %q is not a whole number", args[2])
			}
			name, p, err := n.Pool(args[0])
			if err != nil {
				return err
			}
			e, err := p.Prefer(c.Context(), args[1], number)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "Set the priority of %q of %s to %d.\n", plain(e.Label), name, number)
			return nil
		},
	}
}

func newRefreshCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "refresh PROVIDER WHICH", Short: "Renew a login now",
		Example: "  hermes auth refresh openrouter 1",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			name, p, err := n.Pool(args[0])
			if err != nil {
				return err
			}
			e, err := p.Renew(c.Context(), args[1])
			if err != nil {
				return fmt.Errorf("renew %q of %s: %w", args[1], name, err)
			}
			fmt.Fprintf(c.OutOrStdout(), "Renewed %q of %s: %s.\n", plain(e.Label), name, validity(e.Expires, n.Now()))
			return nil
		},
	}
}

func newLogoutCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "logout PROVIDER", Short: "Remove the logins of a service and keep its keys",
		Example: "  hermes auth logout openrouter",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name, p, err := n.Pool(args[0])
			if err != nil {
				return err
			}
			gone, err := p.Logout(c.Context())
			if err != nil {
				return err
			}
			if len(gone) == 0 {
				fmt.Fprintf(c.OutOrStdout(), "No login at %s.\n", name)
				return nil
			}
			for _, e := range gone {
				fmt.Fprintf(c.OutOrStdout(), "Removed the login %q at %s.\n", plain(e.Label), name)
			}
			return nil
		},
	}
}
