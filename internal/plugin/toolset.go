package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/text"
)

const (
	maxText   = 4 << 20 // bytes of text of one result
	maxImages = 8
	maxImage  = 10 << 20 // bytes
)

// toolset is the tools of a plugin.
type toolset struct {
	plugin *Plugin
	tools  []hermes.Tool
}

func newToolset(p *Plugin) *toolset {
	s := &toolset{plugin: p}
	for _, t := range p.pin.Offer.Tools {
		s.tools = append(s.tools, newTool(p, t))
	}
	return s
}

// ToolsetName returns the name of the toolset of a plugin.
func ToolsetName(plugin string) string { return "plugin-" + plugin }

// Name returns plugin-NAME.
func (s *toolset) Name() string { return ToolsetName(s.plugin.Name()) }

// Tools returns the tools that the user enabled. It does not start the program.
func (s *toolset) Tools(context.Context) ([]hermes.Tool, error) { return slices.Clone(s.tools), nil }

// Available returns why the plugin cannot be used at all. One that does not run now is tried again
// by a call, which says what is wrong.
func (s *toolset) Available(context.Context) string {
	if p := s.plugin; p.manifest.has(KindMemory) && p.cfg.Memory.Chosen != p.Name() {
		return fmt.Sprintf("it is not the memory that you chose; `hermes memory setup %s` does that", p.Name())
	}
	s.plugin.mu.Lock()
	defer s.plugin.mu.Unlock()
	return s.plugin.broken
}

// tool is one tool of a plugin.
type tool struct {
	plugin *Plugin
	spec   hermes.Spec
}

func newTool(p *Plugin, t Tool) *tool {
	s := hermes.Spec{Name: t.Name, Description: t.Description, Schema: t.Schema, ResultLimit: p.cfg.ResultLimit, Sends: opens}
	if t.Parallel {
		s.Mode = hermes.ModeParallel
	}
	switch t.Effect {
	case "none":
		s.Effect = hermes.EffectNone
	case "idempotent":
		s.Effect = hermes.EffectIdempotent
	}
	return &tool{p, s}
}

// opens lists the addresses among the arguments of a call: a plugin may open them.
func opens(arguments json.RawMessage) hermes.Outgoing {
	web, others := argument.Addresses(arguments)
	return hermes.Outgoing{Opens: web, Texts: others}
}

// Spec describes the tool.
func (t *tool) Spec() hermes.Spec { return t.spec }

// keyTainted begins the key of a risk. The name of the plugin follows.
const keyTainted = "plugin-tainted:"

// AssessRisk returns why the user must be asked: the session has read text of others, and the call
// may change something or send it elsewhere.
func (t *tool) AssessRisk(_ context.Context, c *hermes.Call) []hermes.Risk {
	if t.spec.Effect == hermes.EffectNone {
		return nil
	}
	others := t.plugin.othersText(c.Host.Session().Provenance)
	if others == "" {
		return nil
	}
	return []hermes.Risk{{
		Key:    keyTainted + t.plugin.Name(),
		Reason: fmt.Sprintf("%s of the plugin %s may change something or send it elsewhere, after reading %s", t.spec.Name, t.plugin.Name(), others),
	}}
}

// othersText returns the sources of text that neither the user chose nor this plugin sent.
func (p *Plugin) othersText(provenance string) string {
	var others []string
	for source := range strings.SplitSeq(hermes.OutsideProvenance(provenance), ";") {
		source = strings.TrimSpace(source)
		first, _, _ := strings.Cut(source, " ")
		own := source == "plugin "+p.Name() || p.manifest.has(KindMemory) && source == "memory service "+p.Name() || slices.ContainsFunc(p.pin.Offer.Tools, func(t Tool) bool { return t.Name == first })
		if source != "" && !own {
			others = append(others, source)
		}
	}
	return strings.Join(others, "; ")
}

// Subject describes a call to the user: the tool and each argument.
func (t *tool) Subject(_ context.Context, c *hermes.Call) hermes.Subject {
	return hermes.Subject{Text: fmt.Sprintf("%s of the plugin %s with %s", t.spec.Name, t.plugin.Name(), text.Visible(string(c.Arguments)))}
}

// Run calls the tool. One that only reads is called a second time if its program ended meanwhile.
func (t *tool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	if err := t.plugin.remembersFor(c.Host.Session()); err != nil {
		return hermes.Result{}, err
	}
	r, err := t.once(ctx, c)
	if !errors.Is(err, errLost) || ctx.Err() != nil {
		return r, err
	}
	if t.spec.Effect == hermes.EffectNone {
		return t.once(ctx, c)
	}
	if t.spec.Effect != hermes.EffectIdempotent {
		return r, fmt.Errorf("%w; whether the call had an effect is unknown: check before you repeat it", err)
	}
	return r, err
}

func (t *tool) once(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	var r toolResult
	err := t.plugin.call(ctx, methodCall, c.Host, t.plugin.manifest.callTime(), func(id string) any {
		return toolCall{Call: id, Name: t.spec.Name, Arguments: c.Arguments, Session: session(c.Host.Session())}
	}, &r)
	if err != nil {
		return hermes.Result{}, err
	}
	return r.result(), nil
}

// result is what a call returns to the model.
func (r toolResult) result() hermes.Result {
	body := text.Cut(text.Plain(r.Text), maxText)
	out := hermes.Result{Text: body}
	if r.Failed {
		out = hermes.ErrorResult(body)
	}
	out.Shown = text.Cut(text.Plain(r.Shown), maxText)
	for i, image := range r.Images {
		if i >= maxImages || len(image.Data) > maxImage || !strings.HasPrefix(image.MediaType, "image/") {
			out.Text += fmt.Sprintf("\n[a picture of %s that is left out]", text.Size(int64(len(image.Data))))
			continue
		}
		out.Images = append(out.Images, hermes.Image{MediaType: text.OneLine(image.MediaType, 60), Data: image.Data})
	}
	return out
}
