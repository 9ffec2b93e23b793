package remote

import (
	"cmp"
	"context"
	"errors"

	"hermes"
)

// Describe says where the commands run; see [hermes.Environment]. What the Runner does not
// know is asked of the place, once. A place that does not answer within 30 seconds is
// described by what the Runner knows; it is asked again then.
func (e *Environment) Describe(ctx context.Context) hermes.Description {
	d := e.described()
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if f, err := e.place.know(ctx); err == nil { // else the first command reports it
		d.System = cmp.Or(d.System, f.system)
		d.Arch = cmp.Or(d.Arch, f.arch)
		d.Home = cmp.Or(d.Home, f.home)
		d.Shell = cmp.Or(d.Shell, f.shell)
	}
	return d
}

// described is what the Runner knows.
func (e *Environment) described() hermes.Description {
	var d hermes.Description
	if r, ok := e.place.runner.(Describer); ok {
		d = r.Describe()
	}
	if d.Isolation.Text == "" {
		d.Isolation = hermes.Isolation{Layer: "none", Text: "Commands run on another machine and may do there what the account may."}
	}
	d.Network = cmp.Or(d.Network, hermes.NetworkHost)
	return d
}

// allows refuses what no command in the place can be held to, so that no limit is ignored.
func (e *Environment) allows(c hermes.Command) error {
	want := c.Limits
	switch {
	case c.Channel != nil:
		return errors.New("this place takes no open file for a command; run it without a channel")
	case want.Network != "" && reach(e.described().Network) > reach(want.Network):
		return errors.New("the network of a single command cannot be limited in this place; run it without that limit")
	case want.Write != nil:
		return errors.New("what a single command may write cannot be limited in this place; run it without that limit")
	case want.Processes > 0:
		return errors.New("the number of processes of a single command cannot be limited in this place; run it without that limit")
	case want.Memory < 0 || want.CPU < 0 || want.Processes < 0 || want.Time < 0:
		return errors.New("a limit of a command is negative; use 0 for no limit")
	}
	return nil
}

// reach orders networks; an unknown one is the most.
func reach(n hermes.Network) int {
	switch n {
	case hermes.NetworkOff:
		return 0
	case hermes.NetworkProxy:
		return 1
	}
	return 2
}
