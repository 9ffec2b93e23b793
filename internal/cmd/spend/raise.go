package spend

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/spend"
	"hermes/internal/usage"
)

// raiseOptions are the wishes of `spend raise`.
type raiseOptions struct {
	Deps
	Out    io.Writer
	Kind   string
	Amount string
	Name   string
}

func newRaiseCmd(d Deps) *cobra.Command {
	o := &raiseOptions{Deps: d}
	cmd := &cobra.Command{
		Use:   "raise KIND AMOUNT",
		Short: "Raise a cap for now: day 5, month 20, session 200k tokens",
		Long: "Raise the cap of the running day or month, or of one session, tree of sub-agents or job named with --name.\n" +
			"The amount is added: 5 is five dollars, 200k tokens are tokens. Caps for good are set with `hermes config set spend.…`.",
		Example: "  hermes spend raise day 5\n  hermes spend raise session 200k tokens --name 20261120_101500_a1b2c3",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Kind, o.Amount = cmd.OutOrStdout(), args[0], strings.Join(args[1:], " ")
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.Name, "name", "", "the session, tree or job; the running one of day and month needs none")
	return cmd
}

func (o *raiseOptions) run(ctx context.Context) (err error) {
	kind := hermes.AccountKind(strings.ToLower(o.Kind))
	if err := o.check(kind); err != nil {
		return err
	}
	by, err := spend.ParseAmount(o.Amount)
	if err != nil {
		return err
	}
	g, done, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, done()) }()
	if err := g.Raise(ctx, "", o.Name, kind, by); err != nil {
		return err
	}
	what := by.Money.String()
	if by.Tokens != 0 {
		what = tokens(by.Tokens) + " tokens"
	}
	fmt.Fprintf(o.Out, "The cap of the %s is raised by %s.\n", kind, what)
	return nil
}

// check refuses a cap that cannot be raised from here.
func (o *raiseOptions) check(kind hermes.AccountKind) error {
	switch kind {
	case hermes.AccountDay, hermes.AccountMonth:
		return nil
	case hermes.AccountSession, hermes.AccountTree, hermes.AccountJob:
		if o.Name == "" {
			return usage.Errorf("say which %s with --name", kind)
		}
		return nil
	case hermes.AccountTurn:
		return usage.Errorf("each turn begins with its whole cap; raise it for good with `hermes config set spend.turn.usd NUMBER`")
	}
	return usage.Errorf("there is no cap %q: choose day, month, session, tree or job", o.Kind)
}
