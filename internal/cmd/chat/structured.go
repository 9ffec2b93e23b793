package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/jsonrepair"
	"hermes/internal/jsonschema"
	"hermes/internal/lazy"
	"hermes/internal/protocol"
)

// readSchema reads the file of --schema.
func readSchema(path string) (*jsonschema.Schema, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("--schema: %w; name a readable file with a JSON Schema", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, jsonschema.MaxSize+1))
	if err != nil {
		return nil, usage("--schema: %w; name a readable file with a JSON Schema", err)
	}
	s, err := jsonschema.Read(text)
	if err != nil {
		return nil, usage("--schema: %s is not a JSON Schema that can be used: %w", path, err)
	}
	return s, nil
}

// asksFor tells the model which form the answer has.
func asksFor(s *jsonschema.Schema) string {
	return "Your final answer must be one JSON value that fits this JSON Schema, and nothing else: no explanation, no code fence.\n\n" + s.String()
}

// errUnfit is an answer that does not fit the schema.
var errUnfit = errors.New("the answer does not fit the JSON Schema")

// fit reads the answer as JSON that fits the schema. If it does not, the model is told why and
// answers once more.
func (o *Options) fit(ctx context.Context, client protocol.Client, id string, r *recorder, a *answer) error {
	value, problem := structured(a.done.Text, o.schema)
	if problem != nil {
		again := fmt.Sprintf("That answer does not fit the JSON Schema: %v. Send the whole answer again as one JSON value that fits it, and nothing else.", problem)
		if err := o.turn(ctx, client, id, []hermes.Part{{Text: again}}, r, a); err != nil {
			return err
		}
		if value, problem = structured(a.done.Text, o.schema); problem != nil {
			return fmt.Errorf("%w, also when it was sent again: %w", errUnfit, problem)
		}
	}
	a.value = value
	return nil
}

// structured returns the JSON value of an answer with sorted names in one line, or why there is
// none that fits the schema.
func structured(text string, s *jsonschema.Schema) (json.RawMessage, error) {
	raw, err := jsonOf(text)
	if err != nil {
		return nil, err
	}
	if name, twice := argument.Repeated(raw); twice {
		return nil, fmt.Errorf("the name %q is there twice in one object", name)
	}
	if err := s.Check(raw); err != nil {
		return nil, err
	}
	return argument.Encode(argument.Decode(raw))
}

var fenced = lazy.Regexp("(?s)^[^`{\\[]*```[a-zA-Z]*[ \t]*\r?\n(.*?)\n?[ \t]*```[^`]*$")

// jsonOf returns the JSON of an answer: the whole text, or the only code block. Small mistakes that
// leave no doubt are repaired.
func jsonOf(text string) ([]byte, error) {
	if m := fenced().FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	raw := []byte(strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF")))
	if len(raw) == 0 {
		return nil, errors.New("it is empty")
	}
	repaired, how := jsonrepair.Repair(raw)
	if how == jsonrepair.Intact || how == jsonrepair.Repaired && bytes.Equal(content(raw), content(repaired)) {
		return bytes.TrimSpace(repaired), nil
	}
	return nil, errors.New("it is not one valid JSON value")
}

// content is a JSON text without what a repair may change and nothing is lost with: blanks, commas,
// control characters and how they are written, and the spelling of true, false and null.
func content(text []byte) []byte {
	plain := strings.NewReplacer(`\\`, `\\`, `\n`, "", `\r`, "", `\t`, "", "True", "true", "False", "false", "None", "null").Replace(string(text))
	return []byte(strings.Map(func(r rune) rune {
		if r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, plain))
}
