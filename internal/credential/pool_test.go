package credential_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/credential"
)

// world is a home with a clock.
type world struct {
	path string
	now  time.Time
	warn []string
	mu   sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{path: filepath.Join(t.TempDir(), "home", "auth.json"), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
}

func (w *world) config() credential.Config {
	return credential.Config{
		Path: w.path, Now: func() time.Time { return w.now }, Rand: func() float64 { return 0.99 },
		Warn: func(text string, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.warn = append(w.warn, fmt.Sprint(text, ": ", err))
		},
	}
}

// open is one process.
func (w *world) open(strategy string) *credential.Store {
	c := w.config()
	c.Strategies = map[string]string{"router": strategy}
	return credential.Open(c)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill makes a pool with a key for each letter, such as "canary-a".
func fill(t *testing.T, s *credential.Store, letters string) *credential.Pool {
	t.Helper()
	p := s.Pool("router", nil)
	for _, l := range letters {
		_, err := p.Add(t.Context(), credential.New{Label: string(l), Secret: hermes.Secret("canary-" + string(l))})
		must(t, err)
	}
	return p
}

func next(t *testing.T, p *credential.Pool, session string) hermes.Key {
	t.Helper()
	k, err := p.Next(t.Context(), session)
	must(t, err)
	return k
}

// lent spells what n calls get.
func lent(t *testing.T, p *credential.Pool, session string, n int) string {
	t.Helper()
	var b strings.Builder
	for range n {
		b.WriteString(strings.TrimPrefix(next(t, p, session).Secret.Reveal(), "canary-"))
	}
	return b.String()
}

func failure(class hermes.Class, after time.Duration) *hermes.ModelError {
	return &hermes.ModelError{Class: class, Rotate: true, RetryAfter: after, Message: "canary-in-the-message"}
}

func TestStrategies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		strategy string
		want     string // of calls without a session
	}{
		{"", "aaaaaa"}, {credential.FillFirst, "aaaaaa"}, {"unheard_of", "aaaaaa"},
		{credential.RoundRobin, "abcabc"}, {credential.LeastUsed, "abcabc"}, {credential.Random, "cccccc"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		if got := lent(t, fill(t, w.open(tt.strategy), "abc"), "", 6); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.strategy, got, tt.want)
		}
	}
}

func TestRoundRobinPassesOverWhatRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := fill(t, w.open(credential.RoundRobin), "abc")
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassRateLimit, 0))
	if got := lent(t, p, "", 4); got != "bcbc" {
		t.Errorf("got %s", got)
	}
}

// TestSessionsKeepTheirKey keeps the service's cache warm.
func TestSessionsKeepTheirKey(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{credential.RoundRobin, credential.LeastUsed} {
		w := newWorld(t)
		p := fill(t, w.open(strategy), "abc")
		var got []string
		for range 3 {
			got = append(got, lent(t, p, "one", 1)+lent(t, p, "two", 1)+lent(t, p, "three", 1))
		}
		if diff := cmp.Diff(got, []string{"abc", "abc", "abc"}); diff != "" {
			t.Errorf("%s: %s", strategy, diff)
		}
		p.Report(t.Context(), next(t, p, "one"), failure(hermes.ClassRateLimit, 0))
		if moved := lent(t, p, "one", 2); strings.Contains(moved, "a") || moved[0] != moved[1] {
			t.Errorf("%s: after a limit %s", strategy, moved)
		}
		w.now = w.now.Add(2 * time.Hour) // the cache is cold: the choice is free again
		first := lent(t, p, "two", 1)
		if second := lent(t, p, "four", 1); first == second {
			t.Errorf("%s: two new sessions share %s", strategy, first)
		}
	}
}

func TestHowLongAKeyRests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		err     *hermes.ModelError
		rest    time.Duration // 0: not at all
		revoked bool
		again   bool
	}{
		{"success", nil, 0, false, false},
		{"401", failure(hermes.ClassAuth, 0), 5 * time.Minute, false, true},
		{"429", failure(hermes.ClassRateLimit, 0), time.Hour, false, true},
		{"402", failure(hermes.ClassBilling, 0), 24 * time.Hour, false, true},
		{"not this model", failure(hermes.ClassModelNotFound, 0), time.Minute, false, true},
		{"the service's own time, shorter", failure(hermes.ClassRateLimit, 90*time.Second), 90 * time.Second, false, true},
		{"the service's own time, longer", failure(hermes.ClassBilling, 72*time.Hour), 72 * time.Hour, false, true},
		{"revoked", failure(hermes.ClassAuthPermanent, 0), 0, true, true},
		{"what no key helps", &hermes.ModelError{Class: hermes.ClassRateLimit}, 0, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := fill(t, w.open(""), "ab")
			if again := p.Report(t.Context(), next(t, p, ""), tt.err); again != tt.again {
				t.Errorf("again %v", again)
			}
			other := w.open("").Pool("router", nil) // another process sees the same
			for _, view := range []*credential.Pool{p, other} {
				if tt.rest == 0 {
					want := "a"
					if tt.revoked {
						want = "b"
					}
					if got := lent(t, view, "", 1); got != want {
						t.Errorf("got %s", got)
					}
					continue
				}
				at := w.now
				if got := lent(t, view, "", 1); got != "b" {
					t.Errorf("during the rest: %s", got)
				}
				w.now = at.Add(tt.rest - time.Second)
				if got := lent(t, view, "", 1); got != "b" {
					t.Errorf("just before its end: %s", got)
				}
				w.now = at.Add(tt.rest + time.Second)
				if got := lent(t, view, "", 1); got != "a" {
					t.Errorf("after it: %s", got)
				}
				w.now = at
			}
		})
	}
}

// TestAPoolHelpsOnlyWithAnotherCredential is what decides whether to rotate.
func TestAPoolHelpsOnlyWithAnotherCredential(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := fill(t, w.open(""), "ab")
	a := next(t, p, "")
	if !p.Spare(a) {
		t.Error("b is spare")
	}
	if !p.Report(t.Context(), a, failure(hermes.ClassRateLimit, 0)) {
		t.Error("b would help")
	}
	b := next(t, p, "")
	if p.Spare(b) {
		t.Error("a rests")
	}
	if p.Report(t.Context(), b, failure(hermes.ClassRateLimit, 0)) {
		t.Error("nothing is left")
	}
}

// TestAGuessLocksNobodyOut: what rests by our own guess is asked where nothing
// else is left; what the service named a time for is not.
func TestAGuessLocksNobodyOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := fill(t, w.open(""), "ab")
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassBilling, 0))
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassRateLimit, 0))
	k := next(t, p, "")
	if k.Label != "b" {
		t.Errorf("b is back first, got %s", k.Label)
	}
	p.Report(t.Context(), k, nil)
	if got := lent(t, p, "", 1); got != "b" {
		t.Errorf("after a success: %s", got)
	}
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassRateLimit, 50*time.Second))
	if got := lent(t, p, "", 1); got != "b" {
		t.Errorf("what is over soon: %s", got)
	}
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassRateLimit, 30*time.Minute))
	p.Report(t.Context(), hermes.Key{ID: id(t, p, "a"), Secret: "canary-a"}, failure(hermes.ClassRateLimit, time.Hour))
	_, err := p.Next(t.Context(), "")
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok || e.Class != hermes.ClassRateLimit || e.RetryAfter != 30*time.Minute || !e.Fallback || !strings.Contains(e.Message, "all 2 credentials are paused until") {
		t.Errorf("got %+v", err)
	}
}

func id(t *testing.T, p *credential.Pool, label string) string {
	t.Helper()
	all, err := p.Entries()
	must(t, err)
	for _, e := range all {
		if e.Label == label {
			return e.ID
		}
	}
	t.Fatalf("no %s", label)
	return ""
}

func TestAClockThatJumpsLocksNobodyOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := fill(t, w.open(""), "ab")
	w.now = w.now.AddDate(30, 0, 0)
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassRateLimit, time.Hour))
	w.now = w.now.AddDate(-30, 0, 0)
	if got := lent(t, p, "", 1); got != "a" {
		t.Errorf("got %s", got)
	}
}

func env(pairs ...string) []hermes.Key {
	var keys []hermes.Key
	for i := 0; i < len(pairs); i += 2 {
		keys = append(keys, hermes.Key{Source: "env:" + pairs[i], Secret: hermes.Secret(pairs[i+1])})
	}
	return keys
}

func labels(t *testing.T, p *credential.Pool) string {
	t.Helper()
	all, err := p.Entries()
	must(t, err)
	var out []string
	for _, e := range all {
		word := e.Label
		if e.Revoked || e.Resting {
			word += "!"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestKeysOfTheEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("")
	fill(t, s, "a")
	p := s.Pool("router", env("ONE_KEY", "canary-one", "TWO_KEY", "canary-two"))
	if got := labels(t, p); got != "a ONE_KEY TWO_KEY" {
		t.Errorf("seeded: %s", got)
	}
	_, err := p.Prefer(t.Context(), "one_key", -1)
	must(t, err)
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassRateLimit, 0))
	if got := labels(t, p); got != "ONE_KEY! a TWO_KEY" {
		t.Errorf("with a priority and at rest: %s", got)
	}
	raw, err := os.ReadFile(w.path)
	must(t, err)
	if strings.Contains(string(raw), "canary-one") || !strings.Contains(string(raw), "env:ONE_KEY") || !strings.Contains(string(raw), "sha256:") {
		t.Errorf("a reference and a fingerprint, never the key: %s", raw)
	}
	if got := labels(t, s.Pool("router", env("ONE_KEY", "canary-other"))); got != "ONE_KEY a" {
		t.Errorf("another key starts fresh: %s", got)
	}
	gone := w.open("").Pool("router", nil)
	if got := labels(t, gone); got != "a" {
		t.Errorf("vanished: %s", got)
	}
	gone.Report(t.Context(), next(t, gone, ""), failure(hermes.ClassAuth, 0))
	raw, err = os.ReadFile(w.path)
	must(t, err)
	if strings.Contains(string(raw), "ONE_KEY") {
		t.Errorf("the file still knows it: %s", raw)
	}
}

// TestOneKeyOfTheEnvironmentWritesNothing: who set a variable has no file of ours.
func TestOneKeyOfTheEnvironmentWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.open("").Pool("router", env("ONE_KEY", "canary-one"))
	k := next(t, p, "s")
	if p.Report(t.Context(), k, failure(hermes.ClassRateLimit, 0)) {
		t.Error("there is no other key")
	}
	if got := next(t, p, "s"); got.Secret != "canary-one" || got.Source != "env:ONE_KEY" {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(w.path); err == nil {
		t.Error("a file was made")
	}
}

func TestTheSameKeySharesItsState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("")
	fill(t, s, "ab")
	p := s.Pool("router", env("ONE_KEY", "canary-a"))
	_, err := p.Prefer(t.Context(), "b", 9)
	must(t, err)
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassAuth, 0))
	if got := labels(t, p); got != "a! ONE_KEY! b" {
		t.Errorf("got %s", got)
	}
}

func TestAnAddressWithoutANameHasNoPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("")
	fill(t, s, "a")
	p := s.Pool("", env("OPENAI_API_KEY", "canary-o"))
	if k := next(t, p, ""); k.Secret != "canary-o" {
		t.Error("a key of another")
	}
	if s.Pool("", nil).Any() {
		t.Error("a key from nowhere")
	}
	if _, err := p.Add(t.Context(), credential.New{Secret: "canary-x"}); err == nil {
		t.Error("added")
	}
}

func TestCountsSurviveRestarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(credential.LeastUsed)
	p := fill(t, s, "ab")
	lent(t, p, "", 3) // a b a
	must(t, s.Close(t.Context()))
	if got := lent(t, w.open(credential.LeastUsed).Pool("router", nil), "", 1); got != "b" {
		t.Errorf("got %s", got)
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := fill(t, w.open(credential.LeastUsed), "abc")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				k, err := p.Next(context.Background(), fmt.Sprint(i))
				if err != nil {
					t.Error(err)
					return
				}
				if n%20 == 7 {
					p.Report(context.Background(), k, failure(hermes.ClassRateLimit, 0))
				} else {
					p.Report(context.Background(), k, nil)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkNext(b *testing.B) {
	dir := b.TempDir()
	s := credential.Open(credential.Config{Path: filepath.Join(dir, "auth.json")})
	p := s.Pool("router", env("ONE_KEY", "canary-one"))
	for _, l := range "abc" {
		if _, err := p.Add(b.Context(), credential.New{Label: string(l), Secret: hermes.Secret("canary-" + string(l))}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		k, err := p.Next(b.Context(), "s")
		if err != nil {
			b.Fatal(err)
		}
		p.Report(b.Context(), k, nil)
	}
}
