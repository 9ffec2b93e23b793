package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/session"
	"hermes/internal/text"
)

func help(_ context.Context, c *Call) (Result, error) {
	var b strings.Builder
	group := ""
	for _, cmd := range Table() {
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
