// Package chain has the layers of the model chain that judge by what a model answers:
// which failures are retried, with which key or model, what is changed before a
// retry, and which answers are of no use.
//
// It must not know services, their addresses or protocols, nor where models come
// from; package provider does, and puts the layers into their order. Start reading
// at attempt.go, then retry.go.
package chain

import (
	"slices"

	"hermes"
)

// Layer wraps a model with one policy. A layer passes deltas on as they arrive,
// may start over after a Reset, and decides by the flags of a
// *hermes.ModelError, never by its text.
type Layer func(next hermes.Model) hermes.Model

// Stack wraps a model in layers, the outermost first. A nil layer is skipped.
func Stack(layers []Layer, m hermes.Model) hermes.Model {
	for _, layer := range slices.Backward(layers) {
		if layer != nil {
			m = layer(m)
		}
	}
	return m
}
