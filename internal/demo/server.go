package demo

import (
	"net/http"
	"time"

	"hermes/internal/chatserver"
)

// ModelName is the name of the model in the server's list. The server accepts any name.
const ModelName = "hermes-demo"

// Server returns the scripted model as a handler of the Chat Completions protocol. It has no state and
// serves any number of clients concurrently. pace is the pause after each streamed piece.
func Server(pace time.Duration) http.Handler {
	return &chatserver.Handler{Model: ModelName, Decide: decide, Pace: pace}
}
