package provider

import (
	"hermes/internal/transport/chat"
	"hermes/internal/transport/responses"
)

// The protocols, by the names that the configuration uses.
const (
	ProtocolChat      = "chat_completions"
	ProtocolAnthropic = "anthropic_messages"
	ProtocolResponses = "codex_responses"
	ProtocolBedrock   = "bedrock_converse"
	ProtocolGemini    = "gemini_generate_content"
	ProtocolOllama    = "ollama_chat"
	ProtocolACP       = "acp" // of a program; the configuration names its command instead
)

// Row is one service of the catalogue. It has many fields because it is a row of one
// table (catalogue.go), in which most services fill only the first few.
type Row struct {
	Name    string
	Title   string // as shown to users
	Aliases []string
	BaseURL string
	URLVars []string // variables that replace BaseURL
	KeyVars []string // variables that may hold the key; the first that is set wins
	// NoKey marks services that need no key.
	NoKey bool
	// SignVars are variables. If any is set, requests can be signed instead of
	// using a key.
	SignVars []string
	// Named services are used only if the user names them: their keys are often
	// set for other purposes.
	Named bool
	// Login marks services that use a login instead of a key.
	Login bool
	// LoginURL is the server that logins of other programs are for, where BaseURL is
	// not known.
	LoginURL string
	Protocol string // empty is ProtocolChat
	// Model is the default model; empty if none is a safe choice.
	Model string
	Naming
	Header map[string]string
	// Chat and Responses hold the service's quirks for these protocols.
	Chat      chat.Quirks
	Responses responses.Quirks
	// Bearer sends the key as an Authorization header where the protocol has
	// its own header for keys.
	Bearer bool
	// Routes marks OpenRouter, which takes its own settings.
	Routes bool
	// Tiers are the service tiers that the service knows.
	Tiers tiers
	// CacheMarks puts cache marks on requests to Claude models.
	CacheMarks bool
	Program
	// Unavailable says why the service cannot be used yet, and what to do.
	Unavailable string
}

// Naming says how a service writes the names of models.
type Naming struct {
	// Aggregator services name models with their vendor.
	Aggregator bool
	// Vendors are the names of vendors at this service where they differ from those
	// of OpenRouter.
	Vendors map[string]string
	// Like is the name of the row that the user's own entry has its address and rules
	// from; empty means none.
	Like string
	// Keeps lists the models whose ids begin with the service's own name and a slash:
	// "groq/compound". "*" is all.
	Keeps []string
}

// Program is the program that answers, if the service is one: an agent that speaks the
// Agent Client Protocol.
type Program struct {
	Command     []string
	CommandVars []string // variables that replace the program
	ArgsVars    []string // variables that replace its arguments
	Env         []string // variables that it gets beside those that any program gets
}
