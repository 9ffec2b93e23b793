package toolset_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"hermes"
	"hermes/internal/toolset"
)

// plugged is a toolset whose server comes and goes.
type plugged struct {
	why     string
	changes chan struct{}
}

func (p *plugged) Name() string                     { return "plugged" }
func (p *plugged) Available(context.Context) string { return p.why }
func (p *plugged) Changes() <-chan struct{}         { return p.changes }
func (p *plugged) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "ping", Description: "Ping."},
		func(context.Context, *hermes.Call, struct{}) (hermes.Result, error) { return hermes.Result{}, nil })}, nil
}

// TestAChangeIsSeenAtOnce: the cached check of a toolset holds only until the toolset reports a
// change.
func TestAChangeIsSeenAtOnce(t *testing.T) {
	set := &plugged{why: "the server is gone", changes: make(chan struct{}, 1)}
	now := time.Unix(0, 0)
	c := toolset.NewCatalogue([]hermes.Toolset{set}, nil, func() time.Time { return now })
	offered := func() bool {
		t.Helper()
		got, err := c.Select(t.Context(), toolset.Selection{Enabled: []string{"plugged"}})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(got.Specs(), func(s hermes.Spec) bool { return s.Name == "ping" })
	}
	if offered() {
		t.Fatal("a toolset without its server is offered")
	}
	set.why = ""
	if offered() {
		t.Fatal("the check was not cached, so this test shows nothing")
	}
	set.changes <- struct{}{}
	if !offered() {
		t.Error("the change was not seen")
	}
}
