package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
)

// pluginService is the service of references to models of plugins: plugin:NAME/MODEL.
const pluginService = "plugin"

// Plugins asks models that plugins bring along.
type Plugins interface {
	// HasModels returns why a plugin does not answer as a model, nil if it does.
	HasModels(plugin string) error
	// ModelInfo returns what a plugin says of a model; known is false if it says nothing.
	ModelInfo(plugin, model string) (info hermes.ModelInfo, known bool)
	// Answer asks a model of a plugin and yields its answer until it ends. An error with a method
	// StatusCode is classified as that status of HTTP.
	Answer(ctx context.Context, plugin, model string, r *hermes.Request, yield func(hermes.Delta) error) error
}

// ofPlugin returns the choice of a model of a plugin.
func (c *Catalogue) ofPlugin(ref string) (choice, error) {
	name, model, ok := strings.Cut(ref, "/")
	if !ok || name == "" || model == "" {
		return choice{}, fmt.Errorf("%w: %q names no model of a plugin; write plugin:NAME/MODEL", hermes.ErrNoModel, pluginService+":"+ref)
	}
	e := endpoint{Row: Row{Name: pluginService, Title: "plugins", NoKey: true, Protocol: ProtocolACP}, id: pluginService, argv: []string{name}}
	if c.cfg.Programs.Plugins == nil {
		e.absent = "this run has no plugins"
	} else if err := c.cfg.Programs.Plugins.HasModels(name); err != nil {
		e.absent = err.Error()
	}
	return choice{e, ref}, nil
}

// saidByPlugin returns what a plugin says of its model. A shorter window that was found out by a refusal
// comes before it.
func (c *Catalogue) saidByPlugin(ch choice) (info hermes.ModelInfo, known bool) {
	if ch.id != pluginService || c.cfg.Programs.Plugins == nil {
		return info, false
	}
	name, model, _ := strings.Cut(ch.model, "/")
	if info, known = c.cfg.Programs.Plugins.ModelInfo(name, model); !known {
		return info, false
	}
	info.ID = ch.ref()
	if found, _ := c.learned.Of(ch.BaseURL, ch.model); found.ContextLength > 0 && (info.ContextLength == 0 || found.ContextLength < info.ContextLength) {
		info.ContextLength = found.ContextLength
	}
	return info, true
}

// pluginModel is the transport of a model of a plugin.
type pluginModel struct {
	base.Config
	plugins     Plugins
	plugin, own string
}

func (c *Catalogue) pluginModel(ch choice, w base.Config) hermes.Model {
	name, model, _ := strings.Cut(ch.model, "/")
	return &pluginModel{w.Ready(), c.cfg.Programs.Plugins, name, model}
}

// ID returns the reference of the model.
func (m *pluginModel) ID() string { return m.Config.ID }

// Stream asks the plugin when the iteration begins; see hermes.Model.
func (m *pluginModel) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return m.Config.Stream(ctx, r, func(yield base.Yield) error {
		err := m.plugins.Answer(ctx, m.plugin, m.own, r, yield)
		if err == nil || errors.Is(err, base.ErrStopped) || ctx.Err() != nil {
			return err
		}
		if said, ok := errors.AsType[interface {
			error
			StatusCode() int
		}](err); ok && said.StatusCode() >= 400 && said.StatusCode() < 600 {
			body, jsonErr := json.Marshal(map[string]any{"error": map[string]string{"message": err.Error()}})
			return errors.Join(jsonErr, &fault.Failure{Status: said.StatusCode(), Body: body})
		}
		return err
	})
}
