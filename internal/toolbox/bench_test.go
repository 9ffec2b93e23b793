package toolbox_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/redact"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
)

func BenchmarkRun(b *testing.B) {
	text := `{"output":"` + strings.Repeat(`ok   hermes/internal/x 0.012s\n`, 60) + `","exit_code":0}`
	spec := hermes.Spec{Name: "terminal", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`)}
	offered := []hermes.Tool{tool{spec: spec, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
		return hermes.Result{Text: text}, nil
	}}}
	set, err := toolset.NewCatalogue([]hermes.Toolset{&group{name: "terminal", tools: offered}}, nil, nil).Select(context.Background(), toolset.Selection{})
	if err != nil {
		b.Fatal(err)
	}
	tools := toolbox.New(toolbox.Options{Set: set, Redact: redact.New(redact.Options{Known: []string{"not in the text"}}).Text, Limits: toolbox.Limits{Turn: 1 << 40}})
	c := call("terminal", `{"command":"go test ./...","timeout":"60"}`)
	b.ReportAllocs()
	for b.Loop() {
		if r := tools.Run(context.Background(), c); r.Failed {
			b.Fatal(r.Text)
		}
	}
}
