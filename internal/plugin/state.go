package plugin

import (
	"cmp"
	"slices"

	"hermes/internal/order"
)

// Phase says whether a plugin can be used.
type Phase string

// The phases of a plugin that is enabled.
const (
	// PhaseReady is one whose program starts at its first use.
	PhaseReady Phase = "not started"
	// PhaseStarting and PhaseRunning are those with a program.
	PhaseStarting Phase = "starting"
	PhaseRunning  Phase = "running"
	// PhaseFailed is one whose program ended or did not start, and which is tried again later.
	PhaseFailed Phase = "failed"
	// PhaseUnused is one that is not used until the user does something about it.
	PhaseUnused Phase = "not used"
)

// State is what is known of a plugin that the user enabled.
type State struct {
	Name, Version string
	Phase         Phase
	// Reason is why it failed or is not used; it may be a text of the plugin.
	Reason string
	// Offer is what it brings along; of one that is not used, the guards that refuse.
	Offer Offer
}

// States lists the plugins that the user enabled, also those that are not used, sorted by name. It starts none.
func (s *Plugins) States() []State {
	list := slices.Clone(s.unused)
	for _, p := range s.list {
		list = append(list, p.state())
	}
	order.By(list, func(a, b State) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (p *Plugin) state() State {
	st := State{Name: p.Name(), Version: p.manifest.Version, Offer: p.pin.Offer}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.broken != "":
		st.Phase, st.Reason = PhaseUnused, p.broken
	case p.conn != nil && p.conn.rpc.Err() == nil:
		st.Phase = PhaseRunning
	case p.starting != nil:
		st.Phase = PhaseStarting
	case p.reason != "":
		st.Phase, st.Reason = PhaseFailed, p.reason
	default:
		st.Phase = PhaseReady
	}
	return st
}
