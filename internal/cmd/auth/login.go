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

// loginTime is how long the person may take in the browser.
const loginTime = 15 * time.Minute

// enter leads the person through a login.
func enter(ctx context.Context, o *addOptions, l credential.Login) (oauth.Token, error) {
	if o.Keychain {
		return oauth.Token{}, errors.New("a login cannot be kept in the keychain, since all processes renew it together; only keys can")
	}
	if l.Note != "" {
		fmt.Fprintln(o.Out, l.Note)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, oauth.ErrExpired)
	defer cancel()
	if l.DeviceURL != "" {
		return byCode(ctx, o, l)
	}
	return byBrowser(ctx, o, l)
}

// byCode shows a code that the person types in a browser, on any machine.
func byCode(ctx context.Context, o *addOptions, l credential.Login) (oauth.Token, error) {
	d, err := l.Device(ctx)
	if err != nil {
		return oauth.Token{}, err
	}
	fmt.Fprintf(o.Out, "Open %s and enter the code %s\n", d.Address, d.UserCode)
	if d.Full != "" {
		fmt.Fprintf(o.Out, "or open %s\n", d.Full)
		o.browse(ctx, d.Full)
	}
	fmt.Fprintf(o.Out, "Waiting until you have confirmed it, at most %v …\n", d.Expires.Sub(o.Now()).Round(time.Minute))
	return l.Poll(ctx, d)
}

// byBrowser sends the person to the service and waits for the browser to come
// back, or for its last address to be pasted.
func byBrowser(ctx context.Context, o *addOptions, l credential.Login) (oauth.Token, error) {
	login, err := l.Begin()
	if err != nil {
		return oauth.Token{}, err
	}
	defer login.Close()
	fmt.Fprintf(o.Out, "Open this address and log in:\n\n  %s\n\n", login.Address)
	o.browse(ctx, login.Address)
	if login.Listening {
		fmt.Fprintln(o.Out, "Waiting for the browser. If it runs on another machine, paste the address that it ends at here:")
	} else {
		fmt.Fprintln(o.Out, "The way back is taken by another program. Paste the address that the browser ends at here:")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The reader ends with its input or, since a read from a terminal cannot be
	// broken off, with the program, which has nothing left to do after this.
	go func() {
		if !o.paste(login) && !login.Listening {
			cancel(errors.New("no address was pasted"))
		}
	}()
	return login.Wait(ctx)
}

// paste hands on lines until one of them fits, and reports whether one did.
func (o *addOptions) paste(login *oauth.Login) bool {
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

func (o *addOptions) browse(ctx context.Context, address string) {
	if o.NoBrowser || o.Browse == nil {
		return
	}
	if err := o.Browse(ctx, address); err != nil {
		fmt.Fprintln(o.Err, "The browser could not be started; open the address yourself.")
	}
}
