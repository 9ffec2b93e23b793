// Package found words what the memories that come along find, within the limit that Hermes gives, and
// what they send. It knows none of them.
package found

import (
	"context"
	"strings"

	"hermes/internal/plugin/sdk"
	"hermes/internal/text"
)

const (
	// longest is the longest single text, in characters.
	longest = 2_000
	// MaxQuery bounds what is searched for, in characters: services refuse longer questions.
	MaxQuery = 800
)

// List words texts as a list, best first: each once, as many as fit into a number of characters.
func List(texts []string, most int) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, t := range texts {
		t = text.Cut(strings.TrimSpace(t), longest)
		if t == "" || seen[t] {
			continue
		}
		seen[t] = true
		item := "- " + strings.ReplaceAll(t, "\n", "\n  ") + "\n"
		if most -= len([]rune(item)); most < 0 {
			break
		}
		b.WriteString(item)
	}
	return strings.TrimSpace(b.String())
}

// Query bounds what is searched for.
func Query(q string) string {
	q = strings.Join(strings.Fields(q), " ")
	if r := []rune(q); len(r) > MaxQuery {
		return string(r[:MaxQuery])
	}
	return q
}

// Command is `hermes memory PLUGIN search WORDS`, which shows what would be recalled.
func Command(recall func(ctx context.Context, c *sdk.Call, query string, limit int) (string, error)) sdk.MemoryCommand {
	return sdk.MemoryCommand{Name: "search", Args: "WORDS", Help: "Show what is recalled for a message", Run: func(ctx context.Context, c *sdk.Call, args []string) (string, int, error) {
		if len(args) == 0 {
			return "Say what to search for.\n", 2, nil
		}
		got, err := recall(ctx, c, strings.Join(args, " "), 10_000)
		if err != nil {
			return err.Error() + "\n", 1, nil
		}
		if got == "" {
			return "Nothing found.\n", 0, nil
		}
		return got + "\n", 0, nil
	}}
}
