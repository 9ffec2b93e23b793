package oauth

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"
)

// Device is a device code that waits for the user's confirmation.
type Device struct {
	UserCode string // to be typed at Address
	Address  string
	Full     string // Address with the code in it; may be empty
	Expires  time.Time

	code, verifier string
	interval       time.Duration
}

const (
	defaultInterval = 5 * time.Second
	slowDown        = 5 * time.Second // what RFC 8628 adds at each slow_down
	maxInterval     = time.Minute
	deviceLifetime  = 15 * time.Minute // if the service does not say
)

// Device requests a device code.
func (c Config) Device(ctx context.Context) (Device, error) {
	form := url.Values{"client_id": {c.ClientID}}
	if len(c.Scopes) > 0 {
		form.Set("scope", strings.Join(c.Scopes, " "))
	}
	if c.Bound.Resource != "" {
		form.Set("resource", c.Bound.Resource)
	}
	var d Device
	if c.Form == FormDevicePKCE {
		verifier, challenge, err := c.pkce()
		if err != nil {
			return Device{}, err
		}
		d.verifier = verifier
		form.Set("code_challenge", challenge)
		form.Set("code_challenge_method", "S256")
	}
	a, err := c.post(ctx, "device address", c.DeviceURL, "application/x-www-form-urlencoded", []byte(form.Encode()), nil)
	if err != nil {
		return Device{}, err
	}
	d.UserCode, d.Full, d.code = a.UserCode, a.VerifyFull, a.DeviceCode
	d.Address = a.VerifyURI
	if d.Address == "" {
		d.Address = a.VerifyURL
	}
	if d.code == "" || d.UserCode == "" || d.Address == "" {
		return Device{}, errors.New("the login service sent no device code")
	}
	for _, shown := range []string{d.Address, d.Full} {
		if shown == "" {
			continue
		}
		if err := secure("address to open", shown); err != nil {
			return Device{}, err
		}
	}
	d.interval = min(a.Interval.seconds(), maxInterval)
	if d.interval == 0 {
		d.interval = defaultInterval
	}
	life := a.ExpiresIn.seconds()
	if life == 0 {
		life = deviceLifetime
	}
	d.Expires = c.now().Add(life)
	return d, nil
}

// Poll waits until the user has confirmed the code. It fails with ErrDenied or
// ErrExpired, or with the cause of ctx. If the service does not answer, Poll
// retries with growing waits until the code expires.
func (c Config) Poll(ctx context.Context, d Device) (Token, error) {
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {d.code}}
	if d.verifier != "" {
		form.Set("code_verifier", d.verifier)
	}
	for wait := d.interval; ; {
		if err := c.sleep(ctx, wait); err != nil {
			return Token{}, err
		}
		if !c.now().Before(d.Expires) {
			return Token{}, ErrExpired
		}
		t, err := c.token(ctx, form)
		if err == nil {
			return t, nil
		}
		if ctx.Err() != nil {
			return Token{}, context.Cause(ctx)
		}
		refusal, answered := errors.AsType[*Error](err)
		switch {
		case !answered, refusal.Status >= 500:
			wait = min(2*wait, maxInterval)
		case refusal.Code == "authorization_pending":
		case refusal.Code == "slow_down":
			wait = min(wait+slowDown, maxInterval)
		default:
			return Token{}, err
		}
	}
}
