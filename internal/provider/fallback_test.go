package provider_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/provider"
)

// asking streams one request of a turn and spells what came.
func asking(t *testing.T, m hermes.Model, turn int64) (lines []string, msg hermes.Message, err error) {
	t.Helper()
	said := hermes.UserText("hi")
	said.Turn = turn
	var a hermes.Assembly
	for d, err := range m.Stream(t.Context(), &hermes.Request{Session: "s", Messages: []hermes.Message{said}}) {
		if err != nil {
			return lines, a.Message(), err
		}
		switch {
		case d.Text != "":
			lines = append(lines, "text")
		case d.Reset != "":
			lines = append(lines, "reset")
		case d.Model != "":
			lines = append(lines, "model "+d.Model)
		case d.Notice != "":
			lines = append(lines, d.Notice)
		}
		a.Add(d)
	}
	return lines, a.Message(), nil
}

// chained is a catalogue with a first model and fallbacks, without
// retries, and its clock.
func chained(t *testing.T, first string, others ...string) (hermes.Model, *time.Time) {
	t.Helper()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cfg := provider.Config{
		Selection: provider.Selection{BaseURL: first, Model: "m", Key: "k"}, Patience: provider.Patience{Retries: -1},
		System: provider.System{Now: func() time.Time { return now }, Rand: func() float64 { return 0 }, Sleep: func(ctx context.Context, d time.Duration) error { now = now.Add(d); return context.Cause(ctx) }},
	}
	for i, base := range others {
		cfg.Fallback = append(cfg.Fallback, provider.Selection{Provider: "box" + string(rune('1'+i)), Model: "n", BaseURL: base, Key: "k"})
	}
	m, err := mustNew(t, cfg).Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return m, &now
}

func TestAnotherModelAnswersForTheTurn(t *testing.T) {
	t.Parallel()
	first, firstAsked := scripted(t, fails(500, ""), says("first"))
	second, secondAsked := scripted(t, says("second"), says("second again"))
	m, _ := chained(t, first.URL, second.URL)
	steps := []struct {
		turn int64
		want []string
		text string
	}{
		{1, []string{"custom:m: the service failed (status 500); using box1:n for this turn", "model box1:n", "text"}, "second"},
		{1, []string{"model box1:n", "text"}, "second again"}, // the same turn: the first one is not tried again
		{2, []string{"text"}, "first"}, // the next message: the first one is back
	}
	for _, s := range steps {
		lines, msg, err := asking(t, m, s.turn)
		if diff := cmp.Diff(lines, s.want); diff != "" || err != nil || msg.Text() != s.text {
			t.Errorf("turn %d: %q, %v\n%s", s.turn, msg.Text(), err, diff)
		}
	}
	if len(*firstAsked) != 2 || len(*secondAsked) != 2 {
		t.Errorf("asked %d and %d times", len(*firstAsked), len(*secondAsked))
	}
}

func TestAKnownResetIsWaitedFor(t *testing.T) {
	t.Parallel()
	first, _ := scripted(t, fails(429, "3600"), says("first"))
	second, _ := scripted(t, says("a"), says("b"))
	m, now := chained(t, first.URL, second.URL)
	want := []struct {
		turn  int64
		later time.Duration
		text  string
		line  string
	}{
		{1, 0, "a", "custom:m: too many requests (status 429), available again in 1h0m0s; using box1:n for this turn"},
		{2, 20 * time.Minute, "b", "custom:m is unavailable for another 40m0s; using box1:n"},
		{3, 41 * time.Minute, "first", "text"},
	}
	for _, w := range want {
		*now = now.Add(w.later)
		lines, msg, err := asking(t, m, w.turn)
		if err != nil || msg.Text() != w.text || lines[0] != w.line {
			t.Errorf("turn %d: %q %q, %v", w.turn, msg.Text(), lines, err)
		}
	}
}

// TestAClockPutBackDoesNotKeepAModelAtRest jumps a day.
func TestAClockPutBackDoesNotKeepAModelAtRest(t *testing.T) {
	t.Parallel()
	first, _ := scripted(t, fails(429, "3600"), says("first"))
	second, _ := scripted(t, says("a"))
	m, now := chained(t, first.URL, second.URL)
	if _, msg, err := asking(t, m, 1); err != nil || msg.Text() != "a" {
		t.Fatalf("%q, %v", msg.Text(), err)
	}
	*now = now.Add(-24 * time.Hour)
	if _, msg, err := asking(t, m, 2); err != nil || msg.Text() != "first" {
		t.Errorf("%q, %v", msg.Text(), err)
	}
}

func TestTheChainIsGoneThroughInOrder(t *testing.T) {
	t.Parallel()
	first, _ := scripted(t, breaks("half"))
	second, _ := scripted(t, fails(401, ""))
	third, _ := scripted(t, says("third"))
	m, _ := chained(t, first.URL, second.URL, third.URL)
	lines, msg, err := asking(t, m, 1)
	want := []string{
		"text", "reset", "custom:m: the answer was cut off; using box1:n for this turn", "model box1:n",
		"box1:n: no (status 401); using box2:n for this turn", "model box2:n", "text",
	}
	if diff := cmp.Diff(lines, want); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if msg.Text() != "third" || msg.Model != "box2:n" || msg.Usage.Calls != 2 || msg.Usage.Output != 3 {
		t.Errorf("%+v, usage %+v", msg, msg.Usage)
	}
}

func TestTheLastErrorNamesEveryFailure(t *testing.T) {
	t.Parallel()
	first, _ := scripted(t, fails(401, ""))
	second, _ := scripted(t, fails(500, ""))
	m, _ := chained(t, first.URL, second.URL, "://nonsense")
	_, _, err := asking(t, m, 1)
	if err == nil || hermes.ClassOf(err) != hermes.ClassAuth {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"none of 3 models answered", "\n- custom:m: no (status 401)", "\n- box1:n: the service failed (status 500)", "\n- box2:n: ", "is not a valid address", "fallback_providers"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in:\n%v", part, err)
		}
	}
}

func TestWhatAnotherModelCannotHelp(t *testing.T) {
	t.Parallel()
	for status, class := range map[int]hermes.Class{413: hermes.ClassPayloadTooLarge} {
		first, _ := scripted(t, fails(status, ""))
		second, asked := scripted(t)
		m, _ := chained(t, first.URL, second.URL)
		_, _, err := asking(t, m, 1)
		if e, ok := errors.AsType[*hermes.ModelError](err); !ok || e.Class != class || len(*asked) != 0 {
			t.Errorf("%d: error %v, the second was asked %d times", status, err, len(*asked))
		}
	}
	policy, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":{"message":"No endpoints found matching your data policy"}}`, 404)
	})
	second, asked := scripted(t)
	m, _ := chained(t, policy.URL, second.URL)
	if _, _, err := asking(t, m, 1); hermes.ClassOf(err) != hermes.ClassProviderPolicy || len(*asked) != 0 {
		t.Errorf("error %v, the second was asked %d times", err, len(*asked))
	}
}

// TestAllRest waits for the first available model, if that is soon.
func TestAllRest(t *testing.T) {
	t.Parallel()
	first, _ := scripted(t, fails(429, "300"), says("first"))
	second, _ := scripted(t, fails(429, "500"))
	m, _ := chained(t, first.URL, second.URL)
	lines, msg, err := asking(t, m, 1)
	if err != nil || msg.Text() != "first" || !strings.Contains(strings.Join(lines, "\n"), "no model is available now; trying again in 5m0s") {
		t.Errorf("%q %q, %v", lines, msg.Text(), err)
	}
	first, _ = scripted(t, fails(429, "7200"))
	second, _ = scripted(t, fails(429, "9000"))
	m, _ = chained(t, first.URL, second.URL)
	if _, _, err := asking(t, m, 1); err == nil || !strings.Contains(err.Error(), "available again in 2h0m0s") {
		t.Errorf("error %v", err)
	}
}

func TestFallbacksAreResolvedLikeReferences(t *testing.T) {
	t.Parallel()
	first, _ := scripted(t, fails(401, ""))
	box, asked := scripted(t, says("ok"))
	cfg := provider.Config{
		Selection: provider.Selection{BaseURL: first.URL, Model: "m"}, System: provider.System{Getenv: vars{"BOX": "from-box"}.get},
		Custom:   map[string]provider.Custom{"box": {BaseURL: box.URL, KeyEnv: "BOX"}},
		Fallback: []provider.Selection{{Provider: "anthropic", Model: "claude-x"}, {Provider: "nobody", Model: "x"}, {Provider: "custom:box", Model: "n"}},
	}
	m, err := mustNew(t, cfg).Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	lines, msg, err := asking(t, m, 1)
	if err != nil || msg.Text() != "ok" || !strings.Contains((*asked)[0], "Bearer from-box") {
		t.Errorf("%q, %v, %v", msg.Text(), err, *asked)
	}
	want := "custom:m: no (status 401); skipped anthropic:claude-x; skipped nobody:x; using custom:box:n for this turn"
	if len(lines) == 0 || lines[0] != want {
		t.Errorf("lines %q", lines)
	}
}
