package provider

import (
	"slices"

	"hermes"
)

// Layer wraps a model with one policy. A layer passes deltas on as they arrive,
// may start over after a Reset, and decides by the flags of a
// *hermes.ModelError, never by its text.
type Layer func(next hermes.Model) hermes.Model

// wrap puts a model's transport into the model chain. Read the list top to
// bottom: the first layer is the outermost. A nil layer is skipped. Everything
// below the key rotation exists once for each key.
func (c *Catalogue) wrap(ch choice, transport func(hermes.Key) hermes.Model) hermes.Model {
	outer := []Layer{
		c.cfg.Caps,          // reserves what a call may cost, and stops it at a cap
		c.fallbackLayer(ch), // tries the next model
	}
	return stack(outer, c.single(ch, transport))
}

// single returns the chain of one model, without its fallbacks.
func (c *Catalogue) single(ch choice, transport func(hermes.Key) hermes.Model) hermes.Model {
	return c.rotate(ch, func(key hermes.Key) hermes.Model { // tries the next key
		inner := []Layer{
			c.retry(ch, key),     // retries with growing waits
			goOn,                 // continues after an answer that is only thinking
			c.stopEndless,        // ends an answer that repeats itself without end
			examine,              // turns empty answers into failures
			c.findWindow(ch),     // remembers the context length that a refusal shows
			c.repair(ch),         // changes what the service refuses, and retries
			c.askWindow(ch, key), // asks the user's own server for the window
			c.boundAnswer(ch),    // keeps an answer within the window
			c.watchTools(ch),     // warns of a server that leaves out the tools
			c.cfg.Meter,          // books every attempt
		}
		return stack(inner, transport(key))
	})
}

// rotate chooses a key for each call; if only one is known, it is that one.
func (c *Catalogue) rotate(ch choice, with func(hermes.Key) hermes.Model) hermes.Model {
	if ch.keys == nil || !ch.keys.Any() {
		return with(ch.key)
	}
	return newRotating(ch.ref(), ch.keys, with)
}

// stack wraps a model in layers, the outermost first.
func stack(layers []Layer, m hermes.Model) hermes.Model {
	for _, layer := range slices.Backward(layers) {
		if layer != nil {
			m = layer(m)
		}
	}
	return m
}
