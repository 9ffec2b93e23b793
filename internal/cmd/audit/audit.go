// Package audit is the command `hermes audit`: it shows, checks and exports the record of
// what was done and who allowed it. internal/audit keeps the record; nothing here changes
// it. Start at NewCmd.
package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// NewCmd makes `hermes audit`; without a verb it lists.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	list := n.list()
	cmd := factory.Noun("audit", "Show and check the record of what was done",
		"hermes audit\n  hermes audit list --session 20261127 --since 2h\n  hermes audit verify",
		list, n.show(), n.verify(), n.head(), n.export())
	cmd.Long = "The audit log has a row for each call with an effect and its result, each refusal, and each decision about an\n" +
		"approval. Rows are chained: `hermes audit verify` finds a row that was changed, removed or moved."
	cmd.Flags().AddFlagSet(list.Flags())
	return cmd
}

func (n noun) open() (*audit.Log, error) { return n.App().Audit() }

// which are the flags that choose rows.
type which struct {
	session, tool, since, until string
	kinds                       []string
}

func (w *which) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&w.session, "session", "", "only this session (id or its beginning)")
	flags.StringVar(&w.tool, "tool", "", "only calls of this tool")
	flags.StringSliceVar(&w.kinds, "kind", nil, "only these kinds, such as call, result, refusal, answer")
	flags.StringVar(&w.since, "since", "", "only rows since this age (30m, 1h, 2d) or time (2026-11-20 15:04)")
	flags.StringVar(&w.until, "until", "", "only rows before this age or time")
}

func (n noun) filter(w which) (audit.Filter, error) {
	f := audit.Filter{Session: w.session, Tool: w.tool}
	for _, k := range w.kinds {
		if !slices.Contains(audit.Kinds(), audit.Kind(k)) {
			var all []string
			for _, known := range audit.Kinds() {
				all = append(all, string(known))
			}
			return f, usage.Errorf("there is no kind %q; the kinds are %s", k, strings.Join(all, ", "))
		}
		f.Kinds = append(f.Kinds, audit.Kind(k))
	}
	var err error
	if f.Since, err = text.Moment(w.since, n.Now()); err != nil {
		return f, usage.Errorf("--since: %w", err)
	}
	if f.Until, err = text.Moment(w.until, n.Now()); err != nil {
		return f, usage.Errorf("--until: %w", err)
	}
	return f, nil
}

// view is a row as JSON, with its code.
type view struct {
	audit.Row
	MAC string `json:"mac"`
}

func (n noun) list() *cobra.Command {
	var w which
	var limit int
	var asJSON bool
	cmd := factory.VerbOn(n.open, "list", "List the newest rows", "hermes audit list --kind refusal,answer\n  hermes audit list --tool terminal --since 1d --json", cobra.NoArgs, func(ctx context.Context, c *factory.Call, l *audit.Log) error {
		f, err := n.filter(w)
		if err != nil {
			return err
		}
		if limit < 1 {
			return usage.Errorf("--limit must be at least 1")
		}
		rows, damaged, err := l.Last(ctx, f, limit)
		if err != nil {
			return err
		}
		for _, d := range damaged[:min(len(damaged), 3)] {
			c.Note("hermes: %v; run `hermes audit verify`", d)
		}
		if asJSON {
			views := []view{}
			for _, r := range rows {
				views = append(views, view{r, r.MAC})
			}
			return factory.WriteJSON(c.Out, views)
		}
		if len(rows) == 0 {
			c.Say("No rows.")
			return nil
		}
		table := factory.Table{Fit: n.Width()}
		for _, r := range rows {
			table.Row(r.Seq, r.Time.In(n.Now().Location()).Format(time.DateTime), r.Kind, visible(r.Tool), outcome(r), about(r))
		}
		return table.Print(c.Out)
	})
	cmd.Aliases = []string{"ls"}
	w.flags(cmd)
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "number of rows")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// visible is a text of a row in one line. Models and programs chose it.
func visible(s string) string { return text.OneLine(markup.Visible(s), len(s)*4) }

// outcome says in a few words how a row ended.
func outcome(r audit.Row) string {
	switch r.Kind {
	case audit.KindResult:
		return r.Status
	case audit.KindAnswer, audit.KindAllowed, audit.KindRefusal, audit.KindGrant, audit.KindMode, audit.KindTrust, audit.KindPanic:
		return strings.TrimSpace(strings.TrimSuffix(visible(r.Decision)+" by "+visible(r.By), " by "))
	}
	return ""
}

func about(r audit.Row) string {
	for _, s := range []string{r.Subject, r.Rule, r.Note} {
		if s != "" {
			return visible(s)
		}
	}
	return ""
}

func (n noun) show() *cobra.Command {
	var asJSON bool
	cmd := factory.VerbOn(n.open, "show ROW", "Show one row", "hermes audit show 12", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, l *audit.Log) error {
		seq, err := strconv.ParseInt(c.Args[0], 10, 64)
		if err != nil {
			return usage.Errorf("%q is not the number of a row; list them with `hermes audit list`", c.Args[0])
		}
		for r, err := range l.Rows(ctx, audit.Filter{}) {
			if _, damaged := errors.AsType[*audit.LineError](err); damaged {
				continue // verify reports it
			}
			if err != nil {
				return err
			}
			if r.Seq == seq {
				if asJSON {
					return factory.WriteJSON(c.Out, view{r, r.MAC})
				}
				return print(c, n, r)
			}
		}
		return fmt.Errorf("row %d: %w; list them with `hermes audit list`, and look for changes with `hermes audit verify`", seq, hermes.ErrNotFound)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// print shows the fields of a row that it has.
func print(c *factory.Call, n noun, r audit.Row) error {
	var t factory.Table
	for _, f := range fields(r) {
		if f.value != "" {
			t.Row(f.name, visible(f.value))
		}
	}
	t.Row("place", fmt.Sprintf("%s:%d", r.File, r.Line))
	return t.Print(c.Out)
}

// field is one field of a row, as show and export name it.
type field struct{ name, value string }

func fields(r audit.Row) []field {
	span := audit.Span{}
	if r.Span != nil {
		span = *r.Span
	}
	number := func(n int64) string {
		if n == 0 {
			return "" // it does not apply
		}
		return strconv.FormatInt(n, 10)
	}
	return []field{
		{"seq", number(r.Seq)}, {"time", r.Time.Format(time.RFC3339Nano)}, {"kind", string(r.Kind)}, {"session", r.Session}, {"turn", number(r.Turn)},
		{"call", r.Call}, {"parent", r.Parent}, {"platform", r.Platform}, {"user", r.User}, {"tool", r.Tool}, {"subject", r.Subject}, {"dir", r.Dir},
		{"risks", strings.Join(r.Risks, " ")}, {"arguments", r.Arguments}, {"decision", r.Decision}, {"scope", r.Scope}, {"by", r.By}, {"rule", r.Rule},
		{"status", r.Status}, {"result", r.Result}, {"note", r.Note},
		{"span_file", number(span.File)}, {"span_first", number(span.First)}, {"span_last", number(span.Last)}, {"span_mac", span.MAC},
		{"span_bytes", number(span.Bytes)}, {"span_hash", span.Hash}, {"prev", r.Prev}, {"mac", r.MAC},
	}
}

func (n noun) head() *cobra.Command {
	return factory.VerbOn(n.open, "head", "Print the number and the code of the last row", "hermes audit head", cobra.NoArgs, func(ctx context.Context, c *factory.Call, l *audit.Log) error {
		a, ok, err := l.Head(ctx)
		if err != nil {
			return err
		}
		if !ok {
			return &app.ExitError{Status: 1, Err: errors.New("there is no row yet, or the record is damaged; run `hermes audit verify`")}
		}
		c.Say("%v", a)
		return nil
	})
}
