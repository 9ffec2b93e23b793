package rented_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment/remote"
)

// TestContract runs the suite of environments on sandboxes of every service.
func TestContract(t *testing.T) {
	t.Parallel()
	for _, service := range services {
		t.Run(service.name, func(t *testing.T) {
			t.Parallel()
			hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment {
				return remote.New(remote.Config{Runner: mustOpen(t, service.start(t), config(t))})
			})
		})
	}
}
