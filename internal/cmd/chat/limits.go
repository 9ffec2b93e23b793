package chat

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"hermes"
	"hermes/internal/permission"
	"hermes/internal/toolset"
)

// Limits say what a run may cost and what it may do without asking.
type Limits struct {
	USD   float64
	Allow []string
}

func (l *Limits) flags(f *pflag.FlagSet) {
	f.Float64Var(&l.USD, "max-usd", 0, "end the run when its session has cost this much in total, in US dollars")
	f.StringArrayVar(&l.Allow, "allow-tools", nil, "run these calls without asking: tools, or rules such as 'terminal: go test*' (comma-separated, repeatable)")
}

// cap reads the cap on money.
func (o *Options) cap() error {
	if !o.asked.maxUSD {
		return nil
	}
	usd := o.Limits.USD
	switch {
	case usd == 0:
		return usage("--max-usd 0 would stop the run before it begins; drop the option for no cap, or give an amount such as 0.50")
	case !(usd > 0 && usd <= maxUSD):
		return usage("--max-usd %v: give an amount of US dollars above 0, such as 0.50", usd)
	}
	if o.Run.Budget.Money = hermes.USD(usd); o.Run.Budget.Money == 0 {
		return usage("--max-usd %v: the smallest cap is 0.000001", usd)
	}
	return nil
}

// maxUSD is the largest cap: above it a slip is likelier than a budget.
const maxUSD = 1e6

// mode reads the mode in which the session begins.
func (o *Options) mode() error {
	asked := o.Run.Rights.Mode
	if err := asked.Check(); err != nil {
		return usage("--mode: %w", err)
	}
	switch {
	case o.Yolo && asked != "" && asked != hermes.ModeYolo:
		return usage("use --mode %s or --yolo, not both", asked)
	case o.Yolo || asked == "" && o.Global.Getenv("HERMES_YOLO_MODE") == "1":
		o.Run.Rights.Mode = hermes.ModeYolo
	}
	return nil
}

// readRules reads the rules of --allow-tools.
func (o *Options) readRules(ctx context.Context) error {
	if len(o.Limits.Allow) == 0 {
		return nil
	}
	if o.Run.Rights.Mode == hermes.ModeYolo {
		return usage("--allow-tools changes nothing with --yolo, --mode yolo or HERMES_YOLO_MODE=1, which run every call without asking; use one of them")
	}
	known, _, err := o.App().Toolsets(o.Run)
	if err != nil {
		return nil // reported where it is needed
	}
	all, err := known.Select(ctx, toolset.Selection{Enabled: known.Names(), Offer: known.Names()})
	if err != nil {
		return err
	}
	var names []string
	for _, s := range all.Specs() {
		names = append(names, s.Name)
	}
	for _, list := range o.Limits.Allow {
		for _, text := range permission.SplitRules(list) {
			r, err := permission.ParseRule(text)
			if err != nil {
				return usage("--allow-tools: %w", err)
			}
			if !slices.ContainsFunc(names, func(name string) bool { return r.Names(name, all.Toolset(name)) }) {
				return usage("--allow-tools: there is no tool %q; the tools are %s. Write a comma inside a rule as \\,", r.Tool(), strings.Join(names, ", "))
			}
			o.Run.Rights.Allow = append(o.Run.Rights.Allow, text)
		}
	}
	return nil
}
