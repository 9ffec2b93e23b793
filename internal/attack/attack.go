// Package attack tries on the user's own machine and settings what must not be possible, and says what held.
//
// The lists are in commands.go (walls and secrets), rules.go (the rules of permissions.yaml and the modes), untrusted.go (a model
// that obeys whatever it reads) and settings.go (what the settings and the files of the home weaken). A new attack is one entry
// there. scene.go is where they happen: a temporary home with a copy of the live settings, a temporary workspace, and a model
// inside of this program that makes the calls. Nothing of the user's is changed, nothing is sent anywhere, and no model
// service is asked.
//
// Each attack has a control, so that it cannot hold because it could not work anyway: without one that succeeds it counts
// as not tried.
package attack

import (
	"context"
	"errors"
	"fmt"

	"hermes/internal/app"
)

// Verdict says what became of an attack.
type Verdict string

// The verdicts. Weak is a setting that allows by itself what other promises forbid.
const (
	Held     Verdict = "held"
	Failed   Verdict = "failed"
	NotTried Verdict = "not tried"
	Weak     Verdict = "weak"
)

// Result is one line of the report.
type Result struct {
	Group   string  `json:"group"`
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text,omitempty"` // what happened, or what to do
}

// Groups lists the groups, in their order.
func Groups() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// group is a list of attacks. run tells each result.
type group struct {
	name string
	run  func(ctx context.Context, s *scene, tell func(Result)) error
}

var groups = []group{
	{"settings", settings},
	{"rules", rules},
	{"walls", walls},
	{"secrets", secrets},
	{"taint", untrusted},
}

// Run runs the attacks of a group, or of all if only is "", against the settings of an app. base makes
// further apps like it; its Getenv must be set. The error is that of what could not be set up: of a group that
// has one, some attacks were not tried, and the others were.
func Run(ctx context.Context, live *app.App, base app.Options, only string, tell func(Result)) error {
	found, failed := false, []error(nil)
	for _, g := range groups {
		if only != "" && g.name != only {
			continue
		}
		found = true
		err := inScene(ctx, live, base, g, tell)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil { // the other groups are tried all the same
			failed = append(failed, fmt.Errorf("attacks of the group %s: %w", g.name, err))
		}
	}
	if !found {
		return fmt.Errorf("there is no group %q; the groups are %v", only, Groups())
	}
	return errors.Join(failed...)
}

func inScene(ctx context.Context, live *app.App, base app.Options, g group, tell func(Result)) (err error) {
	s, err := newScene(ctx, live, base)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.close(); err == nil {
			err = e
		}
	}()
	return g.run(ctx, s, func(r Result) {
		r.Group = g.name
		tell(r)
	})
}
