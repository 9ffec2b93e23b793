package hermes_test

import (
	"context"
	"encoding/json"
	"fmt"

	"hermes"
)

// A tool is an argument struct, a Spec and a function. The struct's tags are
// the schema that the model sees.
func ExampleNewTool() {
	type arguments struct {
		City string `json:"city" doc:"name of the city"`
		Days int    `json:"days,omitempty" doc:"how many days ahead" default:"1" min:"1" max:"7"`
	}
	weather := hermes.NewTool(hermes.Spec{
		Name:        "weather",
		Description: "Report the weather in a city.",
		Mode:        hermes.ModeParallel,
		Effect:      hermes.EffectNone,
	}, func(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
		if in.City == "" {
			return hermes.Result{}, fmt.Errorf("city is empty; name one, such as Paris")
		}
		return hermes.JSONResult(map[string]any{"city": in.City, "sky": "clear"})
	})

	fmt.Println(string(weather.Spec().Schema))
	r, err := weather.Run(context.Background(), &hermes.Call{Name: "weather", Arguments: json.RawMessage(`{"city":"Oslo"}`)})
	fmt.Println(r.Text, err)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"name of the city"},"days":{"type":"integer","minimum":1,"maximum":7,"description":"how many days ahead","default":1}},"required":["city"]}
	// {"city":"Oslo","sky":"clear"} <nil>
}
