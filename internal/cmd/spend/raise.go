package spend

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/spend"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// raiseOptions are the options of `spend raise`.
type raiseOptions struct {
	governor
	Out    io.Writer
	Kind   string
	Amount string
	Name   string
}

func newRaiseCmd(g governor) *cobra.Command {
	o := &raiseOptions{governor: g}
	cmd := &cobra.Command{
		Use:   "raise KIND AMOUNT",
		Short: "Raise a cap temporarily",
		Long: "Raise the cap of the current day or month, or of the session, tree of sub-agents or job given with --name.\n" +
			"The amount is added to the cap: 5 means five dollars, 200k tokens means tokens.\n" +
			"To change a cap permanently, use `hermes config set spend.…`.",
		Example: "  hermes spend raise day 5\n  hermes spend raise session 200k tokens --name 20261120_101500_a1b2c3",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Kind, o.Amount = cmd.OutOrStdout(), args[0], strings.Join(args[1:], " ")
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.Name, "name", "", "session, tree or job to raise the cap for; not needed for day and month")
	return cmd
}

func (o *raiseOptions) run(ctx context.Context) error {
	kind := hermes.AccountKind(strings.ToLower(o.Kind))
	if err := o.check(kind); err != nil {
		return err
	}
	by, err := spend.ParseAmount(o.Amount)
	if err != nil {
		return err
	}
	g, err := o.open()
	if err != nil {
		return err
	}
	if err := g.Raise(ctx, "", o.Name, kind, by); err != nil {
		return err
	}
	what := by.Money.String()
	if by.Tokens != 0 {
		what = text.Tokens(by.Tokens) + " tokens"
	}
	fmt.Fprintf(o.Out, "Raised the %s cap by %s.\n", kind, what)
	return nil
}

// check refuses a cap that this command cannot raise.
func (o *raiseOptions) check(kind hermes.AccountKind) error {
	switch kind {
	case hermes.AccountDay, hermes.AccountMonth:
		return nil
	case hermes.AccountSession, hermes.AccountTree, hermes.AccountJob:
		if o.Name == "" {
			return usage.Errorf("no %s given; use --name", kind)
		}
		return nil
	case hermes.AccountTurn:
		return usage.Errorf("the cap of a turn cannot be raised temporarily; change it with `hermes config set spend.turn.usd NUMBER`")
	}
	return usage.Errorf("unknown cap %q: use day, month, session, tree or job", o.Kind)
}
