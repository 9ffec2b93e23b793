package skills

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
)

func (n noun) replay() *cobra.Command {
	var session string
	var turn int64
	var asJSON bool
	cmd := n.verb("replay NAME --session ID", "Compare a recorded task with and without a skill", "hermes skills replay release-notes --session latest", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if session == "" {
			return errors.New("no session given; use --session ID (list them with `hermes sessions list`)")
		}
		t, err := n.Replay(ctx, c.Args[0], session, turn)
		if err != nil {
			return err
		}
		if asJSON {
			return factory.WriteJSON(c.Out, t)
		}
		c.printTrial(c.Args[0], t)
		return nil
	})
	cmd.Flags().StringVar(&session, "session", "", "session with the task: an `id`, the beginning of one, or a title")
	cmd.Flags().Int64Var(&turn, "turn", 0, "turn to replay; 0 is the one with the most calls")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printTrial prints the figures of both runs side by side.
func (c *call) printTrial(name string, t hermes.SkillTrial) {
	c.say("Session %s, turn %d. No tools were run.", t.Session, t.Turn)
	if t.With.Steps > 0 {
		end := map[bool]string{true: "reached", false: "not reached"}
		c.say("%-16s %12s %12s", "", "with skill", "without")
		c.say("%-16s %12s %12s", "recorded end", end[t.With.Reached], end[t.Without.Reached])
		for _, row := range []struct {
			what          string
			with, without int64
		}{
			{"steps", int64(t.With.Steps), int64(t.Without.Steps)},
			{"failed calls", int64(t.With.Failed), int64(t.Without.Failed)},
			{"unknown calls", int64(t.With.Missed), int64(t.Without.Missed)},
			{"tokens", t.With.Tokens, t.Without.Tokens},
		} {
			c.say("%-16s %12d %12d", row.what, row.with, row.without)
		}
	}
	c.say("The skill %s %s. The replay used %d tokens.", name, t.Line(), t.Tokens)
	if t.Harmful() {
		c.say("It did harm here. Delete it with: hermes skills delete %s", name)
	}
}
