package profile

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/home"
	"hermes/internal/text"
)

func (n noun) remove() *cobra.Command {
	var yes bool
	cmd := n.verb("delete NAME", "Delete a profile and everything in it", "hermes profile delete work", cobra.ExactArgs(1), func(c *call) error { return n.erase(c, yes) })
	cmd.Aliases, cmd.ValidArgsFunction = []string{"rm"}, n.completeNames
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation")
	return cmd
}

func (n noun) erase(c *call, yes bool) error {
	p, err := c.existing(c.Args[0])
	if err != nil {
		return err
	}
	if p.Profile() == home.Default {
		return errors.New("the default profile cannot be deleted; it is the main home")
	}
	if n.used != nil {
		if used, err := n.used(p); err != nil {
			return err
		} else if used {
			return fmt.Errorf("profile %s is in use by a running Hermes; quit that first", p.Profile())
		}
	}
	files, bytes := p.Weigh()
	if !yes {
		fmt.Fprintf(c.Out, "Delete profile %s with %s (%s) in %s? Type its name to confirm: ", p.Profile(), text.Plural(files, "file", "files"), text.Size(bytes), p.Path())
		answer, _ := bufio.NewReader(c.In).ReadString('\n')
		if strings.TrimSpace(answer) != p.Profile() {
			if !strings.HasSuffix(answer, "\n") { // the input ended without Enter
				fmt.Fprintln(c.Out)
			}
			return errors.New("nothing was deleted; type the name of the profile, or use --yes")
		}
	}
	if sticky, err := c.home.Sub(c.home.Sticky()); err == nil && sticky == p {
		root, _ := c.home.Sub(home.Default)
		if err := root.Stick(); err != nil {
			return err
		}
		c.Say("It was the current profile. The default profile is used now.")
	}
	if err := os.RemoveAll(p.Path()); err != nil {
		return fmt.Errorf("delete the profile: %w", err)
	}
	c.Say("Deleted profile %s.", p.Profile())
	return nil
}
