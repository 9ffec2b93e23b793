// Package auth is the command `hermes auth`: it lists, adds and removes the keys
// and logins of model services, and shows which of them are usable.
//
// It does not know how credentials are stored or chosen; internal/credential
// does. It never prints a whole secret, only its first and last characters. Start
// at NewCmd; login.go guides the user through a login.
package auth

import (
	"context"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/credential"
)

// Services are the model services and their credentials.
type Services interface {
	// Pool returns the credentials of a service by its name or alias, and the
	// name that they have.
	Pool(provider string) (name string, p *credential.Pool, err error)
	// PoolNames lists the services that have credentials.
	PoolNames() ([]string, error)
	// Login returns how to log in at a service, and whether enough of that is
	// known.
	Login(pool string) (credential.Login, bool)
	// Accepts reports whether a service accepts keys, and whether it is used with a
	// login only.
	Accepts(pool string) (keys, loginOnly bool)
	// Program returns the command of a service that is a program, "" for others.
	Program(pool string) string
	// Missing says what a service lacks to be usable, or "".
	Missing(pool string) string
}

// noun makes the verbs.
type noun struct {
	*factory.Factory
	Services
}

// verb makes a command for the credentials of the service that its first argument names.
func (n noun) verb(use, short, example string, args cobra.PositionalArgs, do func(ctx context.Context, c *factory.Call, name string, p *credential.Pool) error) *cobra.Command {
	return factory.Verb(use, short, example, args, func(ctx context.Context, c *factory.Call) error {
		name, p, err := n.Pool(c.Args[0])
		if err != nil {
			return err
		}
		return do(ctx, c, name, p)
	})
}

// NewCmd makes `hermes auth`; without a verb it is `hermes auth status`.
//
// The services replace those of the app in tests.
func NewCmd(f *factory.Factory, s Services) *cobra.Command {
	if s == nil {
		s = catalogue{f}
	}
	n := noun{f, s}
	cmd := factory.Noun("auth", "Manage keys and logins of model services", "hermes auth add openrouter\n  hermes auth status",
		n.status(), n.add(), n.list(), n.remove(), n.reset(), n.priority(), n.refresh(), n.logout())
	cmd.Long = "Manage keys and logins. A service can have several. When one reaches a limit or has no credit, it is\n" +
		"paused and the next one is used. They are stored in auth.json in the Hermes home, readable only by you.\n" +
		"Keys in the environment or in .env are used from there. WHICH is a position, an id or a label in\n" +
		"`hermes auth list`."
	return cmd
}
