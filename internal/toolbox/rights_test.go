package toolbox_test

import (
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

func TestModeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		set    string
		rights hermes.Rights
		want   toolbox.Mode
	}{
		{"smart", hermes.Rights{}, toolbox.ModeSmart},
		{"off", hermes.Rights{}, toolbox.ModeOff},
		{"off", hermes.Rights{Mode: hermes.ModeAsk}, toolbox.ModeManual},
		{"smart", hermes.Rights{Mode: hermes.ModeAsk}, toolbox.ModeSmart},
		{"manual", hermes.Rights{Mode: hermes.ModeYolo, Approver: hermes.ApproverManual}, toolbox.ModeOff},
		{"manual", hermes.Rights{Approver: hermes.ApproverSmart}, toolbox.ModeSmart},
		{"off", hermes.Rights{Mode: hermes.ModeAsk, Approver: hermes.ApproverSmart}, toolbox.ModeSmart},
	} {
		if got := toolbox.ModeOf(tt.set, tt.rights); got != tt.want {
			t.Errorf("%q with %+v is %s, want %s", tt.set, tt.rights, got, tt.want)
		}
	}
}

func TestUnattendedOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		set    string
		chosen hermes.Unattendance
		want   bool
	}{
		{"deny", "", false}, {"approve", "", true}, {"approve", hermes.UnattendedDeny, false}, {"deny", hermes.UnattendedApprove, true}, {"", "", false},
	} {
		allows := toolbox.UnattendedOf(tt.set, hermes.Rights{WhenUnattended: tt.chosen})
		if got := allows != nil && allows(hermes.Risk{Key: "recursive-delete"}); got != tt.want {
			t.Errorf("%q, and %q for the run: allowed is %t", tt.set, tt.chosen, got)
		}
	}
}
