package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

// trace logs one request to a login service if Config.Trace is set. It shows which
// fields were sent and received, tokens and codes only by a fingerprint, and
// addresses without their query.
func (c Config) trace(address string, body []byte, a answer, err error, took time.Duration) {
	if c.Trace == nil {
		return
	}
	form, _ := url.ParseQuery(string(body)) // JSON has no form: it is the exchange for a key
	sent := make([]string, 0, len(form))
	for name, values := range form {
		if name == "grant_type" {
			continue // it is the step
		}
		if slices.Contains(shownFields, name) {
			name += "=" + strings.Join(values, " ")
		} else if v := form.Get(name); slices.Contains(secretFields, name) && v != "" {
			name += fingerprint(v)
		}
		sent = append(sent, name)
	}
	slices.Sort(sent)
	step := form.Get("grant_type")
	switch {
	case strings.HasPrefix(string(body), "{"):
		step, sent = "key", nil
	case step == "":
		step = "device_code"
	}
	attrs := []any{"step", strings.TrimPrefix(step, "urn:ietf:params:oauth:grant-type:"), "address", bare(address), "sent", strings.Join(sent, " "), "took", took.Round(time.Millisecond).String()}
	if refusal, ok := errors.AsType[*Error](err); ok {
		attrs = append(attrs, "status", refusal.Status, "code", refusal.Code, "description", refusal.Description)
	} else if err != nil {
		attrs = append(attrs, "err", strings.ReplaceAll(withoutAddress(err), address, bare(address)))
	} else {
		attrs = append(attrs, "received", strings.Join(a.fields(), " "), "expires_in", a.ExpiresIn.seconds().String())
	}
	c.Trace.Info("oauth", attrs...)
}

// shownFields are the fields of a request that hold no secret; of all others only
// the name is shown.
var shownFields = []string{"client_id", "scope"}

// secretFields are shown by a fingerprint.
var secretFields = []string{"refresh_token"}

// fields names what a service sent, tokens by a fingerprint.
func (a answer) fields() []string {
	var out []string
	for _, f := range []struct {
		name, value string
		shown       bool
	}{
		{"access_token", a.Access, false}, {"refresh_token", a.Refresh, false}, {"id_token", a.ID, false}, {"key", a.Key, false},
		{"device_code", a.DeviceCode, false}, {"scope", clean(a.Scope, nil), true}, {"resource_url", bare(a.Resource), true},
	} {
		switch {
		case f.value == "":
		case f.shown:
			out = append(out, f.name+"="+f.value)
		default:
			out = append(out, f.name+fingerprint(f.value))
		}
	}
	return out
}

// fingerprint tells whether two secrets are equal without revealing them. It is
// written so that the log, which masks what follows a name such as token=, keeps it.
func fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return "#" + hex.EncodeToString(sum[:6])
}

// bare is an address without user, query and fragment, which may hold secrets.
func bare(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// withoutAddress is the text of an error of a request without its address.
func withoutAddress(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
