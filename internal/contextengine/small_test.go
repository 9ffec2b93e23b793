package contextengine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/contextengine"
)

// TestASmallWindowIsNotCompactedAtEveryStep has a window of 8,192 tokens, of which the
// prompt and the tools take a part. Each step adds a call with its result.
func TestASmallWindowIsNotCompactedAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fixed, step, most int }{
		{5200, 150, 8}, {6000, 150, 8}, {7000, 150, 8}, {7900, 150, 8}, {5200, 600, 24}, {1000, 150, 8},
	} {
		for name, summarize := range map[string]contextengine.Summarize{
			"good": sums("what was done"), "long": sums(long(3000)),
			"down": func(context.Context, int64, string, int) (string, error) { return "", errors.New("500") },
		} {
			e := contextengine.New(contextengine.Options{Summarize: summarize})
			tr := []hermes.Message{user("Build the parser, step by step.")}
			compacted, told := 0, 0
			for range 40 {
				tr = append(tr, act("read_file", `{"path":"a.go"}`, long(tt.step-20))...)
				f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Window: 8192, Used: tt.fixed + sized(tr), Counted: len(tr)})
				if err != nil {
					t.Fatal(err)
				}
				told += strings.Count(f.Note, "of the 8192 tokens")
				if f.From != nil {
					compacted++
					check(t, tr, f)
					tr = stored(t, f.Messages)
				}
			}
			if want := min(tt.fixed/5000, 1); told != want {
				t.Errorf("%s, %d fixed: told %d times, want %d", name, tt.fixed, told, want)
			}
			if compacted > tt.most {
				t.Errorf("%s, %d fixed, steps of %d: compacted %d times in 40 steps", name, tt.fixed, tt.step, compacted)
			}
			if left := sized(tr); tt.fixed == 5200 && name != "down" && tt.fixed+left > 8192 {
				t.Errorf("%s, %d fixed: %d tokens are left", name, tt.fixed, left)
			}
		}
	}
}

// TestATextOfManyTokensIsNotTakenForTheTools: the model's own count of a text may be
// three times the estimate.
func TestATextOfManyTokensIsNotTakenForTheTools(t *testing.T) {
	t.Parallel()
	e := contextengine.New(contextengine.Options{Summarize: sums("what was done")})
	var tr []hermes.Message
	compacted := 0
	for range 60 {
		tr = append(tr, user("Build the parser."), assistant(long(100)), user("And the tests."))
		tr = append(tr, act("read_file", `{"path":"a.go"}`, long(200))...)
		tr = append(tr, assistant("Done."))
		f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Window: 16_000, Used: 3000 + 3*sized(tr), Counted: len(tr)})
		if err != nil {
			t.Fatal(err)
		}
		if f.From != nil {
			compacted++
			tr = stored(t, f.Messages)
		}
		if strings.Contains(f.Note, "The prompt and the tools") {
			t.Fatal(f.Note)
		}
	}
	if compacted == 0 {
		t.Error("never compacted")
	}
}

// sized estimates the tokens of a transcript of long texts.
func sized(tr []hermes.Message) int {
	n := 0
	for _, m := range tr {
		n += 8 + len(m.Text())/4
	}
	return n
}
