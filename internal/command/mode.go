package command

import (
	"context"
	"fmt"
	"strings"

	"hermes"
)

// modeHelp says what each mode does, in the order in which they are shown.
func modeHelp() [][2]string {
	return [][2]string{
		{"ask", "risky calls ask you"},
		{"plan", "nothing is changed: calls with an effect are refused"},
		{"accept-edits", "changes of files in the working folder do not ask, except of protected ones"},
		{"yolo", "risky calls run without asking, except what untrusted text may have asked for"},
	}
}

// mode shows or changes how risky calls are treated.
func mode(ctx context.Context, c *Call) (Result, error) {
	if c.Args != "" {
		return setMode(ctx, c, hermes.RightsMode(strings.ToLower(c.Args)))
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This session is in the mode %s. Change it with `/mode MODE`:\n\n", code(string(st.Mode)))
	for _, m := range modeHelp() {
		fmt.Fprintf(&b, "- %s: %s\n", code(m[0]), m[1])
	}
	return Result{Text: b.String()}, nil
}

func setMode(ctx context.Context, c *Call, m hermes.RightsMode) (Result, error) {
	if err := c.Session.Submit(ctx, hermes.SetMode{Mode: m}); err != nil {
		return Result{}, err
	}
	for _, h := range modeHelp() {
		if h[0] == string(m) {
			return Result{Text: "The mode is " + code(string(m)) + " from the next call on: " + h[1] + "."}, nil
		}
	}
	return Result{}, nil
}

// toggle enters a mode, or leaves it for the mode ask.
func toggle(ctx context.Context, c *Call, m hermes.RightsMode) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	if st.Mode == m {
		m = hermes.ModeAsk
	}
	return setMode(ctx, c, m)
}

// plan enters or leaves plan mode, or sends a message in plan mode.
func plan(ctx context.Context, c *Call) (Result, error) {
	if c.Args == "" {
		return toggle(ctx, c, hermes.ModePlan)
	}
	r, err := setMode(ctx, c, hermes.ModePlan)
	r.Message = []hermes.Part{{Text: c.Args}}
	return r, err
}

// yolo enters or leaves the mode yolo.
func yolo(ctx context.Context, c *Call) (Result, error) { return toggle(ctx, c, hermes.ModeYolo) }
