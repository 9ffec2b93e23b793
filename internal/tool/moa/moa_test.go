package moa_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/tool/moa"
)

// panel answers as its models; those in broken fail.
type panel struct {
	broken []string
	by     map[string]string // who answers for others

	mu    sync.Mutex
	asked []moa.Question
	meet  *sync.WaitGroup // of the references; may be nil
}

func (p *panel) ask(ctx context.Context, q moa.Question) (answer, by string, err error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	if q.Task == moa.Reference && p.meet != nil {
		p.meet.Done()
		p.meet.Wait()
	}
	if slices.Contains(p.broken, q.Slot.Model) {
		return "", "", fmt.Errorf("%s is down", q.Slot.Model)
	}
	if q.Task == moa.Aggregator {
		return "the best of " + fmt.Sprint(strings.Count(q.Prompt, "end of answer")), "", nil
	}
	return "says " + q.Slot.Model, p.by[q.Slot.Model], nil
}

func (p *panel) set() *moa.Toolset {
	return moa.New(moa.Config{
		Presets: map[string]moa.Preset{
			"three": {References: []moa.Slot{{Model: "a"}, {Model: "b", Effort: hermes.EffortHigh}, {Model: "c"}}, Aggregator: moa.Slot{Model: "z"}},
			"empty": {},
		},
		Default: "three", Ask: p.ask,
	})
}

func quiet(string) {}

// TestTheModelsAnswerAtOnce and without each other's text; the aggregator gets all.
func TestTheModelsAnswerAtOnce(t *testing.T) {
	t.Parallel()
	p := &panel{meet: &sync.WaitGroup{}}
	p.meet.Add(3) // no one answers before all are asked
	a, err := p.set().Mix(t.Context(), hermes.SessionRef{ID: "s"}, "", "why?", quiet)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(moa.Answer{Answer: "the best of 3", Preset: "three", Models: []string{"a", "b", "c"}}, a); diff != "" {
		t.Error(diff)
	}
	for _, q := range p.asked {
		if q.Task == moa.Reference && (q.Prompt != "why?" || q.Slot.Model == "b" && q.Slot.Effort != hermes.EffortHigh) {
			t.Errorf("asked %+v", q)
		}
	}
}

// TestAMixtureNamesWhoAnswered, not who was asked.
func TestAMixtureNamesWhoAnswered(t *testing.T) {
	t.Parallel()
	a, err := (&panel{by: map[string]string{"b": "y"}}).set().Mix(t.Context(), hermes.SessionRef{}, "", "why?", quiet)
	if want := []string{"a", "y", "c"}; err != nil || !slices.Equal(a.Models, want) {
		t.Errorf("%q, want %q, %v", a.Models, want, err)
	}
}

// TestWrongSettingsAskNoOne: another model or preset is never taken instead.
func TestWrongSettingsAskNoOne(t *testing.T) {
	t.Parallel()
	p := &panel{}
	presets := map[string]moa.Preset{"one": {References: []moa.Slot{{Model: "a"}, {}}}, "two": {References: []moa.Slot{{Model: "a"}}}}
	for name, want := range map[string]string{"one": "reference model 2 of the preset one names no model", "": `moa.default_preset in config.yaml is "tow"`} {
		_, err := moa.New(moa.Config{Presets: presets, Default: "tow", Ask: p.ask}).Mix(t.Context(), hermes.SessionRef{}, name, "why?", quiet)
		if err == nil || !strings.Contains(err.Error(), want) || len(p.asked) > 0 {
			t.Errorf("%q: %v, want %q; asked %+v", name, err, want, p.asked)
		}
	}
}

// TestAFailedModelIsLeftOutAndNamed, as long as one answers.
func TestAFailedModelIsLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	a, err := (&panel{broken: []string{"a", "c"}}).set().Mix(t.Context(), hermes.SessionRef{}, "three", "why?", quiet)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(moa.Answer{Answer: "the best of 1", Preset: "three", Models: []string{"b"}, Failed: []string{"a: a is down", "c: c is down"}}, a); diff != "" {
		t.Error(diff)
	}
	p := &panel{broken: []string{"a", "b", "c"}}
	if _, err := p.set().Mix(t.Context(), hermes.SessionRef{}, "", "why?", quiet); err == nil || !strings.Contains(err.Error(), "none of the models answered") || len(p.asked) != 3 {
		t.Errorf("without any answer: %v, %d calls", err, len(p.asked))
	}
	if _, err := (&panel{broken: []string{"z"}}).set().Mix(t.Context(), hermes.SessionRef{}, "", "why?", quiet); err == nil || !strings.Contains(err.Error(), "z is down") {
		t.Errorf("without an aggregator: %v", err)
	}
}

// TestNoAnswerEndsItsOwnMark: the marks are new in each call.
func TestNoAnswerEndsItsOwnMark(t *testing.T) {
	t.Parallel()
	p := &panel{}
	for range 2 {
		if _, err := p.set().Mix(t.Context(), hermes.SessionRef{}, "", "why?", quiet); err != nil {
			t.Fatal(err)
		}
	}
	var prompts []string
	for _, q := range p.asked {
		if q.Task == moa.Aggregator {
			prompts = append(prompts, q.Prompt)
		}
	}
	if len(prompts) != 2 || prompts[0] == prompts[1] || !strings.Contains(prompts[0], "says b") {
		t.Errorf("the aggregator reads %q", prompts)
	}
}

// TestMixturesAreBounded: wrong presets and long prompts ask no model.
func TestMixturesAreBounded(t *testing.T) {
	t.Parallel()
	p := &panel{}
	for _, tt := range []struct{ preset, prompt, want string }{
		{"four", "why?", "use one of: three, empty"}, {"empty", "why?", "moa.presets.empty.reference_models"}, {"", " ", "is empty"},
		{"", strings.Repeat("x", 65<<10), "Shorten it"},
	} {
		if _, err := p.set().Mix(t.Context(), hermes.SessionRef{}, tt.preset, tt.prompt, quiet); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if len(p.asked) > 0 {
		t.Errorf("asked %+v", p.asked)
	}
}

// TestAStoppedMixtureAsksNoAggregator.
func TestAStoppedMixtureAsksNoAggregator(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	p := &panel{}
	set := moa.New(moa.Config{Presets: map[string]moa.Preset{"one": {References: []moa.Slot{{Model: "a"}}}}, Ask: func(ctx context.Context, q moa.Question) (answer, by string, err error) {
		defer stop(hermes.ErrInterrupted)
		return p.ask(ctx, q)
	}})
	if _, err := set.Mix(ctx, hermes.SessionRef{}, "", "why?", quiet); !errors.Is(err, hermes.ErrInterrupted) || len(p.asked) != 1 {
		t.Errorf("%v, asked %+v", err, p.asked)
	}
}

func TestToolset(t *testing.T) {
	t.Parallel()
	hermestest.RunToolset(t, func(*testing.T) hermes.Toolset { return (&panel{}).set() },
		hermestest.ToolSample{Tool: "mixture_of_agents", Arguments: `{"user_prompt":"why?"}`, Want: "the best of 3"})
}
