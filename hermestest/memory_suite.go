package hermestest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
)

// RunMemory is the contract suite of a [hermes.MemoryProvider] that remembers
// what it observes. open returns an empty one and closes it when the test
// ends.
func RunMemory(t *testing.T, open func(t *testing.T) hermes.MemoryProvider) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, hermes.MemoryProvider)
	}{
		{"it has a name, the same tools each time, and a block that fits a prompt", memoryShows},
		{"nothing is known at first", memoryEmpty},
		{"what was observed is recalled in another session", memoryRecalls},
		{"recalled text is limited", memoryBounded},
		{"recall ends with its context", memoryEnds},
		{"it may be used concurrently", memoryParallel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

func memoryTurn(session, said string) hermes.MemoryTurn {
	return hermes.MemoryTurn{Session: hermes.SessionRef{ID: session, Turn: 1, Platform: "cli"}, Said: said, Answer: "I will keep that in mind.", At: time.Date(2026, 11, 20, 9, 30, 0, 123456789, time.UTC)}
}

func observe(t *testing.T, p hermes.MemoryProvider, turn hermes.MemoryTurn) {
	t.Helper()
	if err := p.Observe(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
}

func recall(t *testing.T, p hermes.MemoryProvider, session, text string) string {
	t.Helper()
	got, err := p.Recall(t.Context(), hermes.RecallQuery{Session: hermes.SessionRef{ID: session}, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return got.Text
}

func memoryShows(t *testing.T, p hermes.MemoryProvider) {
	if p.Name() == "" || strings.ContainsAny(p.Name(), " \n") {
		t.Errorf("the name is %q", p.Name())
	}
	block, err := p.SystemBlock(t.Context())
	if err != nil || len(block) > 20_000 {
		t.Errorf("a block of %d bytes, %v", len(block), err)
	}
	first, second := p.Tools(), p.Tools()
	for i := range first {
		if first[i].Spec().Name != second[i].Spec().Name || string(first[i].Spec().Schema) != string(second[i].Spec().Schema) {
			t.Error("the tools change")
		}
	}
}

func memoryEmpty(t *testing.T, p hermes.MemoryProvider) {
	if got := recall(t, p, "a", "what do you know about the staging server?"); got != "" {
		t.Errorf("recalled %q", got)
	}
}

func memoryRecalls(t *testing.T, p hermes.MemoryProvider) {
	observe(t, p, memoryTurn("a", "Remember that the staging server is called heron."))
	if got := recall(t, p, "b", "What is the staging server called?"); !strings.Contains(got, "heron") {
		t.Errorf("recalled %q", got)
	}
}

func memoryBounded(t *testing.T, p hermes.MemoryProvider) {
	for i := range 30 {
		turn := memoryTurn("a", "The staging server heron, part "+string(rune('a'+i))+": "+strings.Repeat("heron ünd ", 300))
		turn.Session.Turn = int64(i)
		observe(t, p, turn)
	}
	if n := len([]rune(recall(t, p, "b", "What about the staging server heron?"))); n > hermes.MaxRecall || n == 0 {
		t.Errorf("recalled %d characters", n)
	}
}

func memoryEnds(t *testing.T, p hermes.MemoryProvider) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Recall(ctx, hermes.RecallQuery{Text: "anything at all"}) // an error is allowed too
		_ = p.Observe(ctx, memoryTurn("a", "something that is long enough"))
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Error("it does not end with its context")
	}
}

func memoryParallel(t *testing.T, p hermes.MemoryProvider) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			turn := memoryTurn(string(rune('a'+i)), "The printer in room "+string(rune('a'+i))+" is broken again.")
			if err := p.Observe(t.Context(), turn); err != nil {
				t.Error(err)
			}
			if _, err := p.Recall(t.Context(), hermes.RecallQuery{Session: turn.Session, Text: "which printer is broken?"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
