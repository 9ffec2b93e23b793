package toolset_test

import (
	"context"

	"hermes"
)

// group is a toolset of given tools.
type group struct {
	name  string
	tools []hermes.Tool
	why   string
	asked int
	err   error
	check func() string
}

func (g *group) Name() string                                 { return g.name }
func (g *group) Tools(context.Context) ([]hermes.Tool, error) { return g.tools, g.err }

func (g *group) Available(context.Context) string {
	g.asked++
	if g.check != nil {
		return g.check()
	}
	return g.why
}

// tool is a tool that is never run.
type tool struct{ spec hermes.Spec }

func (t tool) Spec() hermes.Spec { return t.spec }
func (t tool) Run(context.Context, *hermes.Call) (hermes.Result, error) {
	return hermes.Result{}, nil
}

func named(names ...string) []hermes.Tool {
	var tools []hermes.Tool
	for _, n := range names {
		tools = append(tools, tool{spec: hermes.Spec{Name: n}})
	}
	return tools
}
