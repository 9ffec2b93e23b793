package factory

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"hermes/internal/oauth"
)

// LogIn sends the user to a service in a browser, which is started if browser is set. It waits until the
// browser is redirected back, or until the user pastes its final address.
func (f *Factory) LogIn(ctx context.Context, c *Call, begin func() (*oauth.Login, error), browser bool) (oauth.Token, error) {
	login, err := begin()
	if err != nil {
		return oauth.Token{}, err
	}
	defer login.Close()
	c.Say("Open this address and log in:\n\n  %s\n", login.Address)
	f.OpenPage(ctx, c, login.Address, browser)
	if login.Listening {
		c.Say("Waiting for the browser. If it runs on another machine, paste its final address here:")
	} else {
		c.Say("The browser cannot return to Hermes. After the login, paste its final address here:")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The reader ends with its input, or with the program, since a read from a
	// terminal cannot be cancelled.
	go func() {
		if !paste(c, login) && !login.Listening {
			cancel(errors.New("no address was pasted"))
		}
	}()
	return login.Wait(ctx)
}

// paste offers lines to the login until it accepts one, and reports whether it
// did.
func paste(c *Call, login *oauth.Login) bool {
	lines := bufio.NewScanner(c.In)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		err := login.Offer(lines.Text())
		if err == nil {
			return true
		}
		fmt.Fprintln(c.Err, err)
	}
	return false
}

// OpenPage opens an address in a browser, if there is one and browser is set.
func (f *Factory) OpenPage(ctx context.Context, c *Call, address string, browser bool) {
	if !browser || f.Browse == nil {
		return
	}
	if err := f.Browse(ctx, address); err != nil {
		c.Note("Could not start the browser. Open the address yourself.")
	}
}
