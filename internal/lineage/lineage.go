// Package lineage tells whether a process was started by a command of an agent,
// however many programs are between the two. Hermes refuses below an agent what
// only its user may do, such as switching approvals off.
//
// A process that runs an agent calls [Announce] and gives each command a [Mark].
// [Probe.Look] then finds the agent in three ways, and one is enough:
//
//   - a variable in the environment, which env -i removes;
//   - an open file that children inherit, which survives env -i, setsid and the
//     end of the parent, but not a program that closes its descriptors;
//   - the parents up to init, which survive both of these, but not a daemon that
//     starts the program on request, such as atd or systemd.
//
// A process can hide from one of them by accident and from all three on purpose:
// this is no wall against a program that is written to pass it.
//
// [Probe.LookAt] does the same for another process, before it may reach a session.
//
// The package does not know which commands are refused. What differs between
// systems is in the files named chain, descriptors, mark, peer, announce and other. Start at
// Look.
package lineage

import (
	"os"
	"slices"
)

// Variable is the environment variable that names the home of the agent.
const Variable = "HERMES_STARTED_BY_AGENT"

// ProcessName is the name of a process that runs an agent, or that starts its commands.
// Linux keeps up to 15 bytes.
const ProcessName = "hermes-agent"

// Probe says where to look; Look requires Getenv.
type Probe struct {
	Getenv func(string) string
	// Top ends the way up: this process and its parents are not looked at. 0 is
	// none.
	Top int
}

// Above is what a process knows of the agents that it was started by.
type Above struct {
	// Signs say what shows that there is an agent; empty if nothing does.
	Signs []string
	// Homes are the homes that the agents use, each once, the most certain first.
	// They may be unknown even if there are signs.
	Homes []string
	// Err says why the parents could not be looked at.
	Err error
}

// Agent reports whether an agent was found.
func (a Above) Agent() bool { return len(a.Signs) > 0 }

func (a *Above) add(sign string, homes ...string) {
	a.Signs = append(a.Signs, sign)
	for _, h := range homes {
		if h != "" && !slices.Contains(a.Homes, h) {
			a.Homes = append(a.Homes, h)
		}
	}
}

// Look looks for agents above this process in all ways.
func (p Probe) Look() Above {
	agents, err := climb(os.Getpid(), p.Top, look)
	a := Above{Err: err}
	for _, n := range agents {
		a.add("the parent process "+n.String(), n.homes()...)
	}
	for _, m := range inherited() {
		a.add("an inherited file", m.home)
	}
	if home := p.Getenv(Variable); home != "" {
		a.add("the variable "+Variable, home)
	}
	return a
}

// LookAt looks for agents above another process of this user, as far as they can be seen from
// here. Err says that there is no such process.
func (p Probe) LookAt(pid int) Above {
	agents, err := climb(pid, p.Top, look)
	a := Above{Err: err}
	for _, n := range agents {
		a.add("the parent process "+n.String(), n.homes()...)
	}
	for _, m := range seen(pid) {
		a.add("an inherited file", m.home)
	}
	if home := variableOf(pid, Variable); home != "" {
		a.add("the variable "+Variable, home)
	}
	return a
}
