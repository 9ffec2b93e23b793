package oauth_test

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

// TestATraceShowsNoSecret logs in, renews twice, the second time with a spent
// token, and calls a server that is gone.
func TestATraceShowsNoSecret(t *testing.T) {
	t.Parallel()
	s, c, _ := service(t)
	var log bytes.Buffer
	c.Trace = slog.New(slog.NewTextHandler(&log, nil))
	c.ClientSecret = "canary-client-secret"
	l := begin(t, c)
	browse(t, l.Address)
	token, err := l.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Refresh(t.Context(), token.Refresh); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Refresh(t.Context(), token.Refresh); err == nil {
		t.Error("a spent token was accepted")
	}
	d, err := c.Device(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	c.TokenURL += "?key=canary-in-the-query"
	if _, err := c.Refresh(t.Context(), "canary-refresh-of-another"); err == nil {
		t.Error("a server that is gone answered")
	}
	got := log.String()
	for _, want := range []string{
		"step=authorize", "step=authorization_code", "step=refresh_token", "step=device_code", "address=" + strings.TrimSuffix(c.TokenURL, "?key=canary-in-the-query"),
		"client_id=hermes-test", "access_token#", "refresh_token#", "expires_in=", "code=invalid_grant", "client_secret", "refused",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the trace lacks %q", want)
		}
	}
	u, _ := url.Parse(l.Address)
	for _, secret := range []string{"canary", token.Access, token.Refresh, d.UserCode, u.Query().Get("state"), u.Query().Get("code_challenge")} {
		if secret != "" && strings.Contains(got, secret) {
			t.Errorf("the trace shows %q", secret)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}
