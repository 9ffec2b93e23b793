package turn

import (
	"bytes"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/order"
)

// Callable returns the tools that calls can run, sorted by name: those that are listed, and those
// of deferrable toolsets.
func Callable(tools hermes.Tools) []hermes.Spec {
	specs := tools.Specs()
	grouped, ok := tools.(hermes.GroupedTools)
	if !ok {
		return specs
	}
	listed := map[string]bool{}
	for _, s := range specs {
		listed[s.Name] = true
	}
	specs = slices.Clone(specs)
	for _, g := range grouped.Groups() {
		for _, s := range g.Tools {
			if !listed[s.Name] {
				specs = append(specs, s)
			}
		}
	}
	order.By(specs, func(a, b hermes.Spec) int { return strings.Compare(a.Name, b.Name) })
	return specs
}

// Deferred returns the tools of deferrable toolsets that a model is not offered as they are now;
// see [hermes.DeferringHost].
func Deferred(tools hermes.Tools, offered []hermes.Spec) []hermes.ToolGroup {
	grouped, ok := tools.(hermes.GroupedTools)
	if !ok {
		return nil
	}
	seen := map[string]hermes.Spec{}
	for _, s := range offered {
		seen[s.Name] = s
	}
	var out []hermes.ToolGroup
	for _, g := range grouped.Groups() {
		g.Tools = slices.DeleteFunc(g.Tools, func(s hermes.Spec) bool {
			was, ok := seen[s.Name]
			return ok && same(was, s)
		})
		if len(g.Tools) > 0 || !g.Known {
			out = append(out, g)
		}
	}
	return out
}

// same reports whether a model sees two tools as equal.
func same(a, b hermes.Spec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}
