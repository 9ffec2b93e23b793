package tui

import (
	"strings"
	"testing"

	"hermes"
)

// TestShiftTabGoesThroughTheModes but never to yolo; the line below the input says which one it is.
func TestShiftTabGoesThroughTheModes(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	if strings.Contains(r.v.screenText(), " mode") {
		t.Error(r.v.screenText())
	}
	for _, m := range []hermes.RightsMode{hermes.ModeAcceptEdits, hermes.ModePlan, hermes.ModeAsk, hermes.ModeAcceptEdits} {
		r.keys("<shift+tab>")
		r.wantDo(submitDo{op: hermes.SetMode{Mode: m}})
		r.send(hermes.ModeChanged{Mode: m})
		if m != hermes.ModeAsk {
			r.shows(string(m) + " mode")
		} else if strings.Contains(r.v.screenText(), " mode") {
			t.Error(r.v.screenText())
		}
	}
	r.send(hermes.ModeChanged{Mode: hermes.ModeYolo})
	r.shows("yolo mode").keys("<shift+tab>")
	r.wantDo(submitDo{op: hermes.SetMode{Mode: hermes.ModeAsk}})
}
