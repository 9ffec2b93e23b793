package auth

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/credential"
	"hermes/internal/markup"
)

// named is the pool of a service with what is in it.
type named struct {
	name    string
	entries []credential.Entry
}

// look returns the pool of one service, or all pools with entries.
func look(n noun, args []string) ([]named, error) {
	if len(args) > 0 {
		name, p, err := n.Pool(args[0])
		if err != nil {
			return nil, err
		}
		entries, err := p.Entries()
		return []named{{name, entries}}, err
	}
	names, err := n.PoolNames()
	if err != nil {
		return nil, err
	}
	var out []named
	for _, name := range names {
		more, err := look(n, []string{name})
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func (n noun) list() *cobra.Command {
	cmd := n.lister("list [PROVIDER]", "List keys and logins in the order of use", "hermes auth list openrouter", func(c *factory.Call, pools []named) error {
		for i, p := range pools {
			if i > 0 {
				fmt.Fprintln(c.Out)
			}
			c.Say("%s", p.name)
			if len(p.entries) == 0 {
				c.Say("  none; add one with `hermes auth add %s`", p.name)
				continue
			}
			var rows factory.Table
			for i, e := range p.entries {
				rows.Row(fmt.Sprintf("  %d", i+1), e.ID, markup.Visible(e.Label), kind(e), e.Hint, condition(e, n.Now()))
			}
			if err := rows.Print(c.Out); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.Aliases = []string{"ls"}
	return cmd
}

// lister makes a verb that shows the credentials of one service or of all.
func (n noun) lister(use, short, example string, show func(*factory.Call, []named) error) *cobra.Command {
	var asJSON bool
	cmd := factory.Verb(use, short, example, cobra.MaximumNArgs(1), func(_ context.Context, c *factory.Call) error {
		pools, err := look(n, c.Args)
		switch {
		case err != nil:
			return err
		case asJSON:
			return writeJSON(c.Out, pools)
		case len(pools) == 0:
			c.Say("No keys or logins. Add one with `hermes auth add PROVIDER`; `hermes model list --all` shows the providers.")
			return nil
		}
		return show(c, pools)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// kind says what a credential is and where it is stored.
func kind(e credential.Entry) string {
	switch {
	case e.Program != "":
		return "login of " + e.Program
	case e.Kind == credential.KindOAuth:
		return "login"
	case e.Kind == credential.KindKeychain:
		return "key in the keychain"
	case strings.HasPrefix(e.Source, "env:"):
		return "key from " + strings.TrimPrefix(e.Source, "env:")
	case e.Source == "config":
		return "key from config.yaml"
	}
	return "key"
}

// condition says whether a credential is usable.
func condition(e credential.Entry, now time.Time) string {
	switch {
	case e.Revoked:
		return "no longer valid" + because(e.Reason)
	case e.Resting:
		return "paused until " + clock(e.Until, now) + because(e.Reason)
	case e.Renew != "":
		return "not valid now; run `" + e.Renew + "`, which renews it"
	}
	return "usable"
}

func because(c hermes.Class) string {
	switch c {
	case hermes.ClassRateLimit:
		return " (limit reached)"
	case hermes.ClassBilling:
		return " (no credit)"
	case hermes.ClassAuth, hermes.ClassAuthPermanent:
		return " (refused)"
	case "":
		return ""
	}
	return " (" + strings.ReplaceAll(string(c), "_", " ") + ")"
}

// clock writes a time, without the day if it is today.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("15:04 on 2 January")
}

// entryJSON is a credential in JSON output. No field holds a secret.
type entryJSON struct {
	_ [0]func() // it is never compared, which saves the code for it

	Provider  string    `json:"provider"`
	Position  int       `json:"place"`
	ID        string    `json:"id"`
	Label     string    `json:"label"`
	Kind      string    `json:"kind"`
	Source    string    `json:"source"`
	Priority  int       `json:"priority"`
	Hint      string    `json:"hint,omitempty"`
	Account   string    `json:"account,omitempty"`
	State     string    `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	RestsTill time.Time `json:"rests_until,omitzero"`
	Expires   time.Time `json:"expires,omitzero"`
	Requests  int       `json:"requests"`
	LastUsed  time.Time `json:"last_used,omitzero"`
}

func writeJSON(out io.Writer, pools []named) error {
	rows := []entryJSON{}
	for _, p := range pools {
		for n, e := range p.entries {
			state := "usable"
			if e.Revoked {
				state = "dead"
			} else if e.Resting {
				state = "resting"
			} else if e.Renew != "" {
				state = "expired"
			}
			rows = append(rows, entryJSON{
				Provider: p.name, Position: n + 1, ID: e.ID, Label: e.Label, Kind: e.Kind, Source: e.Source, Priority: e.Priority, Hint: e.Hint,
				Account: e.Account, State: state, Reason: string(e.Reason), RestsTill: e.Until, Expires: e.Expires, Requests: e.Requests, LastUsed: e.Used,
			})
		}
	}
	return factory.WriteJSON(out, rows)
}
