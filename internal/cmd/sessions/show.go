package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/archive"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/text"
)

// showOptions are the options of `hermes sessions show`.
type showOptions struct {
	base
	Last  int
	Full  bool
	JSON  bool
	Undid bool
}

func newShow(f *factory.Factory) *cobra.Command {
	o := &showOptions{base: base{Factory: f}}
	cmd := o.verb("show ID|TITLE|latest", "Show a session and its messages", "hermes sessions show latest --last 10", cobra.ExactArgs(1), o.run)
	flags := cmd.Flags()
	flags.IntVar(&o.Last, "last", 0, "show only the last `N` messages")
	flags.BoolVar(&o.Full, "full", false, "show tool results in full")
	flags.BoolVar(&o.Undid, "undone", false, "include messages that were undone")
	flags.BoolVar(&o.JSON, "json", false, "print JSON")
	return cmd
}

func (o *showOptions) run(ctx context.Context) error {
	return o.reading(ctx, func(s hermes.Store) error {
		row, err := o.resolve(ctx, s, o.Args[0])
		if err != nil {
			return err
		}
		list, err := s.Messages(ctx, row.ID, hermes.Range{Last: o.Last, Hidden: o.Undid})
		if err != nil {
			return err
		}
		archive.Mask(o.Shown).Session(&row, list)
		if o.JSON {
			return factory.WriteJSON(o.Out, archive.Record{Session: archive.SessionOf(row), Messages: list})
		}
		if err := o.head(row); err != nil {
			return err
		}
		for _, m := range list {
			o.message(m)
		}
		return o.open(ctx, s, row)
	})
}

func (o *showOptions) head(r hermes.Session) error {
	var rows factory.Table
	rows.Row("id", r.ID)
	add := func(name, value string) {
		if value != "" {
			rows.Row(name, value)
		}
	}
	add("title", r.Title)
	add("source", r.Platform)
	add("model", r.Model)
	add("folder", r.Dir)
	add("branch", r.Branch)
	add("parent", r.Parent)
	add("started", r.Started.Local().Format(time.DateTime))
	add("active", archive.LastActive(r).Local().Format(time.DateTime)+" ("+ago(archive.LastActive(r), o.Now())+")")
	if !r.Ended.IsZero() {
		add("ended", strings.TrimSpace(r.Ended.Local().Format(time.DateTime)+" "+r.EndReason))
	}
	add("messages", fmt.Sprintf("%d, tool calls %d", r.Messages, r.Calls))
	add("tokens", tokens(r.Usage))
	return rows.Print(o.Out)
}

// open prints the question that waits for the user.
func (o *showOptions) open(ctx context.Context, s hermes.Journal, r hermes.Session) error {
	if !r.Asking {
		return nil
	}
	steps, err := s.OpenSteps(ctx, r.ID)
	if err != nil {
		return err
	}
	k := archive.Mask(o.Shown)
	for _, st := range steps {
		if q := st.Pending.Open(); q != nil && st.Result == nil {
			fmt.Fprintf(o.Out, "\n── asks you\n%s\n", markup.Visible(k(q.Text)))
			for i, c := range q.Choices {
				fmt.Fprintf(o.Out, "  %d. %s\n", i+1, markup.Visible(k(c)))
			}
			fmt.Fprintf(o.Out, "Answer with: hermes --resume %s\n", r.ID)
		}
	}
	return nil
}

func tokens(u hermes.Usage) string {
	return fmt.Sprintf("%d in, %d out, %d from cache", u.Input+u.CacheWrite, u.Output, u.CacheRead)
}

// resultLines limits the lines of a tool result without --full.
const resultLines = 12

func (o *showOptions) message(m hermes.Message) {
	who := map[hermes.Role]string{hermes.RoleUser: "you", hermes.RoleAssistant: "hermes", hermes.RoleTool: "result"}[m.Role]
	if m.Synthetic {
		who = "notice"
	}
	if m.Role == hermes.RoleTool {
		who += " of " + m.ToolName
		if m.Failed {
			who += " (failed)"
		}
	}
	fmt.Fprintf(o.Out, "\n── %s · %s · #%d\n", who, m.Time.Local().Format("15:04:05"), m.ID)
	said := markup.Visible(m.Visible())
	if m.Role == hermes.RoleTool && !o.Full {
		said = shorten(said, resultLines)
	}
	if said != "" {
		fmt.Fprintln(o.Out, strings.TrimRight(said, "\n"))
	}
	for _, p := range m.Parts {
		if p.Image != nil {
			fmt.Fprintln(o.Out, "[image "+p.Image.MediaType+p.Image.URL+"]")
		}
	}
	for _, c := range m.Calls {
		arguments := c.Arguments
		if !o.Full {
			arguments = text.Line(arguments, 200)
		}
		fmt.Fprintln(o.Out, "→ "+markup.Visible(c.Name+" "+arguments))
	}
}

// shorten keeps the first lines of a text and cuts long lines.
func shorten(whole string, most int) string {
	lines := strings.Split(strings.TrimRight(whole, "\n"), "\n")
	more := len(lines) - most
	lines = lines[:min(len(lines), most)]
	for i, l := range lines {
		if runes := []rune(l); len(runes) > 200 {
			lines[i] = string(runes[:200]) + "…"
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… %s (show with --full)", text.Plural(more, "more line", "more lines")))
	}
	return strings.Join(lines, "\n")
}
