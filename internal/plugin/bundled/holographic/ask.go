package holographic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"hermes/internal/order"
	"hermes/internal/plugin/sdk"
	"hermes/internal/text"
)

// result is a fact that was found.
type result struct {
	*fact
	Score float64 `json:"score"`
}

// filter is which facts are looked at.
type filter struct {
	category string
	least    float64 // trust
}

func (f filter) fits(one *fact) bool {
	return one.Trust >= f.least && (f.category == "" || strings.EqualFold(one.Category, f.category))
}

// ranked returns the best facts by a score; those with 0 are left out.
func ranked(facts []*fact, f filter, limit int, score func(*fact) float64) []result {
	list := []result{}
	for _, one := range facts {
		if !f.fits(one) {
			continue
		}
		if s := score(one); s > 0 {
			list = append(list, result{one, math.Round(s*1000) / 1000})
		}
	}
	order.By(list, func(a, b result) int { return cmp.Or(cmp.Compare(b.Score, a.Score), b.At.Compare(a.At)) })
	return list[:min(len(list), limit)]
}

// search finds facts by words, with the vectors of words beside them, weighed by trust.
func search(facts []*fact, query string, f filter, limit int) []result {
	asked := words(query)
	if len(asked) == 0 {
		return []result{}
	}
	probe := bind(atom(roleWord), bag(asked))
	return ranked(facts, f, limit, func(one *fact) float64 {
		common := overlap(asked, one.words)
		if common == 0 {
			return 0
		}
		return (0.7*common + 0.3*max(0, similar(one.vec, probe))) * one.Trust
	})
}

// noise is the similarity of a vector to n others that it has nothing to do with, seldom exceeded.
func noise() float64 { return 4 / math.Sqrt(2*dimension) }

// about finds facts that hold all of some entities: a fact counts as much as what it holds least of.
func about(facts []*fact, list []string, f filter, limit int) []result {
	return ranked(facts, f, limit, func(one *fact) float64 {
		least := math.Inf(1)
		for _, e := range list {
			least = min(least, holds(one.vec, e))
		}
		if least < noise() {
			return 0
		}
		return least * one.Trust
	})
}

// related finds the facts that hold what is named together with an entity, but not the entity itself.
func related(facts []*fact, entity string, f filter, limit int) []result {
	near := map[string]bool{}
	for _, r := range about(facts, []string{entity}, filter{}, len(facts)) {
		for _, e := range r.Entities {
			if !strings.EqualFold(e, entity) {
				near[e] = true
			}
		}
	}
	return ranked(facts, f, limit, func(one *fact) float64 {
		if holds(one.vec, entity) >= noise() {
			return 0
		}
		most := 0.0
		for e := range near {
			if s := holds(one.vec, e); s >= noise() {
				most = max(most, s)
			}
		}
		return most * one.Trust
	})
}

// conflict is two facts about the same that say different things.
type conflict struct {
	A     result  `json:"a"`
	B     result  `json:"b"`
	Score float64 `json:"score"`
}

// contradict finds facts that share entities and few words. The newest facts are compared, because all pairs
// of many take long.
func contradict(facts []*fact, f filter, limit int) []conflict {
	var some []*fact
	for _, one := range facts {
		if f.fits(one) && len(one.Entities) > 0 {
			some = append(some, one)
		}
	}
	some = some[max(0, len(some)-500):]
	list := []conflict{}
	for i, a := range some {
		for _, b := range some[i+1:] {
			shared := 0.0
			for _, e := range a.Entities {
				if slices.ContainsFunc(b.Entities, func(o string) bool { return strings.EqualFold(o, e) }) {
					shared++
				}
			}
			shared /= float64(max(len(a.Entities), len(b.Entities)))
			alike := (overlap(a.words, b.words) + overlap(b.words, a.words)) / 2
			if s := shared * (1 - alike); shared >= 0.5 && alike < 0.8 {
				list = append(list, conflict{result{a, 0}, result{b, 0}, math.Round(s*1000) / 1000})
			}
		}
	}
	order.By(list, func(a, b conflict) int { return cmp.Compare(b.Score, a.Score) })
	return list[:min(len(list), limit)]
}

type storeArgs struct {
	Action   string   `json:"action" enum:"add,search,probe,related,reason,contradict,update,remove,list"`
	Content  string   `json:"content,omitempty" doc:"add, update: the fact, in one sentence"`
	Query    string   `json:"query,omitempty" doc:"search: words"`
	Entity   string   `json:"entity,omitempty" doc:"probe, related: a person or a thing, as it is named"`
	Entities []string `json:"entities,omitempty" doc:"reason: those that a fact has to have; add, update: what the fact names, if that is not plain from capital letters"`
	FactID   int      `json:"fact_id,omitempty" doc:"update, remove"`
	Category string   `json:"category,omitempty" doc:"add, update: such as user_pref, project, tool, general; else only those of it"`
	Tags     []string `json:"tags,omitempty" doc:"add, update"`
	Trust    float64  `json:"trust_delta,omitempty" doc:"update: change of trust, from -1 to 1" min:"-1" max:"1"`
	Least    float64  `json:"min_trust,omitempty" doc:"only facts with at least this trust" min:"0" max:"1"`
	Limit    int      `json:"limit,omitempty" default:"10" min:"1" max:"50"`
}

const storeActions = "add,search,probe,related,reason,contradict,update,remove,list"

// act is the tool fact_store.
func (m *memory) act(ctx context.Context, _ *sdk.Call, in storeArgs) (any, error) {
	if in.Limit <= 0 || in.Limit > 50 {
		in.Limit = 10
	}
	switch in.Action {
	case "add", "update", "remove":
		return m.write(ctx, in)
	case "search", "list", "probe", "related", "reason", "contradict":
	default:
		return nil, fmt.Errorf("there is no action %q; there are %s", in.Action, strings.ReplaceAll(storeActions, ",", ", "))
	}
	f := filter{in.Category, in.Least}
	var needs error
	var out any
	err := m.store.view(func(facts []*fact) { out, needs = ask(facts, in, f) })
	return out, errors.Join(err, needs)
}

// ask answers a question with copies of facts.
func ask(facts []*fact, in storeArgs, f filter) (any, error) {
	var list []result
	switch in.Action {
	case "search":
		if strings.TrimSpace(in.Query) == "" {
			return nil, errors.New("query is missing; say what to search for")
		}
		list = search(facts, in.Query, f, in.Limit)
	case "list":
		list = ranked(facts, f, in.Limit, func(*fact) float64 { return 1 })
	case "probe", "related":
		if strings.TrimSpace(in.Entity) == "" {
			return nil, errors.New("entity is missing; name a person or a thing")
		}
		if list = about(facts, []string{in.Entity}, f, in.Limit); in.Action == "related" {
			list = related(facts, in.Entity, f, in.Limit)
		}
	case "reason":
		if len(in.Entities) == 0 {
			return nil, errors.New("entities is missing; name what a fact has to be about")
		}
		list = about(facts, in.Entities, f, in.Limit)
	case "contradict":
		pairs := contradict(facts, f, in.Limit)
		for i := range pairs {
			pairs[i].A.fact, pairs[i].B.fact = pairs[i].A.copied(), pairs[i].B.copied()
		}
		return map[string]any{"pairs": pairs}, nil
	}
	for i := range list {
		list[i].fact = list[i].copied()
	}
	return map[string]any{"facts": list, "of": len(facts)}, nil
}

func (m *memory) write(ctx context.Context, in storeArgs) (out any, err error) {
	in.Content = strings.TrimSpace(in.Content)
	if in.Action == "add" && in.Content == "" {
		return nil, errors.New("content is missing; say what to remember, in one sentence")
	}
	if len([]rune(in.Content)) > longestFact {
		return nil, fmt.Errorf("content has more than %d characters; make several facts of it", longestFact)
	}
	err = m.store.change(ctx, func(all *file) error {
		if in.Action == "add" {
			f := all.add(fact{Content: in.Content, Category: cmp.Or(in.Category, "general"), Tags: in.Tags, Entities: in.Entities, Trust: m.Trust, At: m.Now().UTC()})
			out = map[string]any{"fact_id": f.ID, "entities": f.Entities, "trust": f.Trust}
			return nil
		}
		f, err := all.find(in.FactID)
		if err != nil {
			return err
		}
		if in.Action == "remove" {
			all.Facts = slices.DeleteFunc(all.Facts, func(o *fact) bool { return o == f })
			out = map[string]any{"removed": text.Cut(f.Content, 200)}
			return nil
		}
		if in.Content != "" {
			f.Content, f.Entities, f.At = in.Content, entities(in.Content), m.Now().UTC()
		}
		f.Category = cmp.Or(in.Category, f.Category)
		if in.Tags != nil {
			f.Tags = in.Tags
		}
		if in.Entities != nil {
			f.Entities = in.Entities
		}
		f.prepare()
		f.trust(in.Trust)
		out = map[string]any{"fact_id": f.ID, "content": f.Content, "trust": f.Trust}
		return nil
	})
	return out, err
}

type feedbackArgs struct {
	Action string `json:"action" enum:"helpful,unhelpful"`
	FactID int    `json:"fact_id"`
}

// rate is the tool fact_feedback.
func (m *memory) rate(ctx context.Context, _ *sdk.Call, in feedbackArgs) (out any, err error) {
	by := map[string]float64{"helpful": helpful, "unhelpful": unhelpful}[in.Action]
	if by == 0 {
		return nil, fmt.Errorf("there is no action %q; there are helpful and unhelpful", in.Action)
	}
	err = m.store.change(ctx, func(all *file) error {
		f, err := all.find(in.FactID)
		if err != nil {
			return err
		}
		before := f.Trust
		if f.trust(by); by > 0 {
			f.Helpful++
		}
		out = map[string]any{"fact_id": f.ID, "trust_before": before, "trust": f.Trust}
		return nil
	})
	return out, err
}
