package demo

import (
	"net/http"
	"time"

	"hermes/internal/chatserver"
)

// ModelName is the name under which the server lists its model. It answers to any name.
const ModelName = "hermes-demo"

// Server returns the scripted model as a handler of the Chat Completions protocol. It keeps no
// state and may serve any number of clients at once. pace is the pause after each streamed piece.
func Server(pace time.Duration) http.Handler {
	return &chatserver.Handler{Model: ModelName, Decide: decide, Pace: pace}
}
