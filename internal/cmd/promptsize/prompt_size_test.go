package promptsize_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/cmd/promptsize"
	"hermes/internal/prompt"
)

func measure(_ context.Context, platform string) (prompt.Prompt, []hermes.Spec, error) {
	if platform == "broken" {
		return prompt.Prompt{}, nil, errors.New("no such platform")
	}
	return prompt.Prompt{
			Sections: []prompt.Section{{Name: "identity", Tier: prompt.Stable, Text: "You are."}, {Name: "session", Tier: prompt.Volatile, Text: platform}},
			Warnings: []string{"AGENTS.md was left out"},
		}, []hermes.Spec{
			{Name: "a", Description: "Does <a>.", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "bigger", Description: strings.Repeat("x", 100), Schema: json.RawMessage(`{"type":"object"}`)},
		}, nil
}

func run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := promptsize.New(measure)
	c.SetArgs(arguments)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

func TestJSONShowsWhereEveryByteGoes(t *testing.T) {
	t.Parallel()
	out, err := run(t, "--json", "--platform", "cron")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Platform string
		System   struct {
			Bytes    int
			Sections []struct {
				Name, Tier string
				Bytes      int
			}
		}
		Tools struct {
			Bytes, Count int
			Tools        []struct {
				Name  string
				Bytes int
			}
		}
		Total  int `json:"total_bytes"`
		Tokens int `json:"estimated_tokens"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	wire := `{"type":"function","function":{"name":"a","description":"Does <a>.","parameters":{"type":"object"}}}`
	if got.Platform != "cron" || got.System.Bytes != len("You are.\n\ncron") || len(got.System.Sections) != 2 || got.Tools.Count != 2 || got.Tools.Tools[0].Bytes != len(wire) {
		t.Errorf("got %+v", got)
	}
	if sum := got.System.Bytes + got.Tools.Tools[0].Bytes + got.Tools.Tools[1].Bytes; got.Total != sum || got.Tokens != (sum+3)/4 {
		t.Errorf("total %d and %d tokens, want %d", got.Total, got.Tokens, sum)
	}
}

func TestTextPutsTheLargestToolFirst(t *testing.T) {
	t.Parallel()
	out, err := run(t)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Index(out, "bigger") > strings.Index(out, "  a ") || !strings.Contains(out, "identity") || !strings.Contains(out, "Every request begins with") || !strings.Contains(out, "AGENTS.md was left out") {
		t.Errorf("got:\n%s", out)
	}
}

func TestFailuresAreReturned(t *testing.T) {
	t.Parallel()
	if _, err := run(t, "--platform", "broken"); err == nil || !strings.Contains(err.Error(), "no such platform") {
		t.Errorf("got %v", err)
	}
	if _, err := run(t, "extra"); err == nil {
		t.Error("an argument too many was taken")
	}
}
