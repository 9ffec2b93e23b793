// Package doctor holds the command `hermes doctor`, which runs the checks of
// internal/setup and prints the results. What is checked and what can be fixed is
// decided there. Start at NewCmd.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/attack"
	"hermes/internal/cmd/factory"
	"hermes/internal/ioerr"
	"hermes/internal/markup"
	"hermes/internal/setup"
	"hermes/internal/text"
)

// report prints results.
type report struct {
	out   io.Writer
	width int // of the terminal; 0 is none
}

// NewCmd makes the command; deps replace those of the app in tests.
func NewCmd(f *factory.Factory, deps func() (setup.Deps, error)) *cobra.Command {
	if deps == nil {
		deps = func() (setup.Deps, error) { return fromApp(f) }
	}
	var fix, asJSON, attacks bool
	var only string
	cmd := factory.Verb("doctor", "Check the installation for problems", "hermes doctor\n  hermes doctor --fix\n  hermes doctor --attack", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		if attacks || only != "" {
			return tryAttacks(ctx, f, c, only, asJSON)
		}
		d, err := deps()
		if err != nil {
			return err
		}
		return run(ctx, c, d, fix, asJSON)
	})
	cmd.Long = "Check the installation for problems. The exit status is 1 if a check fails.\n\n" +
		"With --attack, try what must not be possible, with the settings as they are: get out of the sandbox, around the rules, at secrets, and make untrusted text last. " +
		"It happens in a temporary home and folder, with a model inside of this program: nothing of yours is changed or sent."
	cmd.Flags().BoolVar(&fix, "fix", false, "fix problems that can be fixed safely")
	cmd.Flags().BoolVar(&attacks, "attack", false, "attack the sandbox, the rules and the secrets, and say what held")
	cmd.Flags().StringVar(&only, "only", "", "attack one `group` only: "+strings.Join(attack.Groups(), ", "))
	cmd.MarkFlagsMutuallyExclusive("fix", "attack")
	cmd.MarkFlagsMutuallyExclusive("fix", "only")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one result per line")
	return cmd
}

func run(ctx context.Context, c *factory.Call, deps setup.Deps, fix, asJSON bool) error {
	o := report{out: c.Out}
	if deps.Terminal.Output {
		o.width = deps.Terminal.Columns
	}
	show := o.text
	if asJSON {
		show = o.json
	}
	fixable := 0
	checks := setup.Checks(deps)
	failed := setup.Diagnose(ctx, checks, fix, func(r setup.Result) {
		show(r)
		for _, c := range checks {
			if c.Name == r.Name && c.Fix != nil && r.Verdict != setup.OK {
				fixable++
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if fixable > 0 && !fix && !asJSON {
		c.Say("\nTo try to fix %d of these, run: hermes doctor --fix", fixable)
	}
	if failed > 0 {
		return fmt.Errorf("%s failed", text.Plural(failed, "check", "checks"))
	}
	return nil
}

// indent is the width of the columns before the text.
const indent = "                   "

// mostLines limits the text of a server or a model.
const mostLines = 6

func (o report) text(r setup.Result) {
	fmt.Fprintf(o.out, "%s %-16s %s\n", r.Verdict, r.Name, o.column(r.Text))
	if r.Fixed != "" {
		fmt.Fprintln(o.out, indent+o.column("Fixed: "+r.Fixed))
	}
	if r.FixErr != nil {
		fmt.Fprintln(o.out, indent+o.column("Not fixed: "+ioerr.Text(r.FixErr)))
	}
	if r.Do != "" {
		fmt.Fprintln(o.out, indent+o.column("→ "+r.Do))
	}
}

// column wraps a text to its column and removes control characters, since it may
// come from a server.
func (o report) column(s string) string {
	width := o.width - len(indent)
	var rows []string
	for line := range strings.Lines(markup.Visible(strings.TrimSpace(s))) {
		row := ""
		for word := range strings.FieldsSeq(line) {
			switch {
			case row == "":
				row = word
			case width >= minWidth && markup.Width(row)+1+markup.Width(word) > width:
				rows = append(rows, row)
				row = word
			default:
				row += " " + word
			}
		}
		if row != "" {
			rows = append(rows, row)
		}
	}
	if len(rows) > mostLines {
		rows = append(rows[:mostLines], "…")
	}
	return strings.Join(rows, "\n"+indent)
}

// minWidth is the minimum width of the column. In a narrower one, lines are not
// wrapped.
const minWidth = 20

type resultJSON struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
	Do      string `json:"do,omitempty"`
	Fixed   string `json:"fixed,omitempty"`
	Error   string `json:"fix_error,omitempty"`
}

func (o report) json(r setup.Result) {
	line := resultJSON{r.Name, [...]string{"ok", "warn", "fail"}[r.Verdict], r.Text, r.Do, r.Fixed, ""}
	if r.FixErr != nil {
		line.Error = ioerr.Text(r.FixErr)
	}
	e := json.NewEncoder(o.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // a closed pipe is handled by main
}
