package auth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"hermes/internal/credential"
	"hermes/internal/oauth"
)

// loginTime is how long the user may take in the browser.
const loginTime = 15 * time.Minute

// enter guides the user through a login.
func (o *addition) enter(ctx context.Context, l credential.Login) (oauth.Token, error) {
	if o.Keychain {
		return oauth.Token{}, errors.New("a login cannot be stored in the keychain, since several processes renew it; only keys can")
	}
	if l.Note != "" {
		fmt.Fprintln(o.Out, l.Note)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, oauth.ErrExpired)
	defer cancel()
	if l.DeviceURL != "" {
		return o.byCode(ctx, l)
	}
	return o.byBrowser(ctx, l)
}

// byCode shows a code to enter in a browser on any machine.
func (o *addition) byCode(ctx context.Context, l credential.Login) (oauth.Token, error) {
	d, err := l.Device(ctx)
	if err != nil {
		return oauth.Token{}, err
	}
	fmt.Fprintf(o.Out, "Open %s and enter the code %s\n", d.Address, d.UserCode)
	if d.Full != "" {
		fmt.Fprintf(o.Out, "or open %s\n", d.Full)
		o.browse(ctx, d.Full)
	}
	fmt.Fprintf(o.Out, "Waiting for your confirmation, at most %v…\n", d.Expires.Sub(o.Now()).Round(time.Minute))
	return l.Poll(ctx, d)
}

// byBrowser sends the user to the service. It waits until the browser is
// redirected back, or until the user pastes its final address.
func (o *addition) byBrowser(ctx context.Context, l credential.Login) (oauth.Token, error) {
	login, err := l.Begin()
	if err != nil {
		return oauth.Token{}, err
	}
	defer login.Close()
	fmt.Fprintf(o.Out, "Open this address and log in:\n\n  %s\n\n", login.Address)
	o.browse(ctx, login.Address)
	if login.Listening {
		fmt.Fprintln(o.Out, "Waiting for the browser. If it runs on another machine, paste its final address here:")
	} else {
		fmt.Fprintln(o.Out, "The browser cannot return to Hermes. After the login, paste its final address here:")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The reader ends with its input, or with the program, since a read from a
	// terminal cannot be cancelled.
	go func() {
		if !o.paste(login) && !login.Listening {
			cancel(errors.New("no address was pasted"))
		}
	}()
	return login.Wait(ctx)
}

// paste offers lines to the login until it accepts one, and reports whether it
// did.
func (o *addition) paste(login *oauth.Login) bool {
	lines := bufio.NewScanner(o.In)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		err := login.Offer(lines.Text())
		if err == nil {
			return true
		}
		fmt.Fprintln(o.Err, err)
	}
	return false
}

func (o *addition) browse(ctx context.Context, address string) {
	if o.noBrowser || o.Browse == nil {
		return
	}
	if err := o.Browse(ctx, address); err != nil {
		fmt.Fprintln(o.Err, "Could not start the browser. Open the address yourself.")
	}
}
