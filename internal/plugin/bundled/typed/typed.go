// Package typed makes tools of plugins from functions whose arguments are structs, as hermes.NewTool
// does for tools of the program. It knows no plugin.
package typed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"hermes"
	"hermes/internal/plugin/sdk"
)

// Spec describes a tool.
type Spec struct {
	Name, Description string
	// Reads says that no call changes anything. Such calls may run at the same time.
	Reads bool
}

// Tool returns a tool that runs a function. The schema comes from In, see [hermes.SchemaOf]; an argument
// that it requires is there. What the function returns is sent as it is if it is a text, else as JSON.
// Its errors are for the model.
func Tool[In any](s Spec, run func(ctx context.Context, c *sdk.Call, in In) (any, error)) sdk.Tool {
	schema := hermes.SchemaOf[In]()
	var needs struct{ Required []string }
	if err := json.Unmarshal(schema, &needs); err != nil {
		panic(err) // SchemaOf makes JSON
	}
	t := sdk.Tool{Name: s.Name, Description: s.Description, Schema: schema, Parallel: s.Reads}
	if s.Reads {
		t.Effect = "none"
	}
	t.Run = func(ctx context.Context, c *sdk.Call, arguments json.RawMessage) (sdk.Result, error) {
		var in In
		if err := decode(arguments, needs.Required, &in); err != nil {
			return sdk.Result{}, sdk.Failure{Text: err.Error()}
		}
		out, err := run(ctx, c, in)
		if err != nil {
			return sdk.Result{}, sdk.Failure{Text: err.Error()}
		}
		if text, ok := out.(string); ok {
			return sdk.Result{Text: text}, nil
		}
		text, err := plain(out)
		return sdk.Result{Text: text}, err
	}
	return t
}

func decode(arguments json.RawMessage, required []string, into any) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &given); err != nil {
		return fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	for _, name := range required {
		if v, ok := given[name]; !ok || string(v) == "null" {
			return fmt.Errorf("%s is missing; add it and call the tool again", name)
		}
	}
	if err := json.Unmarshal(arguments, into); err != nil {
		return fmt.Errorf("the arguments do not match the schema: %w", err)
	}
	return nil
}

// plain is JSON without escapes for HTML.
func plain(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}
