package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/text"
)

// Agents are the child sessions that run.
type Agents interface {
	// Children returns the child sessions that run below a live session, and the time.
	Children(ctx context.Context, session string) ([]protocol.Child, time.Time, error)
	// Send sends an operation to a child session.
	Send(ctx context.Context, child string, op hermes.Op) error
	// PauseChildren lets no new child session begin in this program, or lets them begin again.
	PauseChildren(pause bool)
	ChildrenPaused() bool
}

// agents shows the child sessions that run, and stops or steers one.
func agents(ctx context.Context, c *Call) (Result, error) {
	if c.Agents == nil {
		return Result{}, errors.New("this program has no sub-agents")
	}
	all, err := c.Agents(ctx)
	if err != nil {
		return Result{}, err
	}
	verb, rest, _ := strings.Cut(c.Args, " ")
	switch strings.ToLower(verb) {
	case "":
		return listAgents(ctx, all, c.Session.ID())
	case "pause":
		all.PauseChildren(true)
		return Result{Text: "No new sub-agent begins in this program. Those that run go on; `/agents resume` lets new ones begin."}, nil
	case "resume":
		all.PauseChildren(false)
		return Result{Text: "New sub-agents may begin again."}, nil
	case "stop", "steer":
		return tellAgent(ctx, all, c.Session.ID(), strings.ToLower(verb), strings.TrimSpace(rest))
	}
	return Result{}, fmt.Errorf("/agents takes no %q; use stop ID, steer ID TEXT, pause or resume", text.VisibleName(verb))
}

// tellAgent stops or steers a child session.
func tellAgent(ctx context.Context, all Agents, session, verb, rest string) (Result, error) {
	id, note, _ := strings.Cut(rest, " ")
	note = strings.TrimSpace(note)
	list, _, err := all.Children(ctx, session)
	if err != nil {
		return Result{}, err
	}
	child, err := findAgent(list, id)
	switch {
	case err != nil:
		return Result{}, err
	case verb == "steer" && note == "":
		return Result{}, errors.New("write what to tell the sub-agent: /agents steer ID TEXT")
	case verb == "steer":
		if err := all.Send(ctx, child.ID, hermes.Steer{Text: note}); err != nil {
			return Result{}, err
		}
		return Result{Text: fmt.Sprintf("The sub-agent `%s` reads this with its next result.", child.ID)}, nil
	}
	if err := all.Send(ctx, child.ID, hermes.Stop{Processes: true}); err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("The sub-agent `%s` was stopped, with all below it. Its parent gets what it had.", child.ID)}, nil
}

// findAgent finds a child session by its id or the end or the beginning of it.
func findAgent(list []protocol.Child, id string) (protocol.Child, error) {
	var found []protocol.Child
	for _, c := range list {
		if c.ID == id {
			return c, nil
		}
		if id != "" && (strings.HasSuffix(c.ID, id) || strings.HasPrefix(c.ID, id)) {
			found = append(found, c)
		}
	}
	switch {
	case id == "":
		return protocol.Child{}, errors.New("say which sub-agent; /agents lists those that run")
	case len(found) == 0:
		return protocol.Child{}, fmt.Errorf("no sub-agent %q runs in this session; /agents lists those that do", text.VisibleName(id))
	case len(found) > 1:
		return protocol.Child{}, fmt.Errorf("%q names %d sub-agents; write more of the id", text.VisibleName(id), len(found))
	}
	return found[0], nil
}

func listAgents(ctx context.Context, all Agents, session string) (Result, error) {
	list, now, err := all.Children(ctx, session)
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	writeAgents(&b, list, session, 0, now)
	if b.Len() == 0 {
		b.WriteString("No sub-agent runs in this session.\n")
	}
	if all.ChildrenPaused() {
		b.WriteString("\nNew sub-agents are paused; `/agents resume` lets them begin.\n")
	}
	return Result{Text: b.String()}, nil
}

// writeAgents writes those below a session, each with those below it.
func writeAgents(b *strings.Builder, list []protocol.Child, parent string, depth int, now time.Time) {
	for _, c := range list {
		if c.Parent != parent || depth > len(list) {
			continue
		}
		fmt.Fprintf(b, "%s- `%s` %s: %s, for %s, %s, %s", strings.Repeat("  ", depth), c.ID, text.Visible(text.OneLine(c.Goal, 60)),
			cmp.Or(c.Activity.What, "begins"), text.Age(now.Sub(c.Began)), text.Plural(c.ModelCalls, "step", "steps"), text.Plural(int(c.Usage.Prompt()+c.Usage.Output), "token", "tokens"))
		if c.Cost > 0 {
			b.WriteString(", " + c.Cost.String())
		}
		if quiet := now.Sub(c.Activity.At); !c.Activity.At.IsZero() && quiet > time.Minute {
			b.WriteString("; no progress for " + text.Age(quiet))
		}
		b.WriteString("\n")
		writeAgents(b, list, c.ID, depth+1, now)
	}
}
