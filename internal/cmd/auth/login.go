package auth

import (
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

// byBrowser sends the user to the service.
func (o *addition) byBrowser(ctx context.Context, l credential.Login) (oauth.Token, error) {
	return o.LogIn(ctx, o.Call, l.Begin, !o.noBrowser)
}

func (o *addition) browse(ctx context.Context, address string) {
	o.OpenPage(ctx, o.Call, address, !o.noBrowser)
}
