package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
)

func TestTypedNumbersPickChoices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line     string
		multiple bool
		want     []string
		own      bool
	}{
		{"2", false, []string{"b"}, false},
		{"my own", false, []string{"my own"}, false},
		{"1 2", false, []string{"1 2"}, false},
		{"1, 2", true, []string{"a", "b"}, false},
		{"3", false, nil, true},
		{"1,3", true, []string{"a"}, true},
		{"9", true, []string{"9"}, false},
		{"", true, []string{""}, false},
	} {
		a := newAsk(hermes.Asked{ID: "q", Question: &hermes.Question{Text: "?", Choices: []string{"a", "b"}, Multiple: tt.multiple}}, time.Time{})
		if got, own := a.chosenByLine(tt.line); !slices.Equal(got, tt.want) || own != tt.own {
			t.Errorf("%q: got %q %v, want %q %v", tt.line, got, own, tt.want, tt.own)
		}
	}
}

// TestOutsideIsSaidLast: neither a long reason nor other risks push it away from the answers.
func TestOutsideIsSaidLast(t *testing.T) {
	t.Parallel()
	a := newAsk(hermes.Asked{ID: "q", Approval: &hermes.ApprovalRequest{
		Tool: "terminal", Subject: "make", Detail: strings.Repeat("reason ", 100),
		Risks: []hermes.Risk{{Key: hermes.KeyEscape, Reason: "runs outside"}, {Key: "other", Reason: "deletes"}},
	}}, time.Time{})
	lines := a.lines(theme{}, 100)
	if last := lines[len(lines)-1]; !strings.Contains(last, "It runs OUTSIDE of the sandbox") {
		t.Errorf("the last line is %q", last)
	}
}
