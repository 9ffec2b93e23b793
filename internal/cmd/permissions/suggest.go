package permissions

import (
	"context"
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
	"hermes/internal/permission"
	"hermes/internal/text"
	"hermes/internal/toolbox"
)

// suggestion is a rule as JSON.
type suggestion struct {
	Number int       `json:"number"`
	Rule   string    `json:"rule"`
	Count  int       `json:"count"`
	Last   time.Time `json:"last"`
	Call   string    `json:"call"`
	Risks  []string  `json:"risks"`
}

func (n noun) suggest() *cobra.Command {
	var apply string
	var asJSON bool
	var days, least, limit int
	cmd := factory.Verb("suggest", "Suggest rules for what you allow again and again", "hermes permissions suggest\n  hermes permissions suggest --apply 1,3", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		if days < 1 || least < 1 || limit < 1 {
			return fmt.Errorf("--days, --min-count and --limit must be at least 1")
		}
		list, err := n.suggestions(ctx, time.Duration(days)*24*time.Hour, least)
		if err != nil {
			return err
		}
		list = list[:min(len(list), limit)]
		if apply != "" {
			return n.apply(ctx, c, list, apply)
		}
		if asJSON {
			views := []suggestion{}
			for i, s := range list {
				views = append(views, suggestion{i + 1, s.Rule, s.Count, s.Last, s.Call, s.Risks})
			}
			return factory.WriteJSON(c.Out, views)
		}
		for i, s := range list {
			c.Say("%2d  allow: %s\n    allowed %s, last on %s (%s)", i+1, text.VisibleName(s.Rule), text.Plural(s.Count, "time", "times"), s.Last.Local().Format(time.DateOnly), strings.Join(s.Risks, ", "))
		}
		if len(list) == 0 {
			c.Say("There is nothing to suggest: no command was allowed at least %d times in %d days, never refused, and is of a kind that may be allowed by a rule.", least, days)
			return nil
		}
		c.Say("\nTo add some of these to the rules: hermes permissions suggest --apply 1")
		return nil
	})
	cmd.Long = "Suggest rules for commands that you allowed again and again and never refused, by the audit log. What deletes, sends, publishes, gains rights or\n" +
		"changes Hermes is never suggested, nor is what a model or a setting allowed."
	cmd.Flags().StringVar(&apply, "apply", "", "add the suggestions with these `numbers` to the rules of permissions.yaml")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().IntVar(&days, "days", 90, "look back so many days")
	cmd.Flags().IntVar(&least, "min-count", 2, "suggest what was allowed at least so often")
	cmd.Flags().IntVar(&limit, "limit", 20, "suggest at most so many")
	return cmd
}

// suggestions reads the record and leaves out what runs without asking already.
func (n noun) suggestions(ctx context.Context, since time.Duration, least int) ([]permission.Suggestion, error) {
	log, err := n.App().Audit()
	if err != nil {
		return nil, err
	}
	approved, err := log.Approvals(ctx, n.Now().Add(-since))
	if err != nil {
		return nil, err
	}
	var answers []permission.Answered
	for _, a := range approved {
		allowed := slices.Contains([]hermes.Decision{hermes.AllowOnce, hermes.AllowSession, hermes.AllowAlways}, hermes.Decision(a.Decision))
		answers = append(answers, permission.Answered{Tool: a.Tool, Subject: a.Subject, Risk: a.Risk, Allowed: allowed, Count: a.Count, Last: a.Last})
	}
	run, err := n.RunOn("cli")
	if err != nil {
		return nil, err
	}
	run.Rights.Mode = hermes.ModeAsk
	candidates := permission.Suggest(answers, least)
	if len(candidates) == 0 {
		return nil, nil
	}
	judge, err := n.App().Judge(ctx, app.SampleCall{Run: run, Attended: true})
	if err != nil {
		return nil, err
	}
	defer judge.Close()
	var list []permission.Suggestion
	for _, s := range candidates {
		v, err := judge.Verdict(ctx, "terminal", s.Call, nil)
		if err != nil {
			return nil, err
		}
		if v.Outcome == toolbox.Asks {
			list = append(list, s)
		}
	}
	return list, nil
}

// apply adds the chosen ones to the rules.
func (n noun) apply(ctx context.Context, c *factory.Call, list []permission.Suggestion, numbers string) error {
	var rules []string
	for _, text := range strings.Split(numbers, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || i < 1 || i > len(list) {
			return fmt.Errorf("there is no suggestion %q; list them with `hermes permissions suggest`", strings.TrimSpace(text))
		}
		if rule := list[i-1].Rule; !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	file, err := n.file()
	if err != nil {
		return err
	}
	for _, r := range rules { // a row first: what cannot be recorded is not allowed
		if err := n.App().Record(ctx, audit.Row{Kind: audit.KindGrant, By: "user", Tool: "terminal", Rule: "allow: " + r, Decision: string(hermes.AllowAlways), Note: "added to the rules of permissions.yaml"}); err != nil {
			return err
		}
	}
	if err := file.AddRules(ctx, rules...); err != nil {
		return err
	}
	for _, r := range rules {
		c.Say("Added: allow: %s", text.VisibleName(r))
	}
	c.Say("They hold from the next call on, in every session. %s has them.", file.Place())
	return nil
}
