package credential_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/credential"
	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
)

// service is a login service with a store that knows it.
func service(t *testing.T, w *world) (*oauthserver.Server, func() *credential.Store) {
	t.Helper()
	srv := oauthserver.New()
	t.Cleanup(srv.Close)
	return srv, func() *credential.Store { return credential.Open(w.logging(srv.URL)) }
}

func (w *world) logging(url string) credential.Config {
	c := w.config()
	c.Login = func(string) (oauth.Config, bool) {
		return oauth.Config{ClientID: "c", TokenURL: url + "/token", Now: c.Now}, true
	}
	return c
}

// login puts a login into the pool whose token has this long to live.
func login(t *testing.T, w *world, s *credential.Store, srv *oauthserver.Server, life time.Duration, account string) *credential.Pool {
	t.Helper()
	access, refresh := srv.Issue()
	p := s.Pool("acme", nil)
	_, err := p.Add(t.Context(), credential.New{Token: &oauth.Token{Access: access, Refresh: refresh, Expires: w.now.Add(life), Account: account}})
	must(t, err)
	return p
}

func TestALoginIsRenewedBeforeItRunsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	p := login(t, w, open(), srv, time.Hour, "")
	first := next(t, p, "")
	w.now = w.now.Add(57 * time.Minute)
	if got := next(t, p, ""); got.Secret != first.Secret || srv.Counts().Refreshes != 0 {
		t.Errorf("renewed too early")
	}
	w.now = w.now.Add(2 * time.Minute)
	second := next(t, p, "")
	if second.Secret == first.Secret || !srv.Valid(second.Secret.Reveal()) || second.ID != first.ID {
		t.Errorf("not renewed")
	}
	if raw, err := os.ReadFile(w.path); err != nil || !strings.Contains(string(raw), second.Secret.Reveal()) {
		t.Errorf("not written: %v", err)
	}
	w.now = w.now.Add(time.Hour)
	if third := next(t, p, ""); !srv.Valid(third.Secret.Reveal()) {
		t.Error("the rotated refresh token was lost")
	}
}

func TestARefusedTokenIsRenewedThenTheKeyRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	p := login(t, w, open(), srv, time.Hour, "")
	w.now = w.now.Add(10 * time.Minute)
	first := next(t, p, "")
	if !p.Report(t.Context(), first, failure(hermes.ClassAuth, 0)) {
		t.Error("renewing may help")
	}
	second := next(t, p, "")
	if second.Secret == first.Secret || srv.Counts().Refreshes != 1 {
		t.Errorf("not renewed")
	}
	if !p.Report(t.Context(), first, failure(hermes.ClassAuth, 0)) {
		t.Error("a late report on the old token harms the new one")
	}
	if p.Report(t.Context(), second, failure(hermes.ClassAuth, 0)) {
		t.Error("a fresh token that is refused is not renewed again")
	}
	if got := labels(t, p); got != "login 1!" || srv.Counts().Refreshes != 1 {
		t.Errorf("got %s, %d refreshes", got, srv.Counts().Refreshes)
	}
}

func TestARevokedLoginIsUnusable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	p := login(t, w, open(), srv, time.Minute, "")
	srv.Revoke()
	for range 3 {
		_, err := p.Next(t.Context(), "")
		e, ok := errors.AsType[*hermes.ModelError](err)
		if !ok || e.Class != hermes.ClassAuthPermanent || !e.Fallback || !strings.Contains(e.Message, "hermes auth add acme") {
			t.Fatalf("got %v", err)
		}
	}
	if n := srv.Counts().Refreshes; n != 1 {
		t.Errorf("asked %d times", n)
	}
	if got := labels(t, open().Pool("acme", nil)); got != "login 1!" {
		t.Errorf("another process: %s", got)
	}
	k := next(t, open().Pool("acme", env("ACME_KEY", "canary-k")), "")
	if k.Label != "ACME_KEY" {
		t.Errorf("a key beside it: %s", k.Label)
	}
}

// TestAServiceThatIsDown keeps a token in use that is still good.
func TestAServiceThatIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	p := login(t, w, open(), srv, time.Minute, "")
	srv.Close()
	if k := next(t, p, ""); !strings.HasPrefix(k.Secret.Reveal(), "canary-access") {
		t.Error("it is good for a minute")
	}
	w.now = w.now.Add(time.Hour)
	if _, err := p.Next(t.Context(), ""); err == nil {
		t.Error("it has run out")
	}
	if got := labels(t, p); got != "login 1" {
		t.Errorf("a service that is down kills no login: %s", got)
	}
}

func TestQuotasAreOfAnAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	s := open()
	login(t, w, s, srv, time.Hour, "ann")
	p := login(t, w, s, srv, time.Hour, "bob")
	_, err := p.Add(t.Context(), credential.New{Label: "key of ann", Token: &oauth.Token{Access: "canary-ann", Account: "ann", Lasting: true}})
	must(t, err)
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassRateLimit, 0))
	if got := labels(t, p); got != "login 1! login 2 key of ann!" {
		t.Errorf("got %s", got)
	}
	login(t, w, s, srv, time.Hour, "ann")
	if got := labels(t, p); got != "login 1 login 2 key of ann!" {
		t.Errorf("a new login takes the place of the old: %s", got)
	}
}

// TestOneRefreshAmongManyPools has several views of one file in this process.
func TestOneRefreshAmongManyPools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	login(t, w, open(), srv, time.Minute, "")
	var wg sync.WaitGroup
	for range 4 {
		p := open().Pool("acme", nil)
		for range 3 {
			wg.Go(func() {
				k, err := p.Next(context.Background(), "")
				if err != nil || !srv.Valid(k.Secret.Reveal()) {
					t.Errorf("got %v, %v", k, err)
				}
			})
		}
	}
	wg.Wait()
	if c := srv.Counts(); c.Refreshes != 1 || c.Replays != 0 {
		t.Errorf("got %+v", c)
	}
}

// asProcess makes this test binary a second process.
const asProcess = "HERMES_TEST_CREDENTIAL_PROCESS"

func TestMain(m *testing.M) {
	if url, path, ok := strings.Cut(os.Getenv(asProcess), " "); ok {
		os.Exit(second(url, path))
	}
	os.Exit(m.Run())
}

// second waits for the start and borrows a login.
func second(url, path string) int {
	resp, err := http.Get(os.Getenv(asProcess + "_START"))
	if err == nil {
		resp.Body.Close()
	}
	w := &world{path: path, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	k, err := credential.Open(w.logging(url)).Pool("acme", nil).Next(context.Background(), "")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Print(k.Secret.Reveal())
	return 0
}

// TestOneRefreshAmongProcesses starts real processes at once; the service takes
// a second use of a refresh token for theft.
func TestOneRefreshAmongProcesses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	w := newWorld(t)
	srv, open := service(t, w)
	login(t, w, open(), srv, time.Minute, "")
	const n = 4
	start := make(chan struct{})
	var ready atomic.Int32
	gate := newGate(t, func() {
		if ready.Add(1) == n {
			close(start)
		}
		<-start
	})
	var wg sync.WaitGroup
	got := make([]string, n)
	for i := range n {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), asProcess+"="+srv.URL+" "+w.path, asProcess+"_START="+gate)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
			got[i] = string(out)
		})
	}
	wg.Wait()
	for _, token := range got {
		if token != got[0] || !srv.Valid(token) {
			t.Errorf("got %q", got)
			break
		}
	}
	if c := srv.Counts(); c.Refreshes != 1 || c.Replays != 0 {
		t.Errorf("got %+v", c)
	}
}

// TestAnInterruptLosesNoToken breaks the turn off while the service answers.
func TestAnInterruptLosesNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	p := login(t, w, open(), srv, time.Minute, "")
	ctx, cancel := context.WithCancel(t.Context())
	srv.Hold = cancel
	_, _ = p.Next(ctx, "") // how it ends does not matter
	srv.Hold = nil
	if k := next(t, open().Pool("acme", nil), ""); !srv.Valid(k.Secret.Reveal()) || srv.Counts().Refreshes != 1 {
		t.Errorf("the new token was lost")
	}
}

// TestATokenIsWrittenBeforeItIsUsed takes the folder away while the service
// answers.
func TestATokenIsWrittenBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	s := open()
	p := login(t, w, s, srv, time.Second, "")
	w.now = w.now.Add(time.Minute)
	good, err := os.ReadFile(w.path)
	must(t, err)
	srv.Hold = func() { must(t, os.WriteFile(w.path, []byte("{ damaged"), 0o600)) }
	if k, err := p.Next(t.Context(), ""); err == nil {
		t.Errorf("lent %v, which is written nowhere", k)
	}
	must(t, os.WriteFile(w.path, good, 0o600))
	srv.Hold = nil
	k := next(t, p, "")
	if !srv.Valid(k.Secret.Reveal()) || srv.Counts().Refreshes != 1 {
		t.Errorf("the token that could not be written was lost: %+v", srv.Counts())
	}
	if raw, err := os.ReadFile(w.path); err != nil || !strings.Contains(string(raw), k.Secret.Reveal()) {
		t.Errorf("not written: %v", err)
	}
}

func TestRenewAndLogout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	p := login(t, w, open(), srv, time.Hour, "")
	_, err := p.Add(t.Context(), credential.New{Secret: "canary-key"})
	must(t, err)
	if _, err := p.Renew(t.Context(), "1"); err != nil || srv.Counts().Refreshes != 1 {
		t.Errorf("renewed: %v", err)
	}
	if _, err := p.Renew(t.Context(), "key 1"); err == nil {
		t.Error("keys are not renewed")
	}
	gone, err := p.Logout(t.Context())
	if err != nil || len(gone) != 1 || labels(t, p) != "key 1" {
		t.Errorf("got %v, %v", gone, err)
	}
}

// TestNothingShowsASecret looks for canaries in everything that can be printed.
func TestNothingShowsASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv, open := service(t, w)
	s := open()
	login(t, w, s, srv, time.Minute, "")
	p := s.Pool("acme", env("ACME_KEY", "canary-env"))
	_, err := p.Add(t.Context(), credential.New{Secret: "canary-manual"})
	must(t, err)
	_, twice := p.Add(t.Context(), credential.New{Secret: "canary-manual"})
	_, blank := p.Add(t.Context(), credential.New{Secret: "canary manual"})
	srv.Revoke()
	k := next(t, p, "")
	p.Report(t.Context(), k, failure(hermes.ClassAuth, 0))
	all, err := p.Entries()
	must(t, err)
	js, err := json.Marshal([]any{all, k})
	must(t, err)
	_, kept := p.Remove(t.Context(), "ACME_KEY")
	must(t, os.WriteFile(w.path, []byte(`{"credential_pool": {"acme": [{"access_token": "canary-damaged" x`), 0o600))
	_, damaged := p.Entries()
	text := fmt.Sprintf("%v %+v %#v %v %+v %#v %s %v %v %v %v %v", all, all, all, k, k, k, js, twice, blank, kept, damaged, w.warn)
	for _, canary := range []string{"canary-access", "canary-refresh", "canary-env", "canary-manual", "canary manual", "canary-damaged", "canary-in-the-message"} {
		if strings.Contains(text, canary) {
			t.Errorf("%s in %s", canary, text)
		}
	}
	if !errors.Is(twice, credential.ErrThere) || !errors.Is(kept, credential.ErrKept) || blank == nil || damaged == nil {
		t.Errorf("got %v, %v, %v, %v", twice, kept, blank, damaged)
	}
}
