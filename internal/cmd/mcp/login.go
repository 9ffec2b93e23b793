package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/mcp/login"
	"hermes/internal/oauth"
)

// login makes `hermes mcp login`.
func (n noun) login() *cobra.Command {
	var device, noBrowser bool
	cmd := factory.Verb("login NAME", "Log in at an MCP server", "hermes mcp login docs\n  hermes mcp login docs --device",
		cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
			l, byCode, err := n.App().ServerLogin(c.Args[0])
			if err != nil {
				return err
			}
			ctx, end := context.WithCancelCause(ctx)
			defer end(nil)
			e, err := l.Enter(ctx, &user{Factory: n.Factory, Call: c, noBrowser: noBrowser, end: end}, device || byCode)
			if errors.Is(err, login.ErrNotDemanded) {
				c.Say("%s answers without a login. Nothing was changed.", c.Args[0])
				return nil
			}
			if err != nil {
				return err
			}
			c.Say("You are logged in at %s.%s", c.Args[0], about(e, n.Now()))
			return nil
		})
	cmd.Long = "Log in at a server of mcp_servers in config.yaml that has a url. Your browser opens the page of its login\n" +
		"service. If the browser runs on another machine, paste its final address. --device shows a code instead,\n" +
		"which you enter in any browser; not all services have that. Running sessions use the login within 2 minutes."
	cmd.Flags().BoolVar(&device, "device", false, "log in with a code that you enter on any device")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only show the address; do not open a browser")
	return cmd
}

// about says what a login is good for.
func about(e login.Entered, now time.Time) string {
	var says []string
	if e.Scope != "" {
		says = append(says, "It may use: "+markup.Visible(e.Scope)+".")
	}
	if !e.Renewed && !e.Expires.IsZero() {
		says = append(says, fmt.Sprintf("It ends in %v; then log in again.", e.Expires.Sub(now).Round(time.Minute)))
	}
	if len(says) == 0 {
		return ""
	}
	return " " + strings.Join(says, " ")
}

// logout makes `hermes mcp logout`.
func (n noun) logout() *cobra.Command {
	return factory.Verb("logout NAME", "Forget the login at an MCP server", "hermes mcp logout docs", cobra.ExactArgs(1),
		func(ctx context.Context, c *factory.Call) error {
			l, _, err := n.App().ServerLogin(c.Args[0])
			if err != nil {
				return err
			}
			was, notified, err := l.Out(ctx)
			switch {
			case err != nil:
				return err
			case !was:
				c.Say("You were not logged in at %s.", c.Args[0])
				return nil
			case notified != nil:
				c.Note("The login service could not be told: %v", notified)
			}
			c.Say("You are logged out of %s.", c.Args[0])
			return nil
		})
}

// user is whoever sits at the terminal.
type user struct {
	*factory.Factory
	*factory.Call
	noBrowser bool
	end       context.CancelCauseFunc // ends the login
}

// Visit shows the address, opens the browser, and reads what is pasted.
func (u *user) Visit(ctx context.Context, address string, listening bool, offer func(string) error) {
	u.Say("Open this address and log in:\n\n  %s\n", address)
	u.open(ctx, address)
	if listening {
		u.Say("Waiting for the browser. If it runs on another machine, paste its final address here:")
	} else {
		u.Say("The browser cannot return to Hermes. After the login, paste its final address here:")
	}
	// The reader ends with its input, or with the program, since a read from a terminal cannot
	// be cancelled.
	go func() {
		if !u.paste(offer) && !listening {
			u.end(errors.New("no address was pasted"))
		}
	}()
}

// paste offers lines until one is accepted, and reports whether one was.
func (u *user) paste(offer func(string) error) bool {
	lines := bufio.NewScanner(u.Call.In)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		err := offer(lines.Text())
		if err == nil {
			return true
		}
		u.Note("%v", err)
	}
	return false
}

// Confirm shows a code.
func (u *user) Confirm(ctx context.Context, d oauth.Device) {
	u.Say("Open %s and enter the code %s", markup.Visible(d.Address), markup.Visible(d.UserCode))
	if d.Full != "" {
		u.Say("or open %s", markup.Visible(d.Full))
		u.open(ctx, d.Full)
	}
	u.Say("Waiting for your confirmation, at most %v…", d.Expires.Sub(u.Now()).Round(time.Minute))
}

// open opens the browser if that is wanted.
func (u *user) open(ctx context.Context, address string) {
	if u.noBrowser || u.Browse == nil {
		return
	}
	if err := u.Browse(ctx, address); err != nil {
		u.Note("Could not start the browser. Open the address yourself.")
	}
}
