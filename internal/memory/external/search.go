package external

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"hermes"
	"hermes/internal/memory/scan"
	"hermes/internal/text"
)

//go:embed memory_search.md
var searchDoc string

type searchArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty" min:"1" max:"30"`
}

type searchReport struct {
	Memories []string `json:"memories"`
	Note     string   `json:"note,omitempty"`
}

// SearchTool lets the model search what a memory service remembers.
func SearchTool(find func(ctx context.Context, query string, limit int) ([]string, error)) hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name: "memory_search", Description: strings.TrimSpace(searchDoc), Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
	}, func(ctx context.Context, c *hermes.Call, in searchArgs) (hermes.Result, error) {
		if c.Host.Session().Depth > 0 {
			return hermes.Result{}, errors.New("a subagent has no memory")
		}
		if strings.TrimSpace(in.Query) == "" {
			return hermes.Result{}, errors.New("query is empty; send words to search for")
		}
		if in.Limit == 0 {
			in.Limit = 10
		}
		found, err := find(ctx, in.Query, in.Limit)
		if err != nil {
			return hermes.Result{}, err
		}
		r := searchReport{Memories: []string{}}
		for _, m := range found {
			if m = strings.TrimSpace(m); m != "" && scan.Orders(m) == "" && len(r.Memories) < in.Limit {
				r.Memories = append(r.Memories, text.Cut(m, 2000))
			}
		}
		if len(r.Memories) == 0 {
			r.Note = "no memory matches; try other words"
		}
		return hermes.JSONResult(r)
	})
}
