package auth

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/credential"
	"hermes/internal/markup"
	"hermes/internal/text"
)

func (n noun) remove() *cobra.Command {
	cmd := n.verb("remove PROVIDER WHICH", "Remove a key or login by position, id or label", "hermes auth remove openrouter work", cobra.ExactArgs(2), func(ctx context.Context, c *factory.Call, name string, p *credential.Pool) error {
		e, err := p.Remove(ctx, c.Args[1])
		if err != nil {
			return fmt.Errorf("remove %q of %s: %w", c.Args[1], name, err)
		}
		c.Say("Removed %q from %s. The service still accepts it. Revoke it there if others may have seen it.", markup.Visible(e.Label), name)
		return nil
	})
	cmd.Aliases = []string{"rm"}
	return cmd
}

func (n noun) reset() *cobra.Command {
	cmd := n.verb("reset PROVIDER [WHICH]", "Make paused keys and logins usable again", "hermes auth reset openrouter", cobra.RangeArgs(1, 2), func(ctx context.Context, c *factory.Call, name string, p *credential.Pool) error {
		freed, err := p.Reset(ctx, c.Arg(1))
		switch {
		case err != nil:
			return err
		case freed == 0:
			c.Say("Nothing to reset for %s.", name)
		default:
			c.Say("%s usable again for %s.", text.Plural(freed, "credential", "credentials"), name)
		}
		return nil
	})
	cmd.Long = "Make the paused keys and logins of a service usable again, or only one (position, id or label)."
	return cmd
}

func (n noun) priority() *cobra.Command {
	cmd := n.verb("priority PROVIDER WHICH NUMBER", "Set the priority; the smallest number is used first", "hermes auth priority openrouter work 1", cobra.ExactArgs(3), func(ctx context.Context, c *factory.Call, name string, p *credential.Pool) error {
		number, err := strconv.Atoi(c.Args[2])
		if err != nil {
			return fmt.Errorf("priority %q is not a whole number", c.Args[2])
		}
		e, err := p.Prefer(ctx, c.Args[1], number)
		if err == nil {
			c.Say("Set the priority of %q of %s to %d.", markup.Visible(e.Label), name, number)
		}
		return err
	})
	cmd.Long = "Set the priority of a key or login (position, id or label). The smallest number is used first."
	return cmd
}

func (n noun) refresh() *cobra.Command {
	return n.verb("refresh PROVIDER WHICH", "Renew a login now", "hermes auth refresh openrouter 1", cobra.ExactArgs(2), func(ctx context.Context, c *factory.Call, name string, p *credential.Pool) error {
		e, err := p.Renew(ctx, c.Args[1])
		if err != nil {
			return fmt.Errorf("renew %q of %s: %w", c.Args[1], name, err)
		}
		c.Say("Renewed %q of %s: %s.", markup.Visible(e.Label), name, validity(e.Expires, n.Now()))
		return nil
	})
}

func (n noun) logout() *cobra.Command {
	return n.verb("logout PROVIDER", "Remove the logins of a service and keep its keys", "hermes auth logout openrouter", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, name string, p *credential.Pool) error {
		gone, err := p.Logout(ctx)
		if err != nil {
			return err
		}
		for _, e := range gone {
			c.Say("Removed the login %q at %s.", markup.Visible(e.Label), name)
		}
		if len(gone) == 0 {
			c.Say("No login at %s.", name)
		}
		return nil
	})
}
