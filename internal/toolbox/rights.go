package toolbox

import (
	"cmp"

	"hermes"
)

// ModeOf returns the approval mode of a run. set is the setting approvals.mode.
func ModeOf(set string, rights hermes.Rights) Mode {
	mode := ParseMode(set)
	switch {
	case rights.Mode == hermes.ModeYolo:
		return ModeOff
	case rights.Approver != "":
		return ParseMode(string(rights.Approver))
	case rights.Mode == hermes.ModeAsk && mode == ModeOff:
		return ModeManual
	}
	return mode
}

// BeginMode returns the mode in which a session with these rights begins. set is the setting
// approvals.mode: off begins in yolo, unless the rights say who decides.
func BeginMode(set string, rights hermes.Rights) hermes.RightsMode {
	switch {
	case rights.Mode != "":
		return rights.Mode
	case ModeOf(set, rights) == ModeOff:
		return hermes.ModeYolo
	}
	return hermes.ModeAsk
}

// UnattendedOf returns which risks a run allows where no user can be asked; nil allows none.
// set is the setting approvals.unattended_mode.
func UnattendedOf(set string, rights hermes.Rights) func(hermes.Risk) bool {
	if cmp.Or(string(rights.WhenUnattended), set) != string(hermes.UnattendedApprove) {
		return nil
	}
	return AllowedUnattended
}
