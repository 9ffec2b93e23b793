package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// crew are child sessions; it records what they are sent.
type crew struct {
	list   []protocol.Child
	sent   []string
	paused bool
}

func (c *crew) Children(context.Context, string) ([]protocol.Child, time.Time, error) {
	return c.list, time.Unix(1000, 0), nil
}

func (c *crew) Send(_ context.Context, child string, op hermes.Op) error {
	c.sent = append(c.sent, fmt.Sprintf("%s %T", child, op))
	return nil
}

func (c *crew) PauseChildren(pause bool) { c.paused = pause }
func (c *crew) ChildrenPaused() bool     { return c.paused }

// TestAgentsShowsTheTree, and stops, steers and pauses.
func TestAgentsShowsTheTree(t *testing.T) {
	t.Parallel()
	all := &crew{list: []protocol.Child{
		{ID: "1_aaa", Parent: "s", Goal: "read all", Began: time.Unix(880, 0), ModelCalls: 2, Usage: hermes.Usage{Input: 1200, Output: 34}, Cost: hermes.USD(0.25), Activity: protocol.Activity{At: time.Unix(990, 0), What: "thinking"}},
		{ID: "1_bbb", Parent: "1_aaa", Goal: "read one", Began: time.Unix(995, 0), ModelCalls: 1},
		{ID: "1_ccc", Parent: "s", Goal: "hang", Began: time.Unix(400, 0), Activity: protocol.Activity{At: time.Unix(600, 0), What: "terminal"}},
	}}
	f := &fake{state: session.State{Row: hermes.Session{ID: "s"}}}
	run := func(line string) (string, error) {
		r, err := command.Run(t.Context(), line, command.Call{Where: command.Terminal, Session: f, Agents: func(context.Context) (command.Agents, error) { return all, nil }})
		return r.Text, err
	}
	got, err := run("/agents")
	want := "- `1_aaa` read all: thinking, for 2 min, 2 steps, 1234 tokens, $0.25\n" +
		"  - `1_bbb` read one: begins, for 5 s, 1 step, 0 tokens\n" +
		"- `1_ccc` hang: terminal, for 10 min, 0 steps, 0 tokens; no progress for 6 min\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, line := range []string{"/agents stop ccc", "/agents steer bbb use tabs", "/agents pause"} {
		if _, err := run(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if got := strings.Join(all.sent, ", "); got != "1_ccc hermes.Stop, 1_bbb hermes.Steer" || !all.paused {
		t.Errorf("sent %s, paused is %v", got, all.paused)
	}
	if got, _ := run("/agents"); !strings.Contains(got, "New sub-agents are paused") {
		t.Error(got)
	}
	for line, want := range map[string]string{
		"/agents stop": "say which sub-agent", "/agents stop zzz": "no sub-agent", "/agents stop 1_": "names 3 sub-agents", "/agents steer bbb": "write what", "/agents dance": "takes no",
	} {
		if _, err := run(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := run("/agents resume"); err != nil || all.paused {
		t.Errorf("%v, paused is %v", err, all.paused)
	}
}
