package permissions

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/permission"
)

// view is a permission as JSON.
type view struct {
	ID         string    `json:"id"`
	Tool       string    `json:"tool"`
	Key        string    `json:"key"`
	Subject    string    `json:"subject,omitempty"`
	Dir        string    `json:"dir,omitempty"`
	Platform   string    `json:"platform,omitempty"`
	Unattended bool      `json:"unattended"`
	By         string    `json:"by,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	Expires    time.Time `json:"expires,omitzero"`
}

func (n noun) list() *cobra.Command {
	var asJSON bool
	cmd := factory.Verb("list", "List rules, and what runs without asking", "hermes permissions list", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		f, allowlist, err := n.App().Permissions()
		if err != nil {
			return err
		}
		list, problems, err := f.List()
		if err != nil {
			return err
		}
		rules := f.Policy("")
		if home, err := os.UserHomeDir(); err == nil {
			rules = f.Policy(home)
		}
		for _, p := range rules.Problems {
			effect := "the rule is ignored"
			if p.Stops {
				effect = "no call runs until it is repaired"
			}
			c.Note("hermes: %s; %s", p, effect)
		}
		for _, p := range problems {
			c.Note("hermes: %s", p)
		}
		if !asJSON {
			concerned, err := n.App().Concerned(ctx)
			if err != nil {
				return err
			}
			show(c, rules.Entries, concerned, list, allowlist)
			return nil
		}
		views := []view{}
		for _, s := range list {
			views = append(views, view{s.ID, s.Tool, s.Key, s.Subject, s.Dir, s.Platform, s.Unattended, s.By, s.Created, s.Expires})
		}
		return factory.WriteJSON(c.Out, views)
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// show prints what each permission allows, where and until when.
func show(c *factory.Call, rules []permission.Entry, concerned func(permission.Rule) bool, list []permission.Stored, allowlist []string) {
	for _, e := range rules {
		line := fmt.Sprintf("%-8s  %s", e.Verdict, markup.Visible(e.Rule.String()))
		if e.Limited() {
			line += "  (in some sessions)"
		}
		if !concerned(e.Rule) {
			line += "  (there is no such tool now)"
		}
		if !e.Expires.IsZero() {
			line += "  until " + e.Expires.Local().Format(time.DateTime)
		}
		if e.Reason != "" {
			line += "\n          " + markup.Visible(e.Reason)
		}
		c.Say("%s\n          %s", line, e.Place)
	}
	for _, s := range list {
		what := "every call with this risk"
		if s.Subject != "" {
			what = strings.ReplaceAll(markup.Visible(s.Subject), "\n", "\n            ")
		}
		c.Say("%s  %s  %s\n          %s\n          %s", s.ID, markup.Visible(s.Tool), markup.Visible(s.Key), what, strings.Join(limits(s), ", "))
	}
	for _, key := range allowlist {
		c.Say("-         any tool  %s\n          every call with this risk\n          from the setting command_allowlist, where the user can be asked", markup.Visible(key))
	}
	if len(rules)+len(list)+len(allowlist) == 0 {
		c.Say("There are no permissions. Answer \"always\" to an approval to make one.")
	}
}

// limits says where a permission holds and until when.
func limits(s permission.Stored) []string {
	parts := []string{"in any folder"}
	if s.Dir != "" {
		parts[0] = "in " + markup.Visible(s.Dir)
	}
	if s.Platform != "" {
		parts = append(parts, "on "+markup.Visible(s.Platform))
	}
	if s.Unattended {
		parts = append(parts, "also unattended")
	}
	if !s.Created.IsZero() {
		parts = append(parts, "since "+s.Created.Local().Format(time.DateOnly))
	}
	if !s.Expires.IsZero() {
		parts = append(parts, "until "+s.Expires.Local().Format(time.DateTime))
	}
	return parts
}
