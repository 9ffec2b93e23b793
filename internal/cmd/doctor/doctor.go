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

	"hermes/internal/cmd/factory"
	"hermes/internal/ioerr"
	"hermes/internal/markup"
	"hermes/internal/setup"
)

// Options are the options of `hermes doctor`.
type Options struct {
	// Deps returns what the checks need; it is called when the command runs.
	Deps func() (setup.Deps, error)
	Out  io.Writer
	Fix  bool
	JSON bool

	width int // of the terminal; 0 is none
}

// NewCmd makes the command; deps replace those of the app, and runF its work, in tests.
func NewCmd(f *factory.Factory, deps func() (setup.Deps, error), runF func(context.Context, *Options) error) *cobra.Command {
	if deps == nil {
		deps = func() (setup.Deps, error) { return fromApp(f) }
	}
	o := &Options{Deps: deps}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check the installation for problems",
		Long:    "Check the installation for problems. The exit status is 1 if a check fails.",
		Example: "  hermes doctor\n  hermes doctor --fix",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Fix, "fix", false, "fix problems that can be fixed safely")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON, one result per line")
	return cmd
}

func run(ctx context.Context, o *Options) error {
	deps, err := o.Deps()
	if err != nil {
		return err
	}
	if deps.Terminal.Output {
		o.width = deps.Terminal.Columns
	}
	show := o.text
	if o.JSON {
		show = o.json
	}
	fixable := 0
	checks := setup.Checks(deps)
	failed := setup.Diagnose(ctx, checks, o.Fix, func(r setup.Result) {
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
	if fixable > 0 && !o.Fix && !o.JSON {
		fmt.Fprintf(o.Out, "\nTo try to fix %d of these, run: hermes doctor --fix\n", fixable)
	}
	if failed > 0 {
		return fmt.Errorf("%s failed", count(failed))
	}
	return nil
}

// indent is the width of the columns before the text.
const indent = "                   "

// mostLines limits the text of a server or a model.
const mostLines = 6

func (o *Options) text(r setup.Result) {
	fmt.Fprintf(o.Out, "%s %-16s %s\n", r.Verdict, r.Name, o.column(r.Text))
	if r.Fixed != "" {
		fmt.Fprintln(o.Out, indent+o.column("Fixed: "+r.Fixed))
	}
	if r.FixErr != nil {
		fmt.Fprintln(o.Out, indent+o.column("Not fixed: "+ioerr.Text(r.FixErr)))
	}
	if r.Do != "" {
		fmt.Fprintln(o.Out, indent+o.column("→ "+r.Do))
	}
}

// column wraps a text to its column and removes control characters, since it may
// come from a server.
func (o *Options) column(text string) string {
	width := o.width - len(indent)
	var rows []string
	for line := range strings.Lines(markup.Visible(strings.TrimSpace(text))) {
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

func count(failed int) string {
	if failed == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", failed)
}

type resultJSON struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
	Do      string `json:"do,omitempty"`
	Fixed   string `json:"fixed,omitempty"`
	Error   string `json:"fix_error,omitempty"`
}

func (o *Options) json(r setup.Result) {
	line := resultJSON{r.Name, [...]string{"ok", "warn", "fail"}[r.Verdict], r.Text, r.Do, r.Fixed, ""}
	if r.FixErr != nil {
		line.Error = ioerr.Text(r.FixErr)
	}
	e := json.NewEncoder(o.Out)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // a closed pipe is handled by main
}
