package contextengine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/contextengine"
)

// TestAFixedNoteIsReported: if no summary could be made, the user learns how many
// messages a fixed note replaces.
func TestAFixedNoteIsReported(t *testing.T) {
	t.Parallel()
	down := func(context.Context, int64, string, int) (string, error) { return "", errors.New("down") }
	for name, c := range map[string]struct {
		summarize contextengine.Summarize
		usage     hermes.ContextUsage
		fits      int // the last of which changes the transcript
	}{
		"refused by the provider": {down, hermes.ContextUsage{Overflow: true}, 1},
		"the second failure":      {down, hermes.ContextUsage{}, 2},
		"without a model":         {nil, hermes.ContextUsage{Demand: true}, 1},
		"an empty summary":        {sums("  "), hermes.ContextUsage{Overflow: true}, 1},
	} {
		now := time.Unix(1000, 0)
		e := contextengine.New(contextengine.Options{Now: func() time.Time { return now }, Summarize: c.summarize})
		tr := talk(60, 2000)
		var f hermes.CompactResult
		for range c.fits {
			c.usage.Used, c.usage.Counted, c.usage.Window = 200_000, len(tr), 200_000
			var err error
			if f, err = e.Fit(t.Context(), tr, c.usage); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Hour)
		}
		if f.From == nil {
			t.Fatalf("%s: nothing was changed", name)
		}
		gone := len(tr) - len(f.Messages) + 1
		if want := fmt.Sprintf("a fixed note replaces %d messages", gone); !strings.Contains(f.Note, want) {
			t.Errorf("%s: %q, want %q", name, f.Note, want)
		}
	}
	tr := talk(60, 2000)
	f, err := contextengine.New(contextengine.Options{Summarize: sums("sum")}).Fit(t.Context(), tr, full(tr, 200_000))
	if err != nil || f.From == nil || strings.Contains(f.Note, "fixed note") {
		t.Errorf("a good summary: %q, %v", f.Note, err)
	}
}

// TestAFixedNoteReplacesNothingWithoutNeed: a note that is nearly as long as the
// messages does not replace them, unless the service refuses them.
func TestAFixedNoteReplacesNothingWithoutNeed(t *testing.T) {
	t.Parallel()
	down := func(context.Context, int64, string, int) (string, error) { return "", errors.New("down") }
	now := time.Unix(1000, 0)
	e := contextengine.New(contextengine.Options{Now: func() time.Time { return now }, Summarize: down})
	tr := append(talk(6, 100), user(long(20_000)), assistant("Yes."))
	var f hermes.CompactResult
	for pass := range 4 {
		var err error
		if f, err = e.Fit(t.Context(), tr, full(tr, 16_000)); err != nil {
			t.Fatal(err)
		}
		if f.From != nil {
			t.Fatalf("pass %d: %q", pass+1, f.Note)
		}
		now = now.Add(time.Hour)
	}
	p := full(tr, 16_000)
	p.Overflow = true
	if f, err := e.Fit(t.Context(), tr, p); err != nil || f.From == nil {
		t.Errorf("refused by the service: %q, %v", f.Note, err)
	}
}

// TestPoorPassesGiveAdviceOnce: when compaction pauses, the user learns what to do,
// and learns it once.
func TestPoorPassesGiveAdviceOnce(t *testing.T) {
	t.Parallel()
	e := contextengine.New(contextengine.Options{Summarize: sums(long(100_000))})
	tr := append(talk(3, 500), user(long(80_000)))
	var advised []int
	for pass := range 8 {
		p := full(tr, 200_000)
		p.Overflow = pass > 4 // compaction is forced again
		f, err := e.Fit(t.Context(), tr, p)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f.Note, "/new") && strings.Contains(f.Note, "/compress TOPIC") {
			advised = append(advised, pass)
		}
	}
	if len(advised) != 1 || advised[0] != 1 {
		t.Errorf("advice after the passes %v, want the second only", advised)
	}
}

func TestTheSummaryHasItsSections(t *testing.T) {
	t.Parallel()
	var prompt string
	e := contextengine.New(contextengine.Options{Summarize: func(_ context.Context, _ int64, p string, _ int) (string, error) { prompt = p; return "sum", nil }})
	tr := talk(60, 2000)
	p := full(tr, 200_000)
	p.Demand, p.Focus = true, "the lexer"
	if _, err := e.Fit(t.Context(), tr, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n## Active task\n", "\n## Resolved questions\n", "\n## Pending asks\n", "\n## Remaining work\n",
		"what relates to: the lexer\n", "60 to 70 % of the summary's length",
	} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	p.Focus = ""
	if _, err := e.Fit(t.Context(), tr, p); err != nil || strings.Contains(prompt, "60 to 70") {
		t.Errorf("a topic without being asked: %v", err)
	}
}
