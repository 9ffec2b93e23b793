package hermestest

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
)

// ToolSample is a call that a tool can do, for [RunToolset].
type ToolSample struct {
	Tool, Arguments string
	// Want is a part of the result.
	Want string
}

// RunToolset checks what each toolset promises: it describes its tools always in the same way, runs
// them, refuses arguments that it needs and does not get, returns soon from a call that begins after
// the user stopped (one that is stopped as it runs needs a tool that waits: test that beside), and
// does not change what it is given. open makes a new toolset that can be used now, and sees to its
// end; there is at least one sample for each of its tools.
func RunToolset(t *testing.T, open func(t *testing.T) hermes.Toolset, samples ...ToolSample) {
	t.Run("description", func(t *testing.T) { toolsetDescription(t, open(t), samples) })
	t.Run("run", func(t *testing.T) {
		tools := toolsOf(t, open(t))
		for _, s := range samples {
			r, err := runSample(t.Context(), tools, s.Tool, s.Arguments)
			if err != nil || r.Failed || !strings.Contains(r.Text, s.Want) {
				t.Errorf("%s with %s: %+v, %v; want %q", s.Tool, s.Arguments, r, err, s.Want)
			}
		}
	})
	t.Run("missing arguments", func(t *testing.T) {
		for name, tool := range toolsOf(t, open(t)) {
			var schema struct{ Required []string }
			if err := json.Unmarshal(tool.Spec().Schema, &schema); err != nil || len(schema.Required) == 0 {
				continue
			}
			r, err := runSample(t.Context(), map[string]hermes.Tool{name: tool}, name, `{}`)
			said := r.Text
			if err != nil {
				said = err.Error()
			}
			if err == nil && !r.Failed || !strings.Contains(said, schema.Required[0]) {
				t.Errorf("%s without arguments: %+v, %v; want a failure that names %s", name, r, err, schema.Required[0])
			}
		}
	})
	t.Run("stop", func(t *testing.T) {
		tools := toolsOf(t, open(t))
		ctx, stop := context.WithCancelCause(t.Context())
		stop(errors.New("stopped"))
		for _, s := range samples {
			began := time.Now()
			_, _ = runSample(ctx, tools, s.Tool, s.Arguments) // what it says then does not matter
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s ran %v after it was stopped", s.Tool, took)
			}
		}
	})
	t.Run("at once", func(t *testing.T) {
		tools := toolsOf(t, open(t))
		var all sync.WaitGroup
		for _, s := range samples {
			tool, ok := tools[s.Tool]
			if !ok || tool.Spec().Mode != hermes.ModeParallel {
				continue
			}
			for range 8 {
				all.Go(func() {
					if r, err := runSample(t.Context(), tools, s.Tool, s.Arguments); err != nil || !strings.Contains(r.Text, s.Want) {
						t.Errorf("%s among others: %+v, %v", s.Tool, r, err)
					}
				})
			}
		}
		all.Wait()
	})
}

var suiteToolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// toolsetDescription checks the names, texts and schemas of a toolset.
func toolsetDescription(t *testing.T, set hermes.Toolset, samples []ToolSample) {
	if why := set.Available(t.Context()); set.Name() == "" || why != "" {
		t.Errorf("the toolset %q cannot be used: %s", set.Name(), why)
	}
	first, again := toolsOf(t, set), toolsOf(t, set)
	if len(first) == 0 || len(first) != len(again) {
		t.Errorf("%d tools, then %d", len(first), len(again))
	}
	sampled := map[string]bool{}
	for _, s := range samples {
		sampled[s.Tool] = true
	}
	for name, tool := range first {
		s := tool.Spec()
		if !suiteToolName.MatchString(name) || strings.TrimSpace(s.Description) == "" {
			t.Errorf("the name or the description of %q cannot be used", name)
		}
		var schema struct{ Type string }
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" {
			t.Errorf("the schema of %s is not that of an object: %s", name, s.Schema)
		}
		if other, ok := again[name]; !ok || other.Spec().Description != s.Description || string(other.Spec().Schema) != string(s.Schema) || other.Spec().Effect != s.Effect {
			t.Errorf("%s is described differently a second time", name)
		}
		if !sampled[name] {
			t.Errorf("there is no sample for %s", name)
		}
	}
}

// toolsOf returns the tools of a toolset by their names.
func toolsOf(t *testing.T, set hermes.Toolset) map[string]hermes.Tool {
	t.Helper()
	list, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]hermes.Tool{}
	for _, tool := range list {
		name := tool.Spec().Name
		if tools[name] != nil {
			t.Errorf("two tools are called %s", name)
		}
		tools[name] = tool
	}
	return tools
}

// runSample runs a tool and checks that it does not change its arguments.
func runSample(ctx context.Context, tools map[string]hermes.Tool, name, arguments string) (hermes.Result, error) {
	tool, ok := tools[name]
	if !ok {
		return hermes.Result{}, errors.New("there is no tool " + name)
	}
	c := &hermes.Call{ID: "1", Name: name, Arguments: json.RawMessage(arguments), Host: suiteHost{}}
	r, err := tool.Run(ctx, c)
	if string(c.Arguments) != arguments {
		return r, errors.New("the tool changed the arguments of its call")
	}
	return r, err
}

// suiteHost is a session in which nothing can be asked.
type suiteHost struct{}

var errSuiteHost = errors.New("nothing can be asked here")

func (suiteHost) Session() hermes.SessionRef {
	return hermes.SessionRef{ID: "suite", Platform: "cli"}
}
func (suiteHost) Environment() hermes.Environment { return nil }
func (suiteHost) Approve(context.Context, hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	return hermes.ApprovalAnswer{Decision: hermes.Unattended}, nil
}
func (suiteHost) Ask(context.Context, hermes.Question) (hermes.Answer, error) {
	return hermes.Answer{}, errSuiteHost
}
func (suiteHost) Spawn(context.Context, hermes.Task) (hermes.Report, error) {
	return hermes.Report{}, errSuiteHost
}
func (suiteHost) Invoke(context.Context, string, json.RawMessage) (hermes.Result, error) {
	return hermes.Result{}, errSuiteHost
}
func (suiteHost) Progress(string) {}
