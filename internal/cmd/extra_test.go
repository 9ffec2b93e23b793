package cmd_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/cmd"
	"hermes/internal/lineage"
)

// weather is a custom toolset with one tool.
type weather struct{}

func (weather) Name() string                     { return "weather" }
func (weather) Available(context.Context) string { return "" }
func (weather) Tools(context.Context) ([]hermes.Tool, error) {
	type arguments struct {
		City string `json:"city" doc:"name of the city"`
	}
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: "weather", Description: "Tell the weather of a city.", Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
	}, func(_ context.Context, _ *hermes.Call, in arguments) (hermes.Result, error) {
		return hermes.JSONResult(map[string]string{"city": in.City, "sky": "clear"})
	})}, nil
}

// TestOwnToolIsOfferedAndRuns follows docs/adding.md: a tool in one file, passed
// to the program in one line.
func TestOwnToolIsOfferedAndRuns(t *testing.T) {
	t.Parallel()
	offered := false
	env := serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		for _, tool := range r.Tools {
			offered = offered || tool.Function.Name == "weather"
		}
		if results(r) == 0 {
			return call("weather", map[string]string{"city": "Oslo"}), nil
		}
		return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
	})
	env = append(env, "HERMES_HOME="+t.TempDir())
	getenv := func(name string) string {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		return ""
	}
	var out, errs bytes.Buffer
	status := cmd.Main(cmd.Process{
		Args: []string{"-z", "how is Oslo?", "-m", "played", "--in", ""}, Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &errs, Getenv: getenv, Extra: []hermes.Toolset{weather{}},
		Announce: func() (func(), error) { return func() {}, nil }, Above: func() lineage.Above { return lineage.Above{} },
	})
	if status != 0 || !offered || !strings.Contains(out.String(), `"sky":"clear"`) {
		t.Errorf("status %d, offered %v: %s%s", status, offered, out.String(), errs.String())
	}
}
