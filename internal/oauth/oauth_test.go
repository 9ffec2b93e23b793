package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
)

// clock is a time that sleeping moves on.
type clock struct {
	at    time.Time
	waits []time.Duration
}

func (c *clock) now() time.Time { return c.at }

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	c.at = c.at.Add(d)
	return context.Cause(ctx)
}

func service(t *testing.T) (*oauthserver.Server, oauth.Config, *clock) {
	t.Helper()
	s := oauthserver.New()
	t.Cleanup(s.Close)
	c := &clock{at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	return s, oauth.Config{
		ClientID: "hermes-test", AuthURL: s.URL + "/authorize", TokenURL: s.URL + "/token", DeviceURL: s.URL + "/device",
		Scopes: []string{"a", "b"}, Now: c.now, Sleep: c.sleep,
	}, c
}

// browse opens an address as a browser does, and returns the last page.
func browse(t *testing.T, address string) (int, string) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func begin(t *testing.T, c oauth.Config) *oauth.Login {
	t.Helper()
	l, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestBrowserLogin(t *testing.T) {
	t.Parallel()
	s, c, clock := service(t)
	l := begin(t, c)
	if !l.Listening {
		t.Error("the login does not listen for the redirect")
	}
	status, text := browse(t, l.Address)
	if status != http.StatusOK || !strings.Contains(text, "You are logged in") {
		t.Errorf("page: %d %s", status, text)
	}
	got, err := l.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !s.Valid(got.Access) || got.Refresh == "" || !got.Expires.Equal(clock.at.Add(time.Hour)) {
		t.Errorf("got %q %q %v", got.Access, got.Refresh, got.Expires)
	}
}

func TestBrowserLoginForAKey(t *testing.T) {
	t.Parallel()
	s, c, _ := service(t)
	c.Form, c.TokenURL, c.Redirect = oauth.FormKey, s.URL+"/keys", "http://localhost:0/callback"
	l := begin(t, c)
	browse(t, strings.Replace(l.Address, "localhost%3A", "127.0.0.1%3A", 1))
	got, err := l.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Access, "canary-key-") || !got.Lasting || got.Account != "user_1" {
		t.Errorf("got %q", got.Access)
	}
}

func TestWhatIsNotThisLoginChangesNothing(t *testing.T) {
	t.Parallel()
	_, c, _ := service(t)
	l := begin(t, c)
	u, err := url.Parse(l.Address)
	if err != nil {
		t.Fatal(err)
	}
	redirect := u.Query().Get("redirect_uri")
	for name, address := range map[string]string{
		"no state":        redirect + "?code=evil",
		"a wrong state":   redirect + "?code=evil&state=guess",
		"a foreign error": redirect + "?error=access_denied&state=guess",
		"another path":    strings.Replace(redirect, "/callback", "/other", 1) + "?code=evil",
	} {
		if status, _ := browse(t, address); status == http.StatusOK {
			t.Errorf("%s was taken", name)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, redirect+"?code=evil&state="+u.Query().Get("state"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example:80" // a name that was made to point here
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		t.Error("a foreign host name was taken")
	}
	browse(t, l.Address)
	if _, err := l.Wait(t.Context()); err != nil {
		t.Errorf("the real answer was lost: %v", err)
	}
}

func TestBrowserSaysNo(t *testing.T) {
	t.Parallel()
	_, c, _ := service(t)
	c.Scopes = []string{"deny"}
	l := begin(t, c)
	browse(t, l.Address)
	if _, err := l.Wait(t.Context()); !errors.Is(err, oauth.ErrDenied) {
		t.Errorf("got %v", err)
	}
}

// TestPaste is the way where the browser runs elsewhere.
func TestPaste(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		paste func(code, state string) string
		fault string
	}{
		{"address", func(code, state string) string { return "http://127.0.0.1:1/callback?code=" + code + "&state=" + state }, ""},
		{"query", func(code, state string) string { return " ?code=" + code + "&state=" + state + "\n" }, ""},
		{"code and state", func(code, state string) string { return code + "#" + state }, ""},
		{"code", func(code, _ string) string { return code }, ""},
		{"foreign address", func(code, _ string) string { return "http://127.0.0.1:1/callback?code=" + code + "&state=x" }, "another login"},
		{"foreign state", func(code, _ string) string { return code + "#x" }, "another login"},
		{"address without code", func(_, state string) string { return "http://127.0.0.1:1/callback?state=" + state }, "contains no code"},
		{"nothing", func(string, string) string { return " \n" }, "nothing was pasted"},
		{"a sentence", func(string, string) string { return "it does not work" }, "this is not a code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, c, _ := service(t)
			l := begin(t, c)
			stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			resp, err := stay.Get(l.Address)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			back, err := resp.Location()
			if err != nil {
				t.Fatal(err)
			}
			err = l.Offer(tt.paste(back.Query().Get("code"), back.Query().Get("state")))
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("got %v, want %q", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestATakenPortLeavesPasting(t *testing.T) {
	t.Parallel()
	s, c, _ := service(t)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c.Redirect = "http://localhost:" + u.Port() + "/auth/callback"
	l := begin(t, c)
	if l.Listening || !strings.Contains(l.Address, url.QueryEscape(c.Redirect)) {
		t.Errorf("heard %v, %s", l.Listening, l.Address)
	}
}

func TestDevice(t *testing.T) {
	t.Parallel()
	s := time.Second
	tests := []struct {
		name    string
		answers []string
		waits   []time.Duration
		want    error
	}{
		{"at once", nil, []time.Duration{5 * s}, nil},
		{"pending", []string{"authorization_pending", "authorization_pending"}, []time.Duration{5 * s, 5 * s, 5 * s}, nil},
		{"slow down, and stay slow", []string{"slow_down", "authorization_pending", "slow_down"}, []time.Duration{5 * s, 10 * s, 10 * s, 15 * s}, nil},
		{"the service stumbles", []string{"500", "500"}, []time.Duration{5 * s, 10 * s, 20 * s}, nil},
		{"denied", []string{"authorization_pending", "access_denied"}, []time.Duration{5 * s, 5 * s}, oauth.ErrDenied},
		{"expired", []string{"expired_token"}, []time.Duration{5 * s}, oauth.ErrExpired},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, c, clock := service(t)
			d, err := c.Device(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d.UserCode != "WDJB-MJHT" || d.Address != srv.URL+"/activate" || !d.Expires.Equal(clock.at.Add(10*time.Minute)) {
				t.Errorf("got %+v", d)
			}
			srv.Device(tt.answers...)
			token, err := c.Poll(t.Context(), d)
			if !errors.Is(err, tt.want) || err == nil != srv.Valid(token.Access) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(clock.waits, tt.waits); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeviceExpiresByTheClock(t *testing.T) {
	t.Parallel()
	srv, c, _ := service(t)
	d, err := c.Device(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	srv.Device(slow(1000)...)
	if _, err := c.Poll(t.Context(), d); !errors.Is(err, oauth.ErrExpired) {
		t.Errorf("got %v", err)
	}
	if n := srv.Counts().Polls; n > 120 {
		t.Errorf("%d polls in ten minutes", n)
	}
}

func slow(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "authorization_pending"
	}
	return out
}

func TestRefreshRotates(t *testing.T) {
	t.Parallel()
	s, c, _ := service(t)
	_, first := s.Issue()
	second, err := c.Refresh(t.Context(), first)
	if err != nil || second.Refresh == "" || second.Refresh == first {
		t.Fatalf("%v, rotated %v", err, second.Refresh != first)
	}
	if _, err := c.Refresh(t.Context(), first); !errors.Is(err, oauth.ErrRevoked) {
		t.Errorf("a spent token: %v", err)
	}
	if _, err := c.Refresh(t.Context(), ""); !errors.Is(err, oauth.ErrRevoked) {
		t.Errorf("no token: %v", err)
	}
}

// TestOddAnswers is what services send that the standards do not say.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		status  int
		body    string
		says    string // of the error; empty: a token comes
		revoked bool
	}{
		{"expiry as text", 200, `{"access_token":"t","expires_in":"60"}`, "", false},
		{"expiry as nonsense", 200, `{"access_token":"t","expires_in":"soon"}`, "", false},
		{"endless", 200, `{"access_token":"t","expires_in":1e300}`, "", false},
		{"an error with status 200", 200, `{"error":"invalid_grant","error_description":"revoked"}`, "revoked (invalid_grant)", true},
		{"a nested error", 401, `{"error":{"code":"refresh_token_reused","message":"used before"}}`, "used before (refresh_token_reused)", true},
		{"a page", 502, `<html>Bad Gateway</html>`, "answered with status 502", false},
		{"a page with status 200", 200, `<html>`, "did not return JSON", false},
		{"nothing in it", 200, `{}`, "sent no access token", false},
		{"a redirect", 302, ``, "answered with status 302 and redirects to 127.0.0.1:", false},
		{"our own secret is returned", 400, `{"error":"invalid_request","error_description":"bad token canary-refresh\u202e\u0007 here"}`, "bad token *** here (invalid_request)", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			}))
			defer srv.Close()
			token, err := oauth.Config{ClientID: "c", TokenURL: srv.URL}.Refresh(t.Context(), "canary-refresh")
			if tt.says == "" {
				if err != nil || token.Access != "t" {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, oauth.ErrRevoked) != tt.revoked {
				t.Errorf("got %v, want %q, revoked %v", err, tt.says, tt.revoked)
			}
		})
	}
}

func TestSecretsNeedTLS(t *testing.T) {
	t.Parallel()
	c := oauth.Config{ClientID: "c", TokenURL: "http://login.example.org/token", AuthURL: "http://login.example.org/auth"}
	if _, err := c.Refresh(t.Context(), "r"); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Begin(); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("got %v", err)
	}
}

// TestNothingPrintsAToken looks for canaries in every way to show a value.
func TestNothingPrintsAToken(t *testing.T) {
	t.Parallel()
	s, c, _ := service(t)
	access, refresh := s.Issue()
	token := oauth.Token{Access: access, Refresh: refresh, ID: "canary-id", Expires: time.Unix(1, 0)}
	held := struct{ T oauth.Token }{token}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", token, "held", held)
	js, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	s.Revoke()
	_, revoked := c.Refresh(t.Context(), refresh)
	all := fmt.Sprintf("%v %+v %#v %s %q %d %x %v %+v ", token, token, token, token, token, token, token, held, &held) + log.String() + string(js) + revoked.Error()
	if strings.Contains(all, "canary") || strings.Contains(all, fmt.Sprintf("%x", "canary")) {
		t.Error(all)
	}
}

func FuzzPaste(f *testing.F) {
	f.Add("http://127.0.0.1/callback?code=a&state=b")
	f.Add("a#b")
	f.Add("%zz?code=\x00")
	l, err := oauth.Config{AuthURL: "http://127.0.0.1/", ClientID: "c", Redirect: "https://service.example/code"}.Begin()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := l.Offer(text); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// answering is a network that answers everything with one body.
type answering []byte

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a))}, nil
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"access_token":"a","expires_in":"1","id_token":"a.e30.c"}`))
	f.Add([]byte(`{"error":{"code":[]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c := oauth.Config{ClientID: "c", TokenURL: "https://x.example/t", Client: &http.Client{Transport: answering(body)}}
		token, err := c.Refresh(t.Context(), "canary-refresh-0001")
		if (err == nil) == (token.Access == "") {
			t.Errorf("%q: %v", body, err)
		}
		if err != nil && (len(err.Error()) > 1000 || strings.Contains(err.Error(), "canary-refresh-0001")) {
			t.Errorf("%q: %v", body, err)
		}
	})
}
