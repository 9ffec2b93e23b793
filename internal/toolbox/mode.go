package toolbox

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
)

// mode returns how risky calls are treated at this moment: as the session of the call says, which
// a user may change at any time, else as the toolbox was made.
func (b *Toolbox) mode(c *call) hermes.RightsMode {
	if c.Host != nil {
		if m := c.Host.Session().Mode; m != "" {
			return m
		}
	}
	if b.approvals.rules.Mode == ModeOff {
		return hermes.ModeYolo
	}
	return hermes.ModeAsk
}

// plans reports whether a call is refused because the session is in plan mode.
func (b *Toolbox) plans(c *call) bool {
	return b.mode(c) == hermes.ModePlan && !harmlessInPlan(c)
}

// planned is the refusal of a call that would change something in plan mode.
func planned() hermes.Result {
	return blocked("plan mode", "plan mode: this was not run. The session is in plan mode, in which only calls run that change nothing. "+
		"Do not retry it and do not try to reach the same goal in another way. Read what you need, then present a plan to the user and end your turn. "+
		"The user leaves plan mode with /plan, or /mode ask.", planMode)
}

const planMode = "it may change something"

// harmlessInPlan reports whether a call certainly changes nothing but what the session plans. A
// tool that does not say so is not trusted to.
func harmlessInPlan(c *call) bool {
	switch c.Spec.EffectOf(c.Arguments) {
	case hermes.EffectNone, hermes.EffectAsk:
		return true
	}
	return c.Spec.PlansOnly
}

// byMode returns the risks that the mode does not allow. Only the user lifts those of
// [hermes.Risk.EveryMode].
func (b *Toolbox) byMode(ctx context.Context, c *call, open []hermes.Risk) []hermes.Risk {
	if len(open) == 0 {
		return nil
	}
	switch b.mode(c) {
	case hermes.ModeYolo:
		return slices.DeleteFunc(slices.Clone(open), func(r hermes.Risk) bool { return !r.EveryMode })
	case hermes.ModeAcceptEdits:
		if inWorkspace(ctx, c) {
			return slices.DeleteFunc(slices.Clone(open), func(r hermes.Risk) bool { return edit(r) })
		}
	}
	return open
}

// edit reports whether a risk is that a file is changed, and no more. The table of protected paths
// and what changes Hermes itself ask as before.
func edit(r hermes.Risk) bool {
	return !r.Deny && !r.EveryMode && !r.NoRemember && !r.Once && !own(r) && !strings.HasPrefix(r.Key, "path:")
}

// inWorkspace reports whether a call is for files only, all of them below the working folder of
// its session, also by their links.
func inWorkspace(ctx context.Context, c *call) bool {
	if c.Host == nil || c.Host.Environment() == nil {
		return false
	}
	named, known := filesOf(ctx, c)
	if !known {
		return false
	}
	files := c.Host.Environment().Files()
	dir, err := followed(ctx, files, c.Host.Session().Dir)
	paths := reached(ctx, files, named)
	if err != nil || len(paths) == 0 {
		return false
	}
	return !slices.ContainsFunc(paths, func(p string) bool {
		rel, err := filepath.Rel(dir, p)
		return err != nil || !filepath.IsLocal(rel)
	})
}
