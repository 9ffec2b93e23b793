package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/plugin"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// serve adds the commands of the service that is used: `hermes memory SERVICE COMMAND ...`. They are
// looked for only if the name is that of no verb, or help is asked for.
func (n noun) serve(cmd *cobra.Command) {
	plain := cmd.RunE
	cmd.Flags().SetInterspersed(false) // what follows is for the service
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if s := n.Service(); s != nil && s.Name() == args[0] {
			return nil
		}
		return cobra.NoArgs(cmd, args)
	}
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return plain(c, args)
		}
		s := n.Service()
		if s == nil { // it was there a moment ago
			return fmt.Errorf("the memory service %s is not used any more", args[0])
		}
		return run(c.Context(), &factory.Call{In: c.InOrStdin(), Out: c.OutOrStdout(), Err: c.ErrOrStderr(), Args: args[1:]}, s)
	}
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		help(c, args)
		if c != cmd {
			return
		}
		if s := n.Service(); s != nil {
			fmt.Fprintf(c.OutOrStdout(), "\nCommands of the memory service %s:\n", s.Name())
			list(c.OutOrStdout(), s)
		}
	})
}

// run runs a command of the service. Without one it lists them.
func run(ctx context.Context, c *factory.Call, s Service) error {
	if len(c.Args) == 0 || c.Args[0] == "--help" || c.Args[0] == "-h" {
		list(c.Out, s)
		return nil
	}
	known := false
	for _, one := range s.Commands() {
		known = known || one.Name == c.Args[0]
	}
	if !known {
		return usage.Errorf("unknown command `hermes memory %s %s`", s.Name(), text.VisibleName(c.Args[0]))
	}
	said, code, err := s.Run(ctx, c.Args[0], c.Args[1:])
	if err != nil {
		return err
	}
	if said = strings.TrimRight(text.Visible(said), "\n"); said != "" {
		c.Say("%s", said)
	}
	if code != 0 {
		return &app.ExitError{Status: code}
	}
	return nil
}

// list shows the commands of a service.
func list(out io.Writer, s Service) {
	t := factory.Table{}
	for _, one := range s.Commands() {
		t.Row("  hermes memory "+s.Name()+" "+shown(one), text.Visible(one.Help))
	}
	_ = t.Print(out) // as for all help
}

func shown(c plugin.Command) string {
	return strings.TrimSpace(c.Name + " " + text.Visible(c.Args))
}
