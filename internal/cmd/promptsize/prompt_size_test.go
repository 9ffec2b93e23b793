package promptsize_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/promptsize"
	"hermes/internal/prompt"
)

func measure(_ context.Context, platform string) (promptsize.Measured, error) {
	if platform == "broken" {
		return promptsize.Measured{}, errors.New("no such platform")
	}
	return promptsize.Measured{
		Prompt: prompt.Prompt{
			Sections: []prompt.Section{
				{Name: "identity", Tier: prompt.Stable, Text: "You are."},
				{Name: "session", Tier: prompt.Volatile, Text: platform, Was: 900, Why: "it was long"},
			},
			Warnings: []string{"AGENTS.md was left out"},
		},
		Tools: []hermes.Spec{
			{Name: "a", Description: "Does <a>.", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "bigger", Description: strings.Repeat("x", 100), Schema: json.RawMessage(`{"type":"object"}`)},
		},
		Model: "p:m", Window: 1000, Price: &hermes.Price{Input: hermes.USD(10), CacheRead: hermes.USD(1)},
	}, nil
}

func run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := promptsize.NewCmd(factory.New(app.Options{}, factory.IO{}), measure)
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
				Was        int `json:"bytes_before"`
				Why        string
			}
		}
		Tools struct {
			Bytes, Count int
			Tools        []struct {
				Name  string
				Bytes int
			}
		}
		Total  int     `json:"total_bytes"`
		Tokens int     `json:"estimated_tokens"`
		Window int     `json:"window_tokens"`
		Fresh  float64 `json:"usd_fresh"`
		Cached float64 `json:"usd_cached"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	wire := `{"type":"function","function":{"name":"a","description":"Does <a>.","parameters":{"type":"object"}}}`
	if got.Platform != "cron" || got.System.Bytes != len("You are.\n\ncron") || len(got.System.Sections) != 2 || got.Tools.Count != 2 || got.Tools.Tools[0].Bytes != len(wire) {
		t.Errorf("got %+v", got)
	}
	if sum := got.System.Bytes + got.Tools.Tools[0].Bytes + got.Tools.Tools[1].Bytes; got.Total != sum || got.Tokens < sum/4 || got.Tokens > sum/4+3 {
		t.Errorf("total %d and %d tokens, want %d", got.Total, got.Tokens, sum)
	}
	if s := got.System.Sections[1]; s.Was != 900 || s.Why != "it was long" {
		t.Errorf("what was shortened: %+v", s)
	}
	if got.Window != 1000 || got.Fresh != float64(got.Tokens)*10/1e6 || got.Cached >= got.Fresh || got.Cached == 0 {
		t.Errorf("window %d, %v fresh, %v cached", got.Window, got.Fresh, got.Cached)
	}
}

func TestTextPutsTheLargestToolFirst(t *testing.T) {
	t.Parallel()
	out, err := run(t)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Index(out, "bigger") > strings.Index(out, "  a ") || !strings.Contains(out, "identity") || !strings.Contains(out, "Every request begins with") || !strings.Contains(out, "AGENTS.md was left out") ||
		!strings.Contains(out, "% of the window of p:m (1000)") || !strings.Contains(out, "with p:m, and $") {
		t.Errorf("got:\n%s", out)
	}
	rows := strings.Split(out, "\n")
	if !strings.HasSuffix(rows[0], " bytes  tokens  window") {
		t.Errorf("the heading is %q", rows[0])
	}
	end := len(rows[0]) - len("  tokens  window")
	for _, row := range rows[1 : len(rows)-1] {
		if strings.HasSuffix(row, " ") {
			t.Errorf("%q has blanks at its end", row)
		}
		if strings.HasPrefix(row, "  ") && (row[end-1] == ' ' || row[end] != ' ') {
			t.Errorf("the bytes of %q are not below their heading:\n%s", row, out)
		}
	}
}

func TestFailuresAreReturned(t *testing.T) {
	t.Parallel()
	if _, err := run(t, "--platform", "broken"); err == nil || !strings.Contains(err.Error(), "no such platform") {
		t.Errorf("got %v", err)
	}
	if _, err := run(t, "extra"); err == nil {
		t.Error("an extra argument was accepted")
	}
}
