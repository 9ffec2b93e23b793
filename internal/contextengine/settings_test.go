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

// shipped are the settings of a new installation.
func shipped() contextengine.Config {
	return contextengine.Config{Threshold: 0.50, TargetRatio: 0.20, LeanTail: true, ProtectLast: 20, ProtectFirst: 3}
}

// kept counts the messages at the end that a compaction did not summarize, and the
// tokens of those that came out unchanged.
func kept(old []hermes.Message, f hermes.CompactResult) (messages, tokens int) {
	for i := len(f.From) - 1; i >= 0 && f.From[i].Index == len(old)-(len(f.From)-i); i-- {
		messages++
		if f.From[i].Same {
			tokens += cost(f.Messages[i : i+1])
		}
	}
	return messages, tokens
}

// letters are messages of the same size from both sides, which only a summary can
// shorten.
func letters(n, size int) []hermes.Message {
	var tr []hermes.Message
	for i := range n {
		tr = append(tr, user(fmt.Sprintf("letter %d %s", i, long(size))), assistant(fmt.Sprintf("answer %d %s", i, long(size))))
	}
	return append(tr, user("the newest request"))
}

// filled is the usage of a transcript as a provider would count it.
func filled(tr []hermes.Message, window int) hermes.ContextUsage {
	return hermes.ContextUsage{Used: fixed + cost(tr), Counted: len(tr), Window: window}
}

// TestTheTailHasTheProtectedMessages: the newest messages stay as far as the soft
// ceiling of their budget allows (10,000 and 15,000 tokens here), and at least three
// whatever their size.
func TestTheTailHasTheProtectedMessages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size, protect int // tokens of a message, and messages to protect
		least, most   int // messages kept
	}{
		{100, 20, 90, 102}, // the budget alone holds more
		{700, 0, 13, 15},   // the budget alone
		{700, 18, 18, 18},  // more are protected, within the ceiling
		{700, 20, 20, 20},
		{700, 4000, 20, 22}, // the ceiling holds
		{2_000, 20, 7, 8},
		{2_000, 0, 5, 6},
		{9_000, 20, 3, 3}, // three messages are more than the ceiling
	} {
		cfg := shipped()
		cfg.ProtectLast = tt.protect
		tr := letters(200_000/2/tt.size, tt.size)
		f, err := contextengine.New(contextengine.Options{Summarize: sums("MIDDLE"), Config: cfg}).Fit(t.Context(), tr, filled(tr, 200_000))
		if err != nil || f.From == nil {
			t.Fatalf("messages of %d tokens: %v", tt.size, err)
		}
		check(t, tr, f)
		if n, _ := kept(tr, f); n < tt.least || n > tt.most {
			t.Errorf("messages of %d tokens, %d protected: %d are kept, want %d to %d", tt.size, tt.protect, n, tt.least, tt.most)
		}
	}
}

// TestProtectedMessagesKeepTheirPlaceWithoutTheirLongResults: a message that stays only
// because it is among the last loses its long results, so that more of them stay.
func TestProtectedMessagesKeepTheirPlaceWithoutTheirLongResults(t *testing.T) {
	t.Parallel()
	tr := letters(60, 900)
	for i := range 15 {
		tr = append(tr, assistant("ok"), user(fmt.Sprintf("read file %d", i)))
		tr = append(tr, act("read_file", fmt.Sprintf(`{"path":"f%d.go"}`, i), fmt.Sprintf("file %d %s", i, long(4_000)))...)
		tr = append(tr, assistant("It says: "+long(600)), user("go on"))
	}
	for protect, want := range map[int]int{0: 19, 30: 30} {
		cfg := shipped()
		cfg.ProtectLast = protect
		f, err := contextengine.New(contextengine.Options{Summarize: sums("MIDDLE"), Config: cfg}).Fit(t.Context(), tr, filled(tr, 200_000))
		if err != nil || f.From == nil {
			t.Fatalf("%d protected: %v", protect, err)
		}
		check(t, tr, f)
		all := text(f.Messages)
		if n, _ := kept(tr, f); n != want || !strings.Contains(all, "file 14 ") || strings.Contains(all, "file 12 ") || cost(f.Messages[len(f.Messages)-n:]) > 15_000 {
			t.Errorf("%d protected: %d messages are kept, want %d", protect, n, want)
		}
	}
}

// TestTailModes: lean keeps a fortieth of the window, between 10,000 and 25,000 tokens
// and at most a fifth of it; legacy keeps a share of the threshold.
func TestTailModes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lean         bool
		window, want int
	}{
		{true, 16_000, 3_200}, {true, 32_000, 6_400}, {true, 64_000, 10_000}, {true, 200_000, 10_000}, {true, 600_000, 15_000}, {true, 2_000_000, 25_000},
		{false, 16_000, 2_720}, {false, 200_000, 20_000}, {false, 1_000_000, 100_000},
	} {
		cfg := shipped()
		cfg.LeanTail, cfg.ProtectLast = tt.lean, 0
		tr := letters(tt.window/500, 250)
		f, err := contextengine.New(contextengine.Options{Summarize: sums("MIDDLE"), Config: cfg}).Fit(t.Context(), tr, filled(tr, tt.window))
		if err != nil || f.From == nil {
			t.Fatalf("window %d: %v", tt.window, err)
		}
		if _, n := kept(tr, f); n > tt.want || n < tt.want*8/10 {
			t.Errorf("lean %v, window %d: %d tokens are kept, want %d", tt.lean, tt.window, n, tt.want)
		}
	}
}

// TestCompactionReachesItsTarget lets a session grow over several compactions. Whatever
// is protected, each of them leaves room for work: less than seven tenths of the
// threshold, prompt and tools included.
func TestCompactionReachesItsTarget(t *testing.T) {
	t.Parallel()
	for _, window := range []int{16_000, 32_000, 128_000, 1_000_000} {
		for _, size := range []int{50, 500, 2_000, 10_000} {
			if size > window/10 || size < window/1000 {
				continue
			}
			for _, lean := range []bool{true, false} {
				t.Run(fmt.Sprintf("%d, results of %d, lean %v", window, size, lean), func(t *testing.T) {
					t.Parallel()
					cfg := shipped()
					cfg.LeanTail = lean
					grow(t, contextengine.New(contextengine.Options{Summarize: sums(long(800)), Config: cfg}), window, size)
				})
			}
		}
	}
}

func grow(t *testing.T, e *contextengine.Engine, window, size int) {
	t.Helper()
	tr := []hermes.Message{user("Port all of it."), assistant("I will.")}
	used, worst, messages, summaries := fixed, 0, 0, 0
	for i := 0; summaries < 3; i++ {
		more := []hermes.Message{user(fmt.Sprintf("request %d %s", i, long(size/10)))}
		more = append(more, act("terminal", `{"command":"make"}`, fmt.Sprintf("run %d %s", i, long(size)))...)
		more = append(more, assistant(fmt.Sprintf("answer %d %s", i, long(size/2))))
		tr, used = append(tr, more...), used+cost(more)
		f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Used: used, Counted: len(tr), Window: window})
		if err != nil {
			t.Fatal(err)
		}
		if f.From == nil {
			continue
		}
		used = fixed + cost(f.Messages)
		worst = max(worst, 100*used/e.Threshold("", window))
		if strings.Contains(f.Note, "compacted") {
			messages, _ = kept(tr, f)
			summaries++
		}
		tr = f.Messages
	}
	t.Logf("at most %d %% of the threshold is left; %d messages are kept", worst, messages)
	if worst > 70 || messages < 3 {
		t.Errorf("%d %% of the threshold is left, %d messages are kept", worst, messages)
	}
}

func TestThresholdsOfModels(t *testing.T) {
	t.Parallel()
	e := contextengine.New(contextengine.Options{Config: contextengine.Config{
		Threshold: 0.50, SmallWindow: 0.75,
		ModelThresholds: map[string]float64{"claude": 0.40, "claude-opus": 0.30, "openrouter:claude-opus": 0.60, "qwen3:8b": 0.70, "broken": 1.5, "": 0.10},
	}})
	for _, tt := range []struct {
		model        string
		window, want int
	}{
		{"anthropic:claude-sonnet-4-6", 1_000_000, 400_000},
		{"anthropic:Claude-Opus-4", 1_000_000, 300_000},
		{"openrouter:anthropic/claude-opus-4", 1_000_000, 600_000},
		{"openrouter:anthropic/claude-sonnet-4", 1_000_000, 400_000},
		{"ollama:qwen3:8b", 1_000_000, 700_000},
		{"custom:broken", 1_000_000, 500_000},
		{"", 1_000_000, 500_000},
		{"openai-api:gpt-5", 512_000, 256_000},       // not a small window
		{"openai-api:gpt-5", 400_000, 300_000},       // a small one
		{"anthropic:claude-opus-4", 200_000, 64_000}, // a model's own wins, and the minimum stays
		{"anthropic:claude-sonnet-4-6", 200_000, 80_000},
	} {
		if got := e.Threshold(tt.model, tt.window); got != tt.want {
			t.Errorf("%q with a window of %d: %d, want %d", tt.model, tt.window, got, tt.want)
		}
	}
}

// TestTheModelDecidesWhenToCompact: the threshold is that of the model of the request.
func TestTheModelDecidesWhenToCompact(t *testing.T) {
	t.Parallel()
	tr := talk(60, 2000)
	e := contextengine.New(contextengine.Options{Summarize: sums("MIDDLE"), Config: contextengine.Config{ModelThresholds: map[string]float64{"late": 0.80}}})
	for model, want := range map[string]bool{"custom:late": false, "custom:early": true} {
		f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Model: model, Used: 120_000, Counted: len(tr), Window: 200_000})
		if err != nil || (f.From != nil) != want {
			t.Errorf("%s: compacted %v, want %v (%v)", model, f.From != nil, want, err)
		}
	}
}

// TestPruningAhead: below the threshold, large old results are shortened without a
// model as soon as that frees enough.
func TestPruningAhead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cfg    contextengine.Config
		size   int
		used   int
		pruned bool
	}{
		"off":                 {contextengine.Config{}, 3_000, 50_000, false},
		"reached":             {contextengine.Config{PruneTokens: 50_000, PruneResult: 8_000, PruneSaves: 4_096}, 3_000, 50_000, true},
		"not reached":         {contextengine.Config{PruneTokens: 50_001, PruneResult: 8_000, PruneSaves: 4_096}, 3_000, 50_000, false},
		"only small results":  {contextengine.Config{PruneTokens: 50_000, PruneResult: 8_000, PruneSaves: 4_096}, 1_000, 50_000, false},
		"not worth it":        {contextengine.Config{PruneTokens: 50_000, PruneResult: 8_000, PruneSaves: 1 << 20}, 3_000, 50_000, false},
		"nothing was counted": {contextengine.Config{PruneTokens: 50_000, PruneResult: 8_000, PruneSaves: 4_096}, 3_000, 0, false},
	} {
		asked := false
		e := contextengine.New(contextengine.Options{Config: tt.cfg, Summarize: func(context.Context, int64, string, int) (string, error) {
			asked = true
			return "sum", nil
		}})
		tr := talk(20, tt.size)
		f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Used: tt.used, Counted: len(tr), Window: 200_000})
		if err != nil || (f.From != nil) != tt.pruned || asked {
			t.Errorf("%s: changed %v, want %v; asked %v, %v", name, f.From != nil, tt.pruned, asked, err)
		}
		if !tt.pruned {
			continue
		}
		check(t, tr, f)
		if got := text(f.Messages); !strings.Contains(got, "run 19") || strings.Contains(got, "run 0 ") || len(f.Messages) != len(tr) {
			t.Errorf("%s: %d of %d messages: %.200s", name, len(f.Messages), len(tr), got)
		}
		again, err := e.Fit(t.Context(), f.Messages, hermes.ContextUsage{Used: tt.used, Counted: len(tr), Window: 200_000})
		if err != nil || again.From != nil {
			t.Errorf("%s: shortened again at once", name)
		}
	}
	turn := []hermes.Message{user("read it")} // also within a turn that is long
	for i := range 10 {
		turn = append(turn, act("read_file", `{"path":"a.go"}`, fmt.Sprintf("run %d %s", i, long(3_000)))...)
	}
	e := contextengine.New(contextengine.Options{Config: contextengine.Config{PruneTokens: 20_000, PruneResult: 8_000, PruneSaves: 4_096}})
	f, err := e.Fit(t.Context(), turn, hermes.ContextUsage{Used: 30_000, Counted: len(turn), Window: 200_000})
	if got := text(f.Messages); err != nil || strings.Contains(got, "run 0 ") || !strings.Contains(got, "run 9 ") {
		t.Errorf("a long turn: changed %v, %v", f.From != nil, err)
	}
}

// TestAnIdleSessionIsShortenedOnlyIfItSaves: from half the threshold on, by pruning if
// that is enough, and never if the summary fails or would save little.
func TestAnIdleSessionIsShortenedOnlyIfItSaves(t *testing.T) {
	t.Parallel()
	results := func(before, n int) []hermes.Message { // so many letters before results of a tool
		tr := append(letters(before, 700), assistant("ok"), user("read all of it"))
		for range n {
			tr = append(tr, act("read_file", `{"path":"a.go"}`, long(4_000))...)
		}
		return append(tr, assistant("done"))
	}
	one := []hermes.Message{user("Read this."), assistant("Yes?"), user(long(60_000)), assistant("It is long.")}
	between := func(n int) []hermes.Message { // so many letters between long messages that stay
		tr := append([]hermes.Message{user(long(28_000)), assistant("Yes?")}, letters(n, 500)...)
		return append(tr, assistant(long(30_000)))
	}
	for name, tt := range map[string]struct {
		tr      []hermes.Message
		counted bool
		summary string
		err     error
		want    string // of the note; "" if nothing changes
		asked   bool
	}{
		"half the threshold":      {letters(50, 500), true, "sum", nil, "while you were away", true},
		"less":                    {letters(40, 500), true, "sum", nil, "", false},
		"without a count":         {letters(52, 500), false, "sum", nil, "while you were away", true},
		"the rest is still long":  {results(38, 10), true, "sum", nil, "while you were away", true},
		"old results are enough":  {results(12, 12), true, "sum", nil, "Older tool results were shortened", false},
		"there is little to save": {one, true, "sum", nil, "", false},
		"the middle is short":     {between(10), true, "sum", nil, "", false},
		"the summary is short":    {between(38), true, "sum", nil, "while you were away", true},
		"the summary is long":     {between(25), true, long(9_000), nil, "", true},
		"the summary fails":       {letters(50, 500), true, "", errors.New("down"), "", true},
	} {
		asked := false
		now := time.Unix(1000, 0)
		e := contextengine.New(contextengine.Options{Config: shipped(), Now: func() time.Time { return now }, Summarize: func(context.Context, int64, string, int) (string, error) {
			asked = true
			return tt.summary, tt.err
		}})
		p := hermes.ContextUsage{Window: 200_000, Idle: true}
		if tt.counted {
			p.Used, p.Counted = cost(tt.tr), len(tt.tr)
		}
		for range 2 { // a second failure must not end in a summary without a model
			f, err := e.Fit(t.Context(), tt.tr, p)
			if err != nil || asked != tt.asked || (f.From != nil) != (tt.want != "") || !strings.Contains(f.Note, tt.want) {
				t.Errorf("%s: changed %v, note %q, asked %v, want %v (%v)", name, f.From != nil, f.Note, asked, tt.asked, err)
			}
			if f.From == nil {
				now = now.Add(time.Hour)
				continue
			}
			check(t, tt.tr, f)
			again, err := e.Fit(t.Context(), f.Messages, hermes.ContextUsage{Window: 200_000, Idle: true})
			if err != nil || again.From != nil {
				t.Errorf("%s: shortened again at once (%v)", name, err)
			}
			break
		}
	}
}

// TestTenCompactionsWithTheShippedSettings repeats the test of ten compactions with the
// settings of a new installation.
func TestTenCompactionsWithTheShippedSettings(t *testing.T) {
	t.Parallel()
	for _, window := range []int{16_000, 128_000} {
		for taleName, day := range tales {
			for _, scribeName := range []string{"a fair one", "far too long", "always down"} {
				t.Run(fmt.Sprintf("%s, %s, %d", taleName, scribeName, window), func(t *testing.T) {
					t.Parallel()
					w := newWeek(t, window, scribes[scribeName]())
					w.configure(shipped(), scribes[scribeName]())
					w.work(day, 10)
				})
			}
		}
	}
}

// configure gives the work another engine.
func (w *week) configure(cfg contextengine.Config, s contextengine.Summarize) {
	w.engine = contextengine.New(contextengine.Options{Config: cfg, Summarize: s, Now: func() time.Time { return w.now }})
}
