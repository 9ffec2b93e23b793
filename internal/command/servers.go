package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/mcp"
	"hermes/internal/text"
)

// Servers are the MCP servers of the program.
type Servers interface {
	// States lists the servers, sorted by name.
	States() []mcp.State
	// Reload reads the settings again, ends what is gone or has changed, and starts what is new.
	// With restart it also ends and starts the others. notes say what is ignored.
	Reload(restart bool) (changes mcp.Changes, notes []string, err error)
	// Settle waits until each server is connected or has failed, or until ctx ends.
	Settle(ctx context.Context)
}

// settleTime is how long a command waits for servers to connect.
const settleTime = 15 * time.Second

var errNoServers = errors.New("this program has no MCP servers")

// servers shows the MCP servers, or the tools of one.
func servers(_ context.Context, c *Call) (Result, error) {
	if c.Servers == nil {
		return Result{}, errNoServers
	}
	list := c.Servers.States()
	if c.Args != "" {
		for _, s := range list {
			if strings.EqualFold(s.Name, c.Args) {
				return Result{Text: toolsOf(s)}, nil
			}
		}
		return Result{}, fmt.Errorf("there is no MCP server %q; /mcp lists them", text.VisibleName(c.Args))
	}
	if len(list) == 0 {
		return Result{Text: "No MCP servers. Add one with `hermes mcp add`, then use /reload-mcp."}, nil
	}
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "- **%s**: %s, %s", text.VisibleName(s.Name), s.Phase, text.Plural(len(s.Tools), "tool", "tools"))
		if n := unapproved(s); n > 0 {
			fmt.Fprintf(&b, ", %d not approved (a call asks, or `hermes mcp configure %s`)", n, text.VisibleName(s.Name))
		}
		if s.Reason != "" {
			fmt.Fprintf(&b, ": %s", text.Visible(s.Reason))
		}
		b.WriteString("\n")
	}
	return Result{Text: b.String()}, nil
}

func unapproved(s mcp.State) int {
	n := 0
	for _, t := range s.Tools {
		if t.Blocked != "" {
			n++
		}
	}
	return n
}

// toolsOf lists the tools of a server.
func toolsOf(s mcp.State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s", text.VisibleName(s.Name), s.Phase)
	if s.Title != "" {
		fmt.Fprintf(&b, ", %s %s, protocol %s", text.VisibleName(s.Title), text.VisibleName(s.Version), s.Protocol)
	}
	if s.Reason != "" {
		fmt.Fprintf(&b, ": %s", text.Visible(s.Reason))
	}
	b.WriteString("\n\n")
	for _, t := range s.Tools {
		about := text.OneLine(t.Description, 120)
		if t.Blocked != "" {
			about = "not approved: " + t.Blocked
		}
		fmt.Fprintf(&b, "- `%s` %s\n", t.Name, text.Visible(about))
	}
	return b.String()
}

// reloadServers reads the settings of the MCP servers again.
func reloadServers(ctx context.Context, c *Call) (Result, error) {
	if c.Servers == nil {
		return Result{}, errNoServers
	}
	restart, now := false, false
	for _, word := range strings.Fields(c.Args) {
		switch word {
		case "all":
			restart = true
		case "now":
			now = true
		default:
			return Result{}, fmt.Errorf("/reload-mcp takes no %q; with all it also starts again what did not change, with now this session gets the tools at once", text.VisibleName(word))
		}
	}
	ch, notes, err := c.Servers.Reload(restart)
	var b strings.Builder
	for _, row := range []struct {
		what string
		list []string
	}{{"Started", ch.Added}, {"Started again", ch.Restarted}, {"Ended", ch.Removed}} {
		if len(row.list) > 0 {
			fmt.Fprintf(&b, "%s: %s.\n", row.what, text.VisibleName(strings.Join(row.list, ", ")))
		}
	}
	if b.Len() == 0 {
		b.WriteString("Nothing has changed.\n")
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "\n%s", text.Visible(n))
	}
	if err != nil {
		fmt.Fprintf(&b, "\n%s", text.Visible(err.Error()))
	}
	st, err := c.Session.State(ctx)
	switch {
	case err != nil:
		return Result{}, err
	case len(st.Tools) == 0: // its list is made with its first message
	case now:
		limit, cancel := context.WithTimeout(ctx, settleTime)
		defer cancel()
		c.Servers.Settle(limit)
		if err := c.Session.Submit(ctx, hermes.RenewTools{}); err != nil {
			return Result{}, fmt.Errorf("the servers were reloaded, but the list of tools of this session was not made again: %w", err)
		}
		fmt.Fprintf(&b, "\nThe next message makes the list of tools of this session again. The cache of the model service no longer fits then: about %s tokens are read again.", text.Tokens(int64(st.Last.Prompt()+st.Last.Output)))
	case slices.ContainsFunc(st.Tools, func(t hermes.Spec) bool { return t.Name == hermes.SearchTool }):
		b.WriteString("\nThis session keeps the list of tools that it began with, so that the cache of the model service holds; what is new is found with tool_search. /reload-mcp now changes the list, and loses that cache.")
	default:
		b.WriteString("\nThis session began without servers and keeps its list of tools; new sessions have those of the servers, and this one after /reload-mcp now.")
	}
	return Result{Text: b.String()}, nil
}
