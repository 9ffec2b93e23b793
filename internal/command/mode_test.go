package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/session"
)

func TestCommandsOfTheMode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		in   hermes.RightsMode
		want hermes.RightsMode // "" changes nothing
		says string            // to the model
	}{
		{"/mode", hermes.ModeAsk, "", ""},
		{"/mode plan", hermes.ModeAsk, hermes.ModePlan, ""},
		{"/mode ACCEPT-EDITS", hermes.ModeAsk, hermes.ModeAcceptEdits, ""},
		{"/plan", hermes.ModeAsk, hermes.ModePlan, ""},
		{"/plan", hermes.ModeYolo, hermes.ModePlan, ""},
		{"/plan", hermes.ModePlan, hermes.ModeAsk, ""},
		{"/plan a new index", hermes.ModeAsk, hermes.ModePlan, "a new index"},
		{"/plan a new index", hermes.ModePlan, hermes.ModePlan, "a new index"},
		{"/yolo", hermes.ModeAsk, hermes.ModeYolo, ""},
		{"/yolo", hermes.ModeYolo, hermes.ModeAsk, ""},
	} {
		f := &fake{state: session.State{Mode: tt.in}}
		r, err := command.Run(t.Context(), tt.line, command.Call{Session: f, Where: command.Messenger})
		var want []hermes.Op
		if tt.want != "" {
			want = append(want, hermes.SetMode{Mode: tt.want})
		}
		if diff := cmp.Diff(want, f.ops); err != nil || diff != "" || (hermes.Message{Parts: r.Message}).Text() != tt.says || r.Text == "" {
			t.Errorf("%s in %s: %+v, %v\n%s", tt.line, tt.in, r, err, diff)
		}
	}
}
