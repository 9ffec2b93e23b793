package contextengine_test

import (
	"strings"
	"testing"

	"hermes"
	"hermes/internal/contextengine"
)

// TestNoLineRefersToALaterResult: /undo and a branch may take the later one away.
func TestNoLineRefersToALaterResult(t *testing.T) {
	t.Parallel()
	file := strings.Repeat("the same line of a file\n", 60)
	tr := []hermes.Message{user("go"), assistant("ok")}
	for range 40 {
		tr = append(tr, user("look"))
		tr = append(tr, act("read_file", `{"path":"a.go"}`, file)...)
		tr = append(tr, assistant(long(400)))
	}
	got := text(mustFit(t, contextengine.New(contextengine.Options{Summarize: sums("sum")}), tr, full(tr, 64_000)))
	if strings.Contains(got, "again below") || !strings.Contains(got, "[read_file a.go: 61 lines, read it again if needed]") {
		t.Errorf("%.600s", got)
	}
}

// TestRepeatsThatWereStoredAreRemoved reads the wordings of earlier versions.
func TestRepeatsThatWereStoredAreRemoved(t *testing.T) {
	t.Parallel()
	tr := []hermes.Message{user("go"), assistant("ok"), user("look")}
	for _, note := range []string{"[read_file: the same result stands again below]", "[read_file: the same result appears again below]", "[read_file: the result was shortened; the same result appears again below, #0a1b2c3d]"} {
		tr = append(tr, act("read_file", `{"path":"a.go"}`, note)...)
	}
	tr = append(tr, assistant("ok"))
	tr = append(tr, talk(60, 2000)[2:]...)
	got := text(mustFit(t, contextengine.New(contextengine.Options{Summarize: sums("sum"), Config: contextengine.Config{ProtectFirst: 8}}), tr, full(tr, 200_000)))
	if strings.Contains(got, "again below") || strings.Count(got, "[read_file: the result was shortened]") != 3 {
		t.Errorf("%.600s", got)
	}
}
