package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/toolset"
)

// CallOf returns a call of a tool on a subject, such as a command or a path, for [Toolbox.Verdict]. What the
// schema requires beside it is empty.
func (b *Toolbox) CallOf(tool, subject string) (*hermes.Call, error) {
	m, ok := b.set().Find(tool)
	if !ok {
		var names []string
		for _, s := range b.Specs() {
			names = append(names, s.Name)
		}
		return nil, fmt.Errorf("there is no tool %q in this session; the tools are %s", tool, strings.Join(names, ", "))
	}
	shape := m.Shape()
	properties, _ := shape["properties"].(map[string]any)
	given := map[string]any{}
	if required, ok := shape["required"].([]any); ok {
		for _, name := range required {
			if name, ok := name.(string); ok {
				given[name] = ""
			}
		}
	}
	mains, known := mainArguments[toolset.Canonical(m.Spec.Name)]
	if !known {
		mains = usual
	}
	if m.Spec.Name == "search_files" { // its subject is where it looks
		mains = []string{"path"}
	}
	if subject != "" {
		i := slices.IndexFunc(mains, func(name string) bool { return properties[name] != nil })
		if i < 0 {
			return nil, fmt.Errorf("the calls of %s have no subject; give the arguments as JSON", m.Spec.Name)
		}
		given[mains[i]] = subject
	}
	arguments, err := argument.Encode(given)
	if err != nil {
		return nil, err
	}
	return &hermes.Call{ID: "sample", Name: m.Spec.Name, Arguments: json.RawMessage(arguments)}, nil
}

// Verdict says what would become of a call, by the same way as [Toolbox.Run] and without running or asking.
// An error means that its arguments do not fit the tool.
func (b *Toolbox) Verdict(ctx context.Context, c *hermes.Call) (Verdict, error) {
	ready, problem := b.prepare(c)
	if problem != "" {
		return Verdict{}, errors.New(problem)
	}
	return b.decide(ctx, ready), nil
}
