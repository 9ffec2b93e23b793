package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/protocol"
	"hermes/internal/protocol/router"
	"hermes/internal/text"
)

// nowTime bounds how long one session may take to read the settings again, with the start of servers.
const nowTime = 2 * time.Minute

// nowFlag adds --now to a command that changes servers.
func nowFlag(cmd *cobra.Command, now *bool) {
	cmd.Flags().BoolVar(now, "now", false, "let sessions that run use it at once, at the price of their cache")
}

// applied says from when on a change holds: in new sessions, or, with now, also in those that run, which it
// tells. It reaches the sessions of this home on this machine.
func (n noun) applied(ctx context.Context, c *factory.Call, now bool) error {
	if !now {
		c.Say("New sessions have it. Those that run do after /reload-mcp in them, or with --now.")
		return nil
	}
	running, err := n.running(ctx)
	if err != nil {
		return fmt.Errorf("the settings were changed, but it is not known which sessions run: %w; use /reload-mcp now in them", err)
	}
	if len(running) == 0 {
		c.Say("No session runs in this home, so none was told. The next one has it.")
		return nil
	}
	client := n.App().Client(nil)
	missed := 0
	for _, s := range running {
		said, err := reload(ctx, client, s)
		if err != nil {
			missed++
			said = "was not told: " + err.Error() + ". Use /reload-mcp now in it"
		}
		c.Say("Session %s, %s: %s", s.ID, router.Where(s.Running.Owner, s.Platform), strings.TrimSpace(markup.Visible(said)))
	}
	if missed > 0 {
		return &app.ExitError{Status: 1, Err: fmt.Errorf("the settings were changed, but %s could not be told; see above", text.Plural(missed, "session", "sessions"))}
	}
	return nil
}

// running lists the sessions that run in any process of this home. Those that others began follow them.
func (n noun) running(ctx context.Context) ([]protocol.SessionInfo, error) {
	h, err := n.App().Home()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(h.Database()); errors.Is(err, os.ErrNotExist) {
		return nil, nil // no session was ever stored
	}
	list, err := n.App().Client(nil).Sessions(ctx, protocol.Filter{Live: true, Archived: true, Limit: -1})
	if err != nil {
		return nil, err
	}
	var running []protocol.SessionInfo
	for _, s := range list {
		if s.Running != nil && s.Parent == "" {
			running = append(running, s)
		}
	}
	return running, nil
}

// reload has a session read the settings of the servers and make its list of tools again, and returns what it
// says about that: also what its cache loses.
func reload(ctx context.Context, client protocol.Client, s protocol.SessionInfo) (string, error) {
	if s.Running.Address == "" && !s.Running.Here {
		return "", errors.New("its process has no address")
	}
	ctx, cancel := context.WithTimeout(ctx, nowTime)
	defer cancel()
	const line = "/reload-mcp now"
	from := hermes.From{Client: fmt.Sprintf("mcp-%d", os.Getpid()), Platform: "cli", Name: "hermes mcp"}
	_, events, err := client.Attach(ctx, s.ID, from, protocol.After{})
	if err != nil {
		return "", err
	}
	if err := client.Command(ctx, s.ID, from, line); err != nil {
		return "", err
	}
	for e := range events {
		done, ok := e.Event.(hermes.CommandDone)
		switch {
		case !ok || done.Line != line || done.From.Client != from.Client && done.From.Name != from.Name:
		case done.Failure != nil:
			return "", errors.New(done.Failure.Text)
		default:
			return done.Text, nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	return "", errors.New("it ended meanwhile")
}
