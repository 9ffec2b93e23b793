package provider

import (
	"hermes/internal/transport/chat"
	"hermes/internal/transport/responses"
)

// The wire protocols, by the names that the configuration uses.
const (
	WireChat      = "chat_completions"
	WireAnthropic = "anthropic_messages"
	WireResponses = "codex_responses"
	WireBedrock   = "bedrock_converse"
	WireGemini    = "gemini_generate_content"
	WireOllama    = "ollama_chat"
)

// Row is one service of the catalogue.
type Row struct {
	Name    string
	Title   string // for people
	Aliases []string
	BaseURL string
	URLVars []string // variables that replace BaseURL
	KeyVars []string // variables that may hold the key, the first that is set wins
	// NoKey marks services that can be asked without a key.
	NoKey bool
	// SignVars are variables of which each shows that requests can be signed
	// in place of a key.
	SignVars []string
	// Named services are never chosen unasked: their keys are set for other
	// purposes too.
	Named bool
	// Login marks services that are asked with a login instead of a key.
	Login bool
	Wire  string // empty is WireChat
	// Model is asked where none is named; empty where none is a safe choice.
	Model string
	// Aggregator services name models with their vendor.
	Aggregator bool
	Header     map[string]string
	// Chat and Responses hold the quirks of services on these wires.
	Chat      chat.Quirks
	Responses responses.Quirks
	// Bearer sends the key as an Authorization header on the wires that have
	// one of their own.
	Bearer bool
	// CacheMarks puts cache marks on requests to Claude models.
	CacheMarks bool
	// Unavailable says why the service cannot be used yet, and what to do.
	Unavailable string
}
