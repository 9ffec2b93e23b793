package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/order"
	"hermes/internal/text"
)

const (
	methodModels = "models/list"
	maxModels    = 64
	maxModelName = 200   // characters
	minWindow    = 1_000 // tokens
	maxWindow    = 20_000_000
)

// Model is what a plugin says of a model that it answers as. Zero numbers are unknown.
type Model struct {
	Name string `json:"name"`
	// Window and MaxOutput are in tokens.
	Window    int `json:"window,omitempty"`
	MaxOutput int `json:"max_output,omitempty"`
	// Images says that it sees images.
	Images bool `json:"images,omitempty"`
	// Prices are those of the model; nil if they are unknown.
	Prices *ModelPrices `json:"prices,omitempty"`
}

// ModelPrices are in dollars for a million tokens, as decimal numbers such as 0.25.
type ModelPrices struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	// Cached is for what was read from a cache, CacheWrite for what was written to it; "" is unknown.
	Cached     string `json:"cached,omitempty"`
	CacheWrite string `json:"cache_write,omitempty"`
}

// models asks for the models of a plugin. A program that does not know the method says nothing of them.
func (c *conn) models(ctx context.Context) ([]Model, error) {
	var r struct {
		Models []Model `json:"models"`
	}
	err := c.rpc.Call(ctx, methodModels, struct{}{}, &r)
	if noMethod(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", methodModels, err)
	}
	return r.Models, nil
}

// noMethod reports whether a program said that it does not know a method. Any other error may be of
// the moment: what the plugin offers is not known then.
func noMethod(err error) bool {
	said, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && said.Code == jsonrpc.CodeNoMethod
}

// checkModels brings models into their one form, sorted by name.
func checkModels(list []Model) error {
	if len(list) > maxModels {
		return fmt.Errorf("it has %d models, %d at most", len(list), maxModels)
	}
	for _, m := range list {
		if m.Name == "" || utf8.RuneCountInString(m.Name) > maxModelName || text.VisibleName(m.Name) != m.Name {
			return fmt.Errorf("%q is not the name of a model", text.VisibleName(text.Short(m.Name, maxModelName)))
		}
		if m.Window != 0 && m.Window < minWindow || m.Window > maxWindow || m.MaxOutput < 0 || m.MaxOutput > maxWindow {
			return fmt.Errorf("the window of the model %s has %d to %d tokens, and its longest answer that many at most; leave out what is not known", m.Name, minWindow, maxWindow)
		}
		if _, err := m.Prices.price(); err != nil {
			return fmt.Errorf("the prices of the model %s: %w", m.Name, err)
		}
	}
	order.By(list, func(a, b Model) int { return cmp.Compare(a.Name, b.Name) })
	for i := range list {
		if i > 0 && list[i].Name == list[i-1].Name {
			return fmt.Errorf("it has two models %s", list[i].Name)
		}
	}
	return nil
}

var ratePattern = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6})?$`)

// price returns the prices as numbers, nil if they are unknown.
func (p *ModelPrices) price() (*hermes.Price, error) {
	if p == nil {
		return nil, nil
	}
	out := hermes.Price{}
	for _, rate := range []struct {
		name, text string
		needed     bool
		into       *hermes.Money
	}{{"input", p.Input, true, &out.Input}, {"output", p.Output, true, &out.Output}, {"cached", p.Cached, false, &out.CacheRead}, {"cache_write", p.CacheWrite, false, &out.CacheWrite}} {
		if rate.text == "" && !rate.needed {
			*rate.into = -1
			continue
		}
		if !ratePattern.MatchString(rate.text) {
			return nil, fmt.Errorf("%s is %q; write the dollars for a million tokens as a decimal number in a text, such as \"0.25\"", rate.name, text.VisibleName(text.Short(rate.text, 40)))
		}
		whole, part, _ := strings.Cut(rate.text, ".")
		micros, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
		if err != nil {
			return nil, err
		}
		*rate.into = hermes.Money(micros)
	}
	out.CacheWriteLong = out.CacheWrite
	return &out, nil
}

// Facts says in words what the plugin says of the model.
func (m Model) Facts() string {
	facts := []string{"window unknown", "longest answer unknown", "no images", "prices unknown"}
	if m.Window > 0 {
		facts[0] = "window " + strconv.Itoa(m.Window) + " tokens"
	}
	if m.MaxOutput > 0 {
		facts[1] = "longest answer " + strconv.Itoa(m.MaxOutput) + " tokens"
	}
	if m.Images {
		facts[2] = "sees images"
	}
	if p := m.Prices; p != nil {
		facts[3] = fmt.Sprintf("a million tokens cost $%s in, $%s out", p.Input, p.Output)
		if p.Cached != "" {
			facts[3] += fmt.Sprintf(", $%s from a cache", p.Cached)
		}
		if p.CacheWrite != "" {
			facts[3] += fmt.Sprintf(", $%s into a cache", p.CacheWrite)
		}
	}
	return strings.Join(facts, ", ")
}

// ModelInfo returns what a plugin says of a model, as the user enabled it. known is false if it says nothing.
func (s *Plugins) ModelInfo(plugin, model string) (info hermes.ModelInfo, known bool) {
	p, err := s.answering(plugin)
	if err != nil {
		return info, false
	}
	for _, m := range p.pin.Offer.Models {
		if m.Name == model {
			price, err := m.Prices.price() // it was checked when it was enabled
			return hermes.ModelInfo{ContextLength: m.Window, OutputLimit: m.MaxOutput, Vision: m.Images, Price: price}, err == nil
		}
	}
	return info, false
}
