package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/session"
	"hermes/internal/text"
)

func help(_ context.Context, c *Call) (Result, error) {
	var b strings.Builder
	group := ""
	for _, cmd := range append(Table(), c.pluginCommands()...) {
		if cmd.Where&c.Where == 0 || !matches(cmd, c.Args) {
			continue
		}
		if cmd.Group != group {
			group = cmd.Group
			fmt.Fprintf(&b, "\n**%s**\n\n", group)
		}
		use := "/" + strings.TrimSpace(cmd.Name+" "+cmd.Args)
		fmt.Fprintf(&b, "- `%s` %s", use, cmd.Help)
		if len(cmd.Aliases) > 0 {
			fmt.Fprintf(&b, " (also /%s)", strings.Join(cmd.Aliases, ", /"))
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return Result{}, fmt.Errorf("no command matches %q; use /help to list all", c.Args)
	}
	return Result{Text: strings.TrimLeft(b.String(), "\n")}, nil
}

func matches(c Command, text string) bool {
	text = strings.ToLower(strings.TrimPrefix(text, "/"))
	return text == "" || strings.Contains(c.Name, text) || strings.Contains(strings.ToLower(c.Help), text) || slices.Contains(c.Aliases, text)
}

func status(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	row := st.Row
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, value)
		}
	}
	line("Session", "`"+row.ID+"`")
	line("Title", plain(row.Title))
	line("Model", code(row.Model))
	line("Folder", code(row.Dir))
	if w := row.Run.Workspace; w.Elsewhere() {
		line("Runs in", code(w.Backend)+", folder "+code(w.Dir))
	}
	line("Mode", string(st.Mode))
	if !row.Started.IsZero() {
		line("Started", row.Started.Local().Format("2006-01-02 15:04"))
	}
	line("Messages", fmt.Sprint(len(spoken(st.Transcript))))
	line("Context", window(st))
	switch {
	case st.Running && st.Queued > 0:
		line("Now", fmt.Sprintf("working, %d queued", st.Queued))
	case st.Running:
		line("Now", "working")
	case st.Queued > 0:
		line("Now", fmt.Sprintf("%d queued; use /continue to answer them", st.Queued))
	case st.Cut:
		line("Now", "the last turn was cut off; use /continue to resume it")
	}
	return Result{Text: b.String()}, nil
}

func tools(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	if len(st.Tools) == 0 {
		return Result{Text: "The tools of a session are fixed with its first message. To list all tools now, run `hermes tools`."}, nil
	}
	var b strings.Builder
	for _, t := range st.Tools {
		what, _, _ := strings.Cut(t.Description, "\n")
		if i := strings.Index(what, ". "); i > 0 {
			what = what[:i]
		}
		fmt.Fprintf(&b, "- `%s` %s\n", t.Name, plain(strings.TrimSuffix(text.Line(what, 90), ".")))
	}
	return Result{Text: b.String()}, nil
}

// window says how full the model's context window is.
func window(st session.State) string {
	used := st.Last.Prompt() + st.Last.Output
	switch {
	case used == 0 && st.Window == 0:
		return "not known yet"
	case st.Window == 0:
		return text.Tokens(used) + " tokens (window size unknown)"
	}
	return fmt.Sprintf("%s of %s tokens (%d %%)", text.Tokens(used), text.Tokens(int64(st.Window)), used*100/int64(st.Window))
}

// code formats a text as Markdown code.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "`", "'") + "`"
}

// How much /insights lists; `hermes insights` lists all.
const (
	mostModels = 8
	mostTools  = 8
)

// insights summarizes the last days, 30 by default.
func insights(ctx context.Context, c *Call) (Result, error) {
	days, err := count(c.Args, 30)
	if err != nil {
		return Result{}, err
	}
	if c.Spend == nil {
		return Result{}, errNoSpend
	}
	a, costs, err := c.Spend.Active(ctx, days)
	if err != nil {
		return Result{}, err
	}
	var all hermes.Spending
	for _, g := range costs {
		all.Money += g.Money
		all.Unpriced += g.Unpriced
	}
	var b strings.Builder
	fmt.Fprintf(&b, "In the last %s: %s, %s, %s, %s tokens, %s.\n", text.Plural(days, "day", "days"), text.Plural(int(a.Sessions), "session", "sessions"), text.Plural(int(a.Turns), "turn", "turns"), text.Plural(int(a.Calls), "tool call", "tool calls"), text.Tokens(a.Usage.Total()), money(all))
	if len(costs) > 0 {
		b.WriteString("\n| model | calls | tokens | cost |\n|---|---:|---:|---:|\n")
	}
	for i, g := range costs {
		if i == mostModels {
			break
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", code(g.Name), g.Calls, text.Tokens(g.Usage.Total()), money(g))
	}
	if len(a.Tools) > 0 {
		b.WriteString("\n| tool | calls | failed |\n|---|---:|---:|\n")
	}
	for i, t := range a.Tools {
		if i == mostTools {
			break
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", code(t.Name), t.Calls, t.Failed)
	}
	return Result{Text: b.String()}, nil
}

// money writes the known cost.
func money(g hermes.Spending) string {
	switch {
	case g.Unpriced == 0:
		return g.Money.String()
	case g.Money == 0:
		return "cost unknown"
	}
	return fmt.Sprintf("more than %v", g.Money)
}
