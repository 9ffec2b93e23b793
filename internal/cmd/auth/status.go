package auth

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/credential"
)

func newStatusCmd(n noun) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status [PROVIDER]", Short: "Show which keys and logins are usable, and what is wrong with the others",
		Example: "  hermes auth status",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			pools, err := look(n, args)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(of(c), pools, n.Now())
			}
			if len(pools) == 0 {
				return writeTable(of(c), pools, n.Now())
			}
			for _, p := range pools {
				report(of(c), n, p)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func report(io streams, n noun, p named) {
	now := n.Now()
	usable := 0
	for _, e := range p.entries {
		if !e.Revoked && !e.Resting && e.Renew == "" {
			usable++
		}
	}
	switch {
	case len(p.entries) == 0 && n.Program(p.name) != "":
		fmt.Fprintf(io.Out, "%s: the program %s keeps its own login\n", p.name, n.Program(p.name))
	case len(p.entries) == 0:
		fmt.Fprintf(io.Out, "%s: no key or login; add one with `hermes auth add %s`\n", p.name, p.name)
	case usable == len(p.entries):
		fmt.Fprintf(io.Out, "%s: %s\n", p.name, count(usable, "usable"))
	default:
		fmt.Fprintf(io.Out, "%s: %d of %s\n", p.name, usable, count(len(p.entries), "usable"))
	}
	for _, e := range p.entries {
		if e.Revoked || e.Resting {
			fmt.Fprintf(io.Out, "  %s: %s%s\n", who(e), condition(e, now), remedy(p.name, e))
		} else if e.Program != "" {
			fmt.Fprintf(io.Out, "  %s: %s\n", who(e), ownValidity(e, now))
		} else if e.Kind == credential.KindOAuth {
			fmt.Fprintf(io.Out, "  login %q: %s\n", plain(e.Label), validity(e.Expires, now))
		}
	}
}

// who is the name of a credential in a sentence.
func who(e credential.Entry) string {
	if e.Source == "config" || e.Source == "env:"+e.Label || e.Program != "" && e.Label == e.Program {
		return kind(e)
	}
	return fmt.Sprintf("%s %q", kind(e), plain(e.Label))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 credential " + what
	}
	return fmt.Sprintf("%d credentials %s", n, what)
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
