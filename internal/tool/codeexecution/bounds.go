package codeexecution

import (
	"context"
	"fmt"

	"hermes"
)

// bounds are what holds for a script of a session from its start to its end. A kernel keeps those
// of its first script, so that one with other bounds needs another kernel.
type bounds struct {
	dir     string // in which scripts start; "" if each has its own
	mode    hermes.RightsMode
	sandbox string // the walls, what they let through, and what may be changed
}

// boundsOf returns what holds for scripts that begin now.
func (t *Toolset) boundsOf(ctx context.Context, h hermes.Host) bounds {
	env := h.Environment()
	if c, ok := env.(hermes.Confined); ok {
		c.Confine(ctx) // what is described holds from then on
	}
	d := env.Describe(ctx)
	b := bounds{mode: h.Session().Mode, sandbox: fmt.Sprintf("%q %q %q", d.Isolation.Walls(), d.Network, d.Writable)}
	if !t.config.Strict {
		b.dir = folderOf(env)
	}
	return b
}

// whyNot says why a kernel with these bounds cannot run a script with others; "" if it can.
func (b bounds) whyNot(now bounds) string {
	why := ""
	switch {
	case b.sandbox != now.sandbox:
		why = "the sandbox is another one now"
	case b.dir != now.dir:
		why = fmt.Sprintf("scripts run in %s now, no longer in %s", now.dir, b.dir)
	case b.mode != now.mode:
		why = fmt.Sprintf("the session is in mode %s now, no longer in %s", now.mode, b.mode)
	default:
		return ""
	}
	return "The variables that were kept before this script are lost, since " + why + "."
}
