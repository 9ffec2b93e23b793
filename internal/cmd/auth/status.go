package auth

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/credential"
	"hermes/internal/markup"
	"hermes/internal/text"
)

func (n noun) status() *cobra.Command {
	return n.lister("status [PROVIDER]", "Show which keys and logins are usable, and what is wrong with the others", "hermes auth status", func(c *factory.Call, pools []named) error {
		for _, p := range pools {
			n.report(c, p)
		}
		return nil
	})
}

func (n noun) report(c *factory.Call, p named) {
	now := n.Now()
	usable := 0
	for _, e := range p.entries {
		if !e.Revoked && !e.Resting && e.Renew == "" {
			usable++
		}
	}
	total := text.Plural(len(p.entries), "credential", "credentials")
	switch {
	case len(p.entries) == 0 && n.Program(p.name) != "":
		c.Say("%s: the program %s keeps its own login", p.name, n.Program(p.name))
	case len(p.entries) == 0:
		c.Say("%s: no key or login; add one with `hermes auth add %s`", p.name, p.name)
	case usable == len(p.entries):
		c.Say("%s: %s usable", p.name, total)
	default:
		c.Say("%s: %d of %s usable", p.name, usable, total)
	}
	for _, e := range p.entries {
		if e.Revoked || e.Resting {
			c.Say("  %s: %s%s", who(e), condition(e, now), remedy(p.name, e))
		} else if e.Program != "" {
			c.Say("  %s: %s", who(e), ownValidity(e, now))
		} else if e.Kind == credential.KindOAuth {
			c.Say("  login %q: %s", markup.Visible(e.Label), validity(e.Expires, now))
		}
	}
}

// who is the name of a credential in a sentence.
func who(e credential.Entry) string {
	if e.Source == "config" || e.Source == "env:"+e.Label || e.Program != "" && e.Label == e.Program {
		return kind(e)
	}
	return fmt.Sprintf("%s %q", kind(e), markup.Visible(e.Label))
}

// validity says when a login's token is renewed, which happens automatically.
func validity(expires, now time.Time) string {
	switch {
	case expires.IsZero():
		return "in use"
	case expires.Before(now):
		return "expired; renews at the next use"
	}
	return "renews automatically, next at " + clock(expires, now)
}

// ownValidity says how long the login of another program is valid, which only that
// program renews.
func ownValidity(e credential.Entry, now time.Time) string {
	if e.Renew != "" || e.Expires.IsZero() {
		return condition(e, now)
	}
	return "valid until " + clock(e.Expires, now) + "; " + e.Program + " renews it"
}

// remedy says what the user can do.
func remedy(name string, e credential.Entry) string {
	switch {
	case e.Revoked && e.Program != "":
		return fmt.Sprintf("; log in with %s, then run `hermes auth reset %s %s`", e.Program, name, e.ID)
	case e.Revoked && e.Kind == credential.KindOAuth:
		return fmt.Sprintf("; log in again with `hermes auth add %s --type oauth`", name)
	case e.Revoked:
		return fmt.Sprintf("; replace it, or run `hermes auth reset %s %s` if it is correct", name, e.ID)
	}
	return fmt.Sprintf("; to use it now, run `hermes auth reset %s %s`", name, e.ID)
}
