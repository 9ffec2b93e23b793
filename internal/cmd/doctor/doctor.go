// Package doctor is the command `hermes doctor`: it runs the checks of
// internal/setup and prints what they find. What is looked at, and what can be
// mended, is decided there. Start at NewCmd.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/ioerr"
	"hermes/internal/markup"
	"hermes/internal/setup"
)

// Options are the wishes of `hermes doctor`.
type Options struct {
	// Deps gives what the checks look through, when the command runs.
	Deps func() (setup.Deps, error)
	Out  io.Writer
	Fix  bool
	JSON bool

	width int // of the terminal; 0 is none
}

// NewCmd makes the command; runF replaces its work in tests.
func NewCmd(deps func() (setup.Deps, error), runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Deps: deps}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything is in order; exit status 1 if something is not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Fix, "fix", false, "mend what can be mended without risk")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print as JSON, one finding a line")
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
		fmt.Fprintf(o.Out, "\n`hermes doctor --fix` may mend %d of these.\n", fixable)
	}
	if failed > 0 {
		return fmt.Errorf("not everything is in order: %s failed", count(failed))
	}
	return nil
}

// indent is where the texts begin.
const indent = "                   "

// mostLines bounds a text of a server or a model.
const mostLines = 6

func (o *Options) text(r setup.Result) {
	fmt.Fprintf(o.Out, "%s %-16s %s\n", r.Verdict, r.Name, o.column(r.Text))
	if r.Fixed != "" {
		fmt.Fprintln(o.Out, indent+o.column("mended: "+r.Fixed))
	}
	if r.FixErr != nil {
		fmt.Fprintln(o.Out, indent+o.column("could not be mended: "+ioerr.Text(r.FixErr)))
	}
	if r.Do != "" {
		fmt.Fprintln(o.Out, indent+o.column("→ "+r.Do))
	}
}

// column keeps a text within its column: what others wrote may have many lines
// and steer the terminal.
func (o *Options) column(text string) string {
	room := o.width - len(indent)
	var rows []string
	for line := range strings.Lines(markup.Visible(strings.TrimSpace(text))) {
		row := ""
		for word := range strings.FieldsSeq(line) {
			switch {
			case row == "":
				row = word
			case room >= leastRoom && markup.Width(row)+1+markup.Width(word) > room:
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

// leastRoom is how narrow the column may become before the terminal may break
// lines as it likes.
const leastRoom = 20

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
	_ = e.Encode(line) // a pipe that was closed ends the program elsewhere
}
