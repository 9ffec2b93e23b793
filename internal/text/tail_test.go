package text_test

import (
	"strings"
	"testing"
	"time"

	"hermes/internal/text"
)

func TestTailKeepsTheLastLine(t *testing.T) {
	t.Parallel()
	var tail text.Tail
	if got := tail.Last(); got != "" {
		t.Errorf("empty: %q", got)
	}
	for range 10 {
		n, err := tail.Write([]byte(strings.Repeat("x", 5000)))
		if n != 5000 || err != nil {
			t.Error(n, err)
		}
	}
	_, _ = tail.Write([]byte("\nfirst\nno \x1b[2Jlicence\U000E0041\n\n"))
	if got := tail.Last(); got != "no [2Jlicence" {
		t.Errorf("got %q", got)
	}
}

// TestATailReportsAFlood once: 64 MiB at once, or 1 MiB a second for longer; a program that only says much does
// not reach it.
func TestATailReportsAFlood(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	var why []error
	tail := text.Tail{Now: func() time.Time { return now }, Flooded: func(err error) { why = append(why, err) }}
	part := make([]byte, 1<<20)
	slow := text.Tail{Now: func() time.Time { return now }, Flooded: func(err error) { t.Errorf("0.8 MiB a second: %v", err) }}
	for range 300 {
		_, _ = slow.Write(make([]byte, 3<<19)) // it never fails
		now = now.Add(1900 * time.Millisecond)
	}
	write := func(parts int, each time.Duration) {
		for range parts {
			_, _ = tail.Write(part) // it never fails
			now = now.Add(each)
		}
	}
	write(1000, time.Second)
	write(63, 0)
	if len(why) > 0 {
		t.Fatalf("it is no flood: %v", why)
	}
	now = now.Add(time.Hour)
	write(64, 0)
	if len(why) > 0 {
		t.Fatalf("it is no flood after an hour of silence: %v", why)
	}
	write(100, 0)
	if len(why) != 1 || !strings.Contains(why[0].Error(), "standard error") {
		t.Errorf("a flood: %v", why)
	}
}
