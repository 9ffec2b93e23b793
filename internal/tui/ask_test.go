package tui

import (
	"slices"
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
