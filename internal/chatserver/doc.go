// Package chatserver is the server side of the Chat Completions protocol: it
// reads and checks a request, calls a function for the answer, and writes that
// answer as one JSON object or as a stream of events, with tool calls in pieces,
// reasoning, and usage with cached tokens.
//
// It must not know conversations or models. In the demo a written scenario
// decides on the answer; benchmarks and tests use their own functions. It checks
// requests as strictly as the public services, so that a client that passes here
// has well-formed transcripts.
//
// Start reading at Handler.
package chatserver
