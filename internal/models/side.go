package models

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/provider"
)

// taskID is a hash of the settings of a side task's own service, which have a key.
type taskID [sha256.Size]byte

// Side returns the model that a side task asks for. It has no fallbacks of its own. A
// choice with its own base URL gets its own key or OPENAI_API_KEY, never that of another
// service.
func (m *Models) Side(ctx context.Context, c auxiliary.Choice) (hermes.Model, error) {
	if c.Fault != nil {
		return nil, c.Fault
	}
	models, err := m.side()
	if err != nil {
		return nil, err
	}
	if c.BaseURL == "" && c.Key == "" && c.KeyEnv == "" && len(c.Extra) == 0 {
		return models.Model(ctx, c.Ref())
	}
	if c.BaseURL == "" && c.Provider == "" { // extra fields for the main model
		main, err := models.Model(ctx, c.Model)
		if err != nil {
			return nil, err
		}
		c.Provider, c.Model, _ = strings.Cut(main.ID(), ":")
		if name, rest, own := strings.Cut(c.Model, ":"); c.Provider == "custom" && own {
			c.Provider, c.Model = "custom:"+name, rest
		}
	}
	own, ref, err := m.own(models, c)
	if err != nil {
		return nil, err
	}
	return own.Model(ctx, ref)
}

// own returns the catalogue of a choice with its own settings, and the reference of
// the model in it.
func (m *Models) own(models *provider.Catalogue, c auxiliary.Choice) (*provider.Catalogue, string, error) {
	pc, err := m.providers()
	if err != nil {
		return nil, "", err
	}
	pc.Fallback = nil
	name := cmp.Or(models.Entry(c.Provider), strings.TrimPrefix(c.Provider, "custom:"))
	custom, ref := pc.Custom[name], c.Provider+":"+c.Model
	if c.BaseURL == "" && c.Provider == "custom" {
		c.BaseURL, c.APIMode, c.Key = pc.BaseURL, pc.APIMode, cmp.Or(c.Key, pc.Key)
	}
	key := cmp.Or(c.Key, hermes.Secret(pc.Getenv(c.KeyEnv)))
	if c.BaseURL != "" {
		name = "auxiliary"
		key = cmp.Or(key, hermes.Secret(pc.Getenv("OPENAI_API_KEY")), "none")
		custom = provider.Custom{BaseURL: c.BaseURL, APIMode: c.APIMode, OnlyOwnKey: true}
		ref = "custom:" + name + ":" + cmp.Or(c.Model, pc.Model[strings.LastIndexByte(pc.Model, ':')+1:])
	}
	custom.Key = cmp.Or(key, custom.Key)
	if custom.Extra, err = withExtra(custom.Extra, c.Extra); err != nil {
		return nil, "", err
	}
	extra, err := json.Marshal(custom.Extra) // sorted by name
	if err != nil {
		return nil, "", err
	}
	all := map[string]provider.Custom{}
	maps.Copy(all, pc.Custom)
	all[name] = custom
	pc.Custom = all
	id := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %s", name, custom.BaseURL, custom.APIMode, custom.Key.Reveal(), extra))
	made, err := keep(m, m.tasks, taskID(id), pc)
	return made, ref, err
}

func withExtra(base map[string]json.RawMessage, over map[string]any) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	maps.Copy(all, base)
	for k, v := range over {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("extra_body.%s of an auxiliary task in config.yaml cannot be sent as JSON: %w", k, err)
		}
		all[k] = raw
	}
	return all, nil
}

// LastResort lists those of the named services that have a key and a default model.
// "custom" means the configured base URL, "*" all services that were not named.
func (m *Models) LastResort(names ...string) []auxiliary.Choice {
	models, err := m.catalogue()
	if err != nil || m.config.Fixed {
		return nil
	}
	pc, err := m.providers()
	if err != nil {
		return nil
	}
	ready := map[string]bool{}
	var rest []string
	for _, row := range models.Rows() {
		if row.NoKey || row.Model == "" || models.Ready(row.Name) != "" {
			continue
		}
		ready[row.Name] = true
		if !slices.Contains(names, row.Name) {
			rest = append(rest, row.Name)
		}
	}
	if i := slices.Index(names, "*"); i >= 0 {
		names = slices.Replace(slices.Clone(names), i, i+1, rest...)
	}
	var out []auxiliary.Choice
	for _, n := range names {
		switch {
		case n == "custom" && pc.BaseURL != "":
			out = append(out, auxiliary.Choice{Provider: "custom", Model: pc.Model})
		case ready[n]:
			out = append(out, auxiliary.Choice{Provider: n})
		}
	}
	return out
}
