package provider

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OpenRouter holds the settings that only OpenRouter understands.
type OpenRouter struct {
	Routing Routing
	// ResponseCache is how long it answers a repeated request from its cache;
	// 0 is off.
	ResponseCache time.Duration
	// MinCodingScore, from 0 to 1, is for its model openrouter/pareto-code; 0 is
	// its default.
	MinCodingScore float64
}

// Routing says which providers may serve a request, as OpenRouter documents its
// field provider. The zero value sends nothing.
type Routing struct {
	Order             []string  `json:"order,omitempty"`
	Only              []string  `json:"only,omitempty"`
	Ignore            []string  `json:"ignore,omitempty"`
	AllowFallbacks    *bool     `json:"allow_fallbacks,omitempty"`
	RequireParameters bool      `json:"require_parameters,omitempty"`
	DataCollection    string    `json:"data_collection,omitempty"`
	ZDR               bool      `json:"zdr,omitempty"`
	DistillableText   bool      `json:"enforce_distillable_text,omitempty"`
	Quantizations     []string  `json:"quantizations,omitempty"`
	Sort              string    `json:"sort,omitempty"`
	MaxPrice          *MaxPrice `json:"max_price,omitempty"`
	MinThroughput     float64   `json:"preferred_min_throughput,omitempty"`
	MaxLatency        float64   `json:"preferred_max_latency,omitempty"`
}

// MaxPrice is in US dollars: for a million tokens, a request and an image.
type MaxPrice struct {
	Prompt     float64 `json:"prompt,omitempty"`
	Completion float64 `json:"completion,omitempty"`
	Request    float64 `json:"request,omitempty"`
	Image      float64 `json:"image,omitempty"`
}

// routingField is the field of the body that holds the Routing. It is never left
// out: the request might go where the user forbade.
const routingField = "provider"

// paretoModel is OpenRouter's model that chooses another one by a coding score.
const paretoModel = "openrouter/pareto-code"

// tail returns the fields that are sent after the messages. What the user has set
// for the service under the same name wins.
func (c *Catalogue) tail(ch choice) map[string]json.RawMessage {
	fields := map[string]any{}
	if tier := c.tierOf(ch); tier != "" {
		fields["service_tier"] = tier
	}
	if ch.Routes {
		o := c.cfg.OpenRouter
		fields[routingField] = o.Routing
		if model, _, _ := strings.Cut(ch.model, ":"); model == paretoModel && o.MinCodingScore > 0 {
			fields["plugins"] = []any{map[string]any{"id": "pareto-router", "min_coding_score": o.MinCodingScore}}
		}
	}
	out := map[string]json.RawMessage{}
	for name, v := range fields {
		raw, err := json.Marshal(v)
		if _, own := ch.custom.Extra[name]; err == nil && !own && string(raw) != "{}" { // texts and numbers have a JSON form
			out[name] = raw
		}
	}
	return out
}

// setCache asks OpenRouter to answer repeated requests from its cache.
func (c *Catalogue) setCache(ch choice, h http.Header) {
	if ttl := c.cfg.OpenRouter.ResponseCache; ch.Routes && ttl > 0 {
		h.Set("X-OpenRouter-Cache", "true")
		h.Set("X-OpenRouter-Cache-TTL", strconv.Itoa(int(ttl.Seconds())))
	}
}

// tiers are the service tiers that a service knows, by the words of the setting.
type tiers map[string]string

// The tiers of services. Anthropic uses the capacity that was bought unless it is
// told not to.
func openAITiers() tiers { return words("auto", "default", "flex", "priority", "scale") }
func groqTiers() tiers   { return words("auto", "on_demand", "flex", "performance") }
func anthropicTiers() tiers {
	return tiers{"auto": "auto", "priority": "auto", "standard_only": "standard_only", "default": "standard_only"}
}

func words(list ...string) tiers {
	t := tiers{}
	for _, w := range list {
		t[w] = w
	}
	return t
}

// tierOf returns the tier to ask a service for, in its own word; "" if none is set
// or the service does not know it.
func (c *Catalogue) tierOf(ch choice) string {
	switch set := strings.ToLower(c.cfg.ServiceTier); set {
	case "fast":
		return ch.Tiers["priority"]
	case "normal":
		return ch.Tiers["default"]
	default:
		return ch.Tiers[set]
	}
}

// Tier returns the service tier that requests to a model ask for, "" for none.
func (c *Catalogue) Tier(ref string) string {
	k, ok := c.quietly(ref)
	if !ok {
		return ""
	}
	var tier string
	if raw, own := k.custom.Extra["service_tier"]; own && json.Unmarshal(raw, &tier) == nil {
		return tier
	}
	return c.tierOf(k.choice)
}

// Tiers lists the values that the setting of the service tier may have.
func Tiers() []string {
	all := map[string]string{"fast": "", "normal": ""}
	for _, t := range []tiers{openAITiers(), groqTiers(), anthropicTiers()} {
		maps.Copy(all, t)
	}
	return slices.Sorted(maps.Keys(all))
}
