package hermes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

func TestOpenCalls(t *testing.T) {
	t.Parallel()
	ask := hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "a"}, {ID: "b"}}}
	answer := func(id string) hermes.Message { return hermes.Message{Role: hermes.RoleTool, CallID: id} }
	for name, tt := range map[string]struct {
		transcript []hermes.Message
		want       []hermes.ToolCall
	}{
		"nothing":         {nil, nil},
		"none answered":   {[]hermes.Message{ask}, []hermes.ToolCall{{ID: "a"}, {ID: "b"}}},
		"one answered":    {[]hermes.Message{ask, answer("b")}, []hermes.ToolCall{{ID: "a"}}},
		"all answered":    {[]hermes.Message{ask, answer("b"), answer("a")}, nil},
		"words follow":    {[]hermes.Message{ask, answer("a"), answer("b"), {Role: hermes.RoleAssistant}}, nil},
		"only a question": {[]hermes.Message{hermes.UserText("hi")}, nil},
		"an older batch":  {[]hermes.Message{ask, answer("a"), answer("b"), hermes.UserText("go on")}, nil},
	} {
		if diff := cmp.Diff(tt.want, hermes.OpenCalls(tt.transcript)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAssemblyFoldsDeltas(t *testing.T) {
	t.Parallel()
	var a hermes.Assembly
	for _, d := range []hermes.Delta{
		{Text: "lost"}, {Reset: "again"},
		{Reasoning: "hm"}, {Text: "Hel"}, {Text: "lo"},
		{Call: &hermes.CallDelta{Index: 1, ID: "2", Name: "b", Arguments: `{"x"`}},
		{Call: &hermes.CallDelta{Index: 0, ID: "1", Name: "a"}},
		{Call: &hermes.CallDelta{Index: 1, ID: "2", Name: "b", Arguments: `:1}`}},
		{Usage: &hermes.Usage{Input: 3}}, {Finish: hermes.FinishCalls}, {Model: "p:m"},
	} {
		a.Add(d)
	}
	want := hermes.Message{
		Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "Hello"}},
		Calls:     []hermes.ToolCall{{ID: "1", Name: "a"}, {ID: "2", Name: "b", Arguments: `{"x":1}`}},
		Reasoning: []hermes.Reasoning{{Text: "hm"}}, Finish: hermes.FinishCalls, Usage: &hermes.Usage{Input: 3}, Model: "p:m",
	}
	if diff := cmp.Diff(want, a.Message()); diff != "" {
		t.Error(diff)
	}
}

func TestHiddenPartsAreNotVisible(t *testing.T) {
	t.Parallel()
	m := hermes.Message{Parts: []hermes.Part{{Text: "recalled", Hidden: true}, {Text: "hello"}}}
	if m.Visible() != "hello" || m.Text() != "recalled\nhello" {
		t.Errorf("visible %q, text %q", m.Visible(), m.Text())
	}
	if only := (hermes.Message{Parts: m.Parts[:1]}); only.Visible() != "" {
		t.Errorf("visible %q", only.Visible())
	}
}

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	const value = "sk-very-secret"
	holder := struct{ Key hermes.Secret }{value}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", holder.Key, "all", holder)
	for _, text := range []string{
		fmt.Sprint(holder), fmt.Sprintf("%v %+v %#v %s %q", holder, holder, holder, holder.Key, holder.Key), string(encoded), log.String(),
		fmt.Sprint(fmt.Errorf("bad key %v", holder.Key)),
	} {
		if strings.Contains(text, value) {
			t.Errorf("printed: %s", text)
		}
	}
	if holder.Key.Reveal() != value {
		t.Error("the secret is lost")
	}
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("ask: %w", &hermes.ModelError{Class: hermes.ClassOverflow, Provider: "p", Model: "m", Status: 400, Message: "too long"})
	if hermes.ClassOf(err) != hermes.ClassOverflow {
		t.Error("the class is not found in the chain")
	}
	if hermes.ClassOf(errors.New("x")) != hermes.ClassUnknown || hermes.ClassOf(nil) != hermes.ClassUnknown {
		t.Error("an error that is not a model error has a class")
	}
	if got := (&hermes.ModelError{Class: hermes.ClassAuth, Provider: "p", Status: 401, Message: "no"}).Error(); !strings.Contains(got, "hermes auth") {
		t.Errorf("no next step: %q", got)
	}
	if got := err.Error(); got != "ask: p (m) answered with status 400: too long" {
		t.Errorf("text %q", got)
	}
}
