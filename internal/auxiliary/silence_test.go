package auxiliary_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/internal/auxiliary"
)

// slow is a model that begins late and then sends a word every twenty seconds.
type slow struct {
	begins time.Duration
	words  int
	stops  bool // without an end
}

func (slow) ID() string { return "slow" }

func (m slow) Stream(ctx context.Context, _ *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		wait := m.begins
		for i := 0; i <= m.words; i++ {
			if i == m.words && m.stops {
				wait = time.Hour
			}
			select {
			case <-ctx.Done():
				yield(hermes.Delta{}, ctx.Err())
				return
			case <-time.After(wait):
			}
			if i < m.words && !yield(hermes.Delta{Text: "w"}, nil) {
				return
			}
			wait = 20 * time.Second
		}
	}
}

// TestASlowModelThatStillWritesIsNotCut compares a limit of silence with one of the
// whole attempt.
func TestASlowModelThatStillWritesIsNotCut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		model   slow
		silence bool
		local   bool
		set     bool // the limit was set by the user
		want    string
	}{
		"writes for long":              {slow{begins: time.Second, words: 12}, true, false, false, "wwwwwwwwwwww"},
		"the whole is limited":         {slow{begins: time.Second, words: 12}, false, false, false, "other"},
		"stops":                        {slow{begins: time.Second, words: 2, stops: true}, true, false, false, "other"},
		"begins late":                  {slow{begins: 5 * time.Minute, words: 2}, true, false, false, "other"},
		"an own server begins late":    {slow{begins: 5 * time.Minute, words: 2}, true, true, false, "ww"},
		"an own server with a limit":   {slow{begins: 5 * time.Minute, words: 2}, true, true, true, "other"},
		"an own server stops":          {slow{begins: 5 * time.Minute, words: 2, stops: true}, true, true, false, "other"},
		"an own server with one limit": {slow{begins: 5 * time.Minute, words: 2}, false, true, false, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := auxiliary.New(auxiliary.Config{
					Task: func(string) auxiliary.Task {
						return auxiliary.Task{Timeout: 30 * time.Second, Silence: tt.silence, Patient: !tt.set, Fallback: []auxiliary.Choice{{Model: "other"}}}
					},
					Reach: func(_ context.Context, c auxiliary.Choice) (hermes.Model, error) {
						if c.Model == "other" {
							return model{&world{says: map[string]string{"other": "other"}}, "other"}, nil
						}
						return tt.model, nil
					},
					Local: func(ref string) bool { return tt.local && ref == "slow" },
				})
				if got, err := c.Ask(t.Context(), auxiliary.Call{Task: "x", Main: "slow"}); got != tt.want {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
}
