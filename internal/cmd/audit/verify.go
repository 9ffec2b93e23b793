package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/usage"
)

func (n noun) verify() *cobra.Command {
	var asJSON bool
	var anchors []string
	cmd := factory.VerbOn(n.open, "verify", "Find rows that were changed, removed or moved",
		"hermes audit verify\n  hermes audit verify --anchor \"$(cat ~/usb/anchor)\"", cobra.NoArgs, func(ctx context.Context, c *factory.Call, l *audit.Log) error {
			var kept []audit.Anchor
			for _, a := range anchors {
				anchor, err := audit.ParseAnchor(strings.TrimSpace(a))
				if err != nil {
					return usage.Errorf("--anchor: %w", err)
				}
				kept = append(kept, anchor)
			}
			r, err := l.Verify(ctx, kept...)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeReport(c.Out, r)
			} else {
				sayReport(c, r)
			}
			if err == nil && len(r.Problems) > 0 {
				return &app.ExitError{Status: 1}
			}
			return err
		})
	cmd.Long = "Read the whole record and find each byte that is not as it was written. The exit status is 1 if there is any.\n" +
		"An older copy of the whole record looks right: keep what `hermes audit head` prints elsewhere, and give it as --anchor."
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().StringArrayVar(&anchors, "anchor", nil, "a row that must be in the record, as `hermes audit head` printed it")
	return cmd
}

func sayReport(c *factory.Call, r audit.Report) {
	for _, p := range r.Problems {
		c.Say("%s: %s.\n    %s", place(p), visible(p.What), visible(p.Means))
	}
	if r.More > 0 {
		c.Say("%s more.", text.Plural(r.More, "problem", "problems"))
	}
	for _, p := range r.Notes {
		c.Say("note: %s: %s.\n    %s", place(p), visible(p.What), visible(p.Means))
	}
	if r.Rows == 0 && len(r.Problems) == 0 {
		c.Say("Nothing was recorded yet.")
		return
	}
	found := "no problems"
	if n := len(r.Problems) + r.More; n > 0 {
		found = text.Plural(n, "problem", "problems")
	}
	c.Say("%s in %s (%d to %d): %s.", text.Plural(r.Rows, "row", "rows"), text.Plural(r.Files, "file", "files"), r.First, r.Last, found)
}

func place(p audit.Problem) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return p.File
}

func writeReport(out io.Writer, r audit.Report) error {
	list := func(p []audit.Problem) []audit.Problem {
		if p == nil {
			return []audit.Problem{}
		}
		return p
	}
	return factory.WriteJSON(out, struct {
		OK       bool            `json:"ok"`
		Rows     int64           `json:"rows"`
		Files    int             `json:"files"`
		First    int64           `json:"first"`
		Last     int64           `json:"last"`
		MAC      string          `json:"mac"`
		Problems []audit.Problem `json:"problems"`
		More     int             `json:"more_problems"`
		Notes    []audit.Problem `json:"notes"`
	}{len(r.Problems) == 0, r.Rows, r.Files, r.First, r.Last, r.MAC, list(r.Problems), r.More, list(r.Notes)})
}

func (n noun) export() *cobra.Command {
	var w which
	var format string
	cmd := factory.VerbOn(n.open, "export [FILE]", "Write rows with their codes to a file", "hermes audit export --since 7d audit.jsonl\n  hermes audit export --format csv > audit.csv", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call, l *audit.Log) error {
		f, err := n.filter(w)
		if err != nil {
			return err
		}
		if format != "jsonl" && format != "csv" {
			return usage.Errorf("there is no format %q; use jsonl or csv", format)
		}
		path := c.Arg(0)
		var file bytes.Buffer // is written as a whole
		out := io.Writer(&file)
		if path == "" || path == "-" {
			out = c.Out
		}
		rows, damaged, err := write(ctx, out, format, l, f)
		if err != nil {
			return err
		}
		if out == io.Writer(&file) {
			if _, err := c.Export(path, file.Bytes()); err != nil {
				return err
			}
			c.Say("%s written to %s.", text.Plural(rows, "row", "rows"), path)
		}
		if damaged > 0 {
			return fmt.Errorf("%s left out, since they are not as they were written; run `hermes audit verify`", text.Plural(damaged, "line was", "lines were"))
		}
		return nil
	})
	w.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	return cmd
}

// write writes the rows that fit and returns their number, and that of the lines that are not as
// they were written.
func write(ctx context.Context, to io.Writer, format string, l *audit.Log, f audit.Filter) (rows, damaged int, err error) {
	out := bufio.NewWriter(to)
	table, lines := csv.NewWriter(out), json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	if format == "csv" {
		var names []string
		for _, f := range fields(audit.Row{}) {
			names = append(names, f.name)
		}
		if err := table.Write(names); err != nil {
			return 0, 0, err
		}
	}
	for r, err := range l.Rows(ctx, f) {
		if _, changed := errors.AsType[*audit.LineError](err); changed {
			damaged++
			continue
		}
		if err != nil {
			return rows, damaged, err
		}
		rows++
		if format == "jsonl" {
			err = lines.Encode(view{r, r.MAC})
		} else {
			var cells []string
			for _, f := range fields(r) {
				cells = append(cells, inert(f.value))
			}
			err = table.Write(cells)
		}
		if err != nil {
			return rows, damaged, err
		}
	}
	table.Flush()
	return rows, damaged, errors.Join(table.Error(), out.Flush())
}

// inert keeps a spreadsheet from reading a text that a model chose as a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
