package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"hermes/internal/attack"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// tryAttacks runs the attacks and prints what became of each.
func tryAttacks(ctx context.Context, f *factory.Factory, c *factory.Call, only string, asJSON bool) error {
	o := report{out: c.Out}
	if factory.IsTerminal(f.Out) {
		o.width = f.Width()
	}
	counts := map[attack.Verdict]int{}
	encode := json.NewEncoder(c.Out)
	encode.SetEscapeHTML(false)
	base := f.Global
	if base.Getenv == nil {
		base.Getenv = os.Getenv
	}
	err := attack.Run(ctx, f.App(), base, only, func(r attack.Result) {
		counts[r.Verdict]++
		if asJSON {
			_ = encode.Encode(r) // a closed pipe is handled by main
			return
		}
		fmt.Fprintf(c.Out, "%-9s %-8s %s\n", r.Verdict, r.Group, o.column(r.Name))
		if r.Text != "" {
			fmt.Fprintln(c.Out, indent+o.column(r.Text))
		}
	})
	if err != nil {
		return err
	}
	if !asJSON {
		c.Say("\n%d held, %d failed, %d not tried, %d settings are weak", counts[attack.Held], counts[attack.Failed], counts[attack.NotTried], counts[attack.Weak])
	}
	if n := counts[attack.Failed]; n > 0 {
		return fmt.Errorf("%s succeeded", text.Plural(n, "attack", "attacks"))
	}
	return nil
}
