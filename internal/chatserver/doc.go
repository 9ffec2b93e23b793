// Package chatserver speaks the Chat Completions protocol from the server's side:
// it reads and checks a request, asks a function what to answer, and writes that
// answer as one JSON object or as a stream of events, with tool calls in pieces,
// reasoning, and usage with cached tokens.
//
// It holds no conversation and no model. The demo lets a written scenario decide,
// the benchmarks answer at once, tests say what they need. What a request must
// look like is checked as strictly as the public services do, so that a client
// that passes here has well-formed transcripts.
//
// Start reading at Handler.
package chatserver
