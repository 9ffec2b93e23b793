package cmd_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/internal/chatserver"
)

func TestDisablingProcessKeepsTerminal(t *testing.T) {
	t.Parallel()
	var names atomic.Value
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		var list []string
		for _, tool := range r.Tools {
			list = append(list, tool.Function.Name)
		}
		names.Store(list)
		return chatserver.Answer{Text: "ok"}, nil
	})...)
	p.writeConfig("agent: {disabled_toolsets: [process]}\n")
	if out, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
		t.Fatalf("status %d, out %q, errs %q", status, out, errs)
	}
	got, _ := names.Load().([]string)
	if !slices.Contains(got, "terminal") || slices.Contains(got, "process") {
		t.Errorf("tools %q", got)
	}
}

// TestALoopOfSuccessesEnds plays a model that sends one call for ever.
func TestALoopOfSuccessesEnds(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if last := r.Messages[len(r.Messages)-1]; strings.Contains(last.Text(), "tools are off") || string(r.ToolChoice) == `"none"` {
			return chatserver.Answer{Text: "I was going in circles."}, nil
		}
		calls.Add(1)
		return call("terminal", map[string]string{"command": "echo same"}), nil
	})...)
	out, errs, status := p.run("-z", "hello", "-m", "played")
	if n := calls.Load(); n > 40 || !strings.Contains(out, "circles") {
		t.Errorf("%d calls, status %d, out %q, errs %q", n, status, out, errs)
	}
}
