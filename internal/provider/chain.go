package provider

import (
	"cmp"
	"strings"
	"time"

	"hermes"
	"hermes/internal/chain"
)

// wrap puts a model's transport into the model chain. Read the list top to
// bottom: the first layer is the outermost. A nil layer is skipped. Everything
// below the key rotation exists once for each key.
func (c *Catalogue) wrap(ch choice, transport func(hermes.Key) hermes.Model) hermes.Model {
	outer := []chain.Layer{
		c.cfg.Caps,     // reserves what a call may cost, and stops it at a cap
		c.fallback(ch), // tries the next model
	}
	return chain.Stack(outer, c.single(ch, transport))
}

// single returns the chain of one model, without its fallbacks.
func (c *Catalogue) single(ch choice, transport func(hermes.Key) hermes.Model) hermes.Model {
	info := func() hermes.ModelInfo { return c.infoOf(ch) }
	quirks := c.quirks.Of(ch.ref() + " " + ch.BaseURL)
	return c.rotate(ch, func(key hermes.Key) hermes.Model { // tries the next key
		inner := []chain.Layer{
			c.retry(ch, key, quirks),               // retries with growing waits
			chain.GoOn,                             // continues after an answer that is only thinking
			chain.StopEndless(c.cfg.Now),           // ends an answer that repeats itself without end
			chain.Examine,                          // turns empty answers into failures
			c.findWindow(ch),                       // remembers the context length that a refusal shows
			chain.Repair(quirks, neededFields(ch)), // changes what the service refuses, and retries
			c.askWindow(ch, key),                   // asks the user's own server for the window
			chain.Bound(c.ownModel(ch), info),      // keeps an answer within the window
			c.watchTools(ch),                       // warns of a server that leaves out the tools
			c.cfg.Meter,                            // books every attempt
		}
		return chain.Stack(inner, transport(key))
	})
}

// rotate chooses a key for each call; if only one is known, it is that one.
func (c *Catalogue) rotate(ch choice, with func(hermes.Key) hermes.Model) hermes.Model {
	if ch.keys == nil || !ch.keys.Any() {
		return with(ch.key)
	}
	return chain.Rotate(ch.ref(), ch.keys, with)
}

// The longest waits that a service may ask for.
const (
	longestWait        = 10 * time.Minute
	longestBeforeOther = time.Minute // if a fallback model is configured
)

// longestFor returns the longest wait that a service may ask for before it serves a request.
func (c *Config) longestFor(r *hermes.Request) time.Duration {
	if r.Attended || r.Purpose != "" {
		return c.LongestWait
	}
	return c.UnattendedWait
}

func (c *Catalogue) retry(ch choice, key hermes.Key, quirks *chain.Quirks) chain.Layer {
	longest := c.cfg.longestFor
	if len(c.cfg.Fallback) > 0 {
		longest = func(r *hermes.Request) time.Duration { return min(c.cfg.longestFor(r), longestBeforeOther) }
	}
	var spare func() bool
	if ch.keys != nil {
		spare = func() bool { return ch.keys.Spare(key) }
	}
	return chain.Retry(chain.RetryConfig{
		Tries: cmp.Or(c.cfg.Retries, 3), Own: isLocal(ch.BaseURL), Spare: spare, Longest: longest, Quirks: quirks,
		Window: func() int { return c.infoOf(ch).ContextLength },
		Sleep:  c.cfg.Sleep, Rand: c.cfg.Rand,
	})
}

// neededFields reports which fields of a body are never left out: the user's limits
// on who may serve a request, and what the protocol requires.
func neededFields(ch choice) func(field string) bool {
	return func(field string) bool {
		return field == routingField || strings.HasPrefix(field, routingField+".") || ch.Protocol == ProtocolAnthropic && field == "max_tokens"
	}
}
