package skills

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"hermes"
)

func (d Deps) replay() *cobra.Command {
	var session string
	var turn int64
	var asJSON bool
	cmd := d.verb("replay NAME --session ID", "Try a skill on a recorded session: the task with it and without it", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if session == "" {
			return errors.New("which session? name it with --session ID; `hermes sessions list` shows them")
		}
		t, err := d.Replay(ctx, c.args[0], session, turn)
		if err != nil {
			return err
		}
		if asJSON {
			e := json.NewEncoder(c.out)
			e.SetIndent("", "  ")
			return e.Encode(t)
		}
		c.tellTrial(c.args[0], t)
		return nil
	})
	cmd.Flags().StringVar(&session, "session", "", "the session that holds the task: an id, the beginning of one, or a title")
	cmd.Flags().Int64Var(&turn, "turn", 0, "this turn of it; 0 is the one with most calls")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return cmd
}

// tellTrial prints the figures of both runs beside each other.
func (c *call) tellTrial(name string, t hermes.SkillTrial) {
	c.say("Session %s, turn %d; nothing was run.", t.Session, t.Turn)
	if t.With.Steps > 0 {
		end := map[bool]string{true: "reached", false: "not reached"}
		c.say("%-16s %12s %12s", "", "with it", "without it")
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
	c.say("The skill %s %s. It took %d tokens in all.", name, t.Line(), t.Tokens)
	if t.Harmful() {
		c.say("It did harm here; take it away with: hermes skills delete %s", name)
	}
}
