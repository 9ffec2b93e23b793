// Package auth is the command `hermes auth`: the keys and logins of model
// services, several for each, and how they are.
//
// What is kept and lent is the business of internal/credential; here the person
// adds, looks and takes away. No secret is ever printed: what is shown is its
// head and tail. Start at NewCmd; login.go leads through a login.
package auth

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/credential"
)

// Deps are what the verbs need.
type Deps struct {
	// Pool returns the credentials of a service by its name or alias, and the
	// name that they have.
	Pool func(provider string) (name string, p *credential.Pool, err error)
	// Pools lists the services that have credentials.
	Pools func() ([]string, error)
	// Login returns how one logs in at a service, if a way is known.
	Login func(pool string) (credential.Login, bool)
	// Takes reports whether a service is asked with a key, not with a login alone.
	Takes func(pool string) bool
	// Missing says what keeps a service from being asked, or nothing.
	Missing func(pool string) string
	// Browse opens an address in the person's browser; nil cannot.
	Browse func(ctx context.Context, address string) error
	// Terminal tells whether the person can be asked.
	Terminal func() bool
	// Hidden reads a line without showing it.
	Hidden func() (string, error)
	Now    func() time.Time
}

// IO is where a verb reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
}

func of(c *cobra.Command) IO { return IO{c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()} }

// NewCmd makes `hermes auth`; alone it is `hermes auth status`.
func NewCmd(d Deps) *cobra.Command {
	if d.Now == nil {
		d.Now = time.Now
	}
	status := newStatusCmd(d)
	c := &cobra.Command{
		Use:   "auth",
		Short: "Keep the keys and logins of model services",
		Long: "A service can have several keys and logins. When one meets a limit or runs dry, it rests, and the next\n" +
			"one is used. They are kept in auth.json of the Hermes home, readable by you alone; keys that are set in\n" +
			"the environment or in .env are used from there.",
		Args: cobra.NoArgs,
		RunE: status.RunE,
	}
	c.AddCommand(newAddCmd(d), newListCmd(d), newRemoveCmd(d), newResetCmd(d), newPriorityCmd(d), newRefreshCmd(d), status, newLogoutCmd(d))
	return c
}
