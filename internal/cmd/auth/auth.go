// Package auth is the command `hermes auth`: it lists, adds and removes the keys
// and logins of model services, and shows which of them are usable.
//
// It does not know how credentials are stored or chosen; internal/credential
// does. It never prints a whole secret, only its first and last characters. Start
// at NewCmd; login.go guides the user through a login.
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
	// Login returns how to log in at a service, and whether enough of that is
	// known.
	Login func(pool string) (credential.Login, bool)
	// Takes reports whether a service accepts keys, not only logins.
	Takes func(pool string) bool
	// LoginOnly reports whether a service is used with a login, not a key.
	LoginOnly func(pool string) bool
	// Program returns the command of a service that is a program, "" for others.
	Program func(pool string) string
	// Missing says what a service lacks to be usable, or "".
	Missing func(pool string) string
	// Browse opens an address in the user's browser; nil opens none.
	Browse func(ctx context.Context, address string) error
	// Terminal reports whether the user can be asked.
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

// NewCmd makes `hermes auth`; without a verb it is `hermes auth status`.
func NewCmd(d Deps) *cobra.Command {
	if d.Now == nil {
		d.Now = time.Now
	}
	status := newStatusCmd(d)
	c := &cobra.Command{
		Use:   "auth",
		Short: "Manage keys and logins of model services",
		Long: "Manage keys and logins. A service can have several. When one reaches a limit or has no credit, it is\n" +
			"paused and the next one is used. They are stored in auth.json in the Hermes home, readable only by you.\n" +
			"Keys in the environment or in .env are used from there. WHICH is a position, an id or a label in\n" +
			"`hermes auth list`.",
		Example: "  hermes auth add openrouter\n  hermes auth status",
		Args:    cobra.NoArgs,
		RunE:    status.RunE,
	}
	c.AddCommand(newAddCmd(d), newListCmd(d), newRemoveCmd(d), newResetCmd(d), newPriorityCmd(d), newRefreshCmd(d), status, newLogoutCmd(d))
	return c
}
