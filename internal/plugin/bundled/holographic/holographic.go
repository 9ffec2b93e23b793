// Package holographic is the plugin that remembers facts on this machine, without a network or a model.
// Each fact has words, the entities that it names, a trust that feedback changes, and a vector that binds
// them (vector.go), so that facts about one or several entities are found by algebra.
//
// store.go keeps the facts in a file of the private home, words.go reads texts, ask.go answers questions.
// Start at New.
package holographic

import (
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/plugin/bundled/found"
	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
	"hermes/internal/text"
)

// Files are the manifest and what it says to users.
//
//go:embed plugin.yaml README.md
var Files embed.FS

// Name is that of the plugin.
const Name = "holographic"

// Config is what the plugin runs on.
type Config struct {
	Version string
	// Home is the private home, in which the facts are.
	Home string
	// Trust is that of new facts, from 0 to 1.
	Trust float64
	// Listen stores what the user says, with less trust.
	Listen bool
	Now    func() time.Time
}

const (
	// saidTrust is how much less is trusted what was only said.
	saidTrust = 0.1
	// leastTrust is that of facts which are recalled.
	leastTrust = 0.3
	said       = "said"
)

// New makes the plugin.
func New(c Config) (*sdk.Plugin, error) {
	if c.Trust < 0 || c.Trust > 1 {
		return nil, fmt.Errorf("the setting trust is %v; it is between 0 and 1", c.Trust)
	}
	m := &memory{c, &store{path: filepath.Join(c.Home, "facts.json")}}
	return &sdk.Plugin{
		Name: Name, Version: c.Version,
		Tools: []sdk.Tool{
			typed.Tool(typed.Spec{Name: "fact_store", Description: "Facts for later sessions: add, search (words), probe (all about one entity), related (what is named together with an entity), " +
				"reason (facts that have all of several entities), contradict (facts that may disagree), update, remove, list."}, m.act),
			typed.Tool(typed.Spec{Name: "fact_feedback", Description: "Say whether a fact that you used was helpful, which changes how much it is trusted."}, m.rate),
		},
		Memory: &sdk.Memory{Recall: m.recall, Observe: m.observe, Commands: []sdk.MemoryCommand{found.Command(m.recall)}},
	}, nil
}

// memory is the facts with what the plugin runs on.
type memory struct {
	Config
	store *store
}

// recall returns facts about what a message says.
func (m *memory) recall(_ context.Context, _ *sdk.Call, query string, limit int) (string, error) {
	var texts []string
	err := m.store.view(func(facts []*fact) {
		for _, r := range search(facts, found.Query(query), filter{least: leastTrust}, 10) {
			texts = append(texts, r.fact.Content)
		}
	})
	return found.List(texts, limit), err
}

// observe stores the statements of a message. Questions are no facts.
func (m *memory) observe(ctx context.Context, _ *sdk.Call, t sdk.Turn) error {
	if !m.Listen {
		return nil
	}
	list := statements(t.Said)
	if len(list) == 0 {
		return nil
	}
	return m.store.change(ctx, func(all *file) error {
		for _, s := range list {
			all.add(fact{Content: s, Category: said, Trust: max(0, m.Trust-saidTrust), At: t.At.UTC()})
		}
		return nil
	})
}

// statements are the paragraphs of a message that say something, at most 5.
func statements(message string) (list []string) {
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if len(words(line)) < 3 || strings.HasSuffix(line, "?") || strings.HasPrefix(line, "/") {
			continue
		}
		if list = append(list, text.Cut(line, longestFact)); len(list) == 5 {
			break
		}
	}
	return list
}
