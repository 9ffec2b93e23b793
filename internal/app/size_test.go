package app_test

import (
	"testing"

	"hermes"
	"hermes/internal/app"
)

// TestFirstRequestStaysSmall limits the bytes that every request begins with.
func TestFirstRequestStaysSmall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		toolsets []string
		most     int
	}{
		"files, shell and plan": {[]string{"file", "terminal", "todo"}, 12 << 10},
		"all default tools":     {nil, 16_000},
	} {
		a := app.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }})
		p, specs, err := a.Measure(t.Context(), hermes.RunSpec{Workspace: hermes.Workspace{Dir: t.TempDir()}, Tools: hermes.ToolChoice{Enabled: tt.toolsets}})
		if err != nil {
			t.Fatal(err)
		}
		n := len(p.Text())
		for _, s := range specs {
			n += len(s.Name) + len(s.Description) + len(s.Schema) + 60 // the frame on the wire
		}
		if n > tt.most {
			t.Errorf("%s: %d bytes, at most %d", name, n, tt.most)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
