// Package remote is the protocol over a connection: a client that implements protocol.Client,
// and a server that lends any protocol.Client to its peers. docs/protocol.md describes what they
// say to each other.
//
// The package knows neither sessions nor how a peer was found: it is given a stream of messages
// (stream.go) and, on the server, who may do what (Server.Admit). Start at Serve and at Dial;
// message.go has the form of all messages, errors.go that of errors.
package remote

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
)

// The methods of a server.
const (
	methodInitialize = "initialize"
	methodSessions   = "sessions"
	methodOpen       = "open"
	methodAttach     = "attach"
	methodDetach     = "detach"
	methodDo         = "do"
	methodHistory    = "history"
	methodCommand    = "command"
	methodHalt       = "halt"
)

// The notifications of a server.
const (
	noticeEvent    = "event"
	noticeDetached = "detached"
)

// The limits of a connection.
const (
	// MaxRequest is how large a message to a server may be, in bytes, and MaxReply one to a
	// client.
	MaxRequest = 32 << 20
	MaxReply   = 64 << 20
	// maxFirst is how large a message may be before the server knows its peer, and firstTime how
	// long the peer may take until then.
	maxFirst  = 64 << 10
	firstTime = 10 * time.Second
	// maxRequests is how many requests of a connection run at once, and maxSubscriptions how
	// many subscriptions it has.
	maxRequests      = 64
	maxSubscriptions = 128
	// maxWaiting and maxWaitingBytes are what a client keeps of a subscription that is not read.
	maxWaiting      = 4096
	maxWaitingBytes = 2 << 20
	// readTime is how long a peer may not read before its connection is closed.
	readTime = 5 * time.Minute
)

// Hello is what a client says of itself.
type Hello struct {
	Version int `json:"version"` // of the protocol; Dial sets it
	// Key shows that the client may connect, as the server's Admit demands.
	Key string `json:"key,omitempty"`
	// Name is what other users are shown, such as "terminal 4711", and Platform the kind of
	// frontend, such as "cli". A server need not believe them.
	Name     string `json:"name,omitempty"`
	Platform string `json:"platform,omitempty"`
	// Client names the frontend on each of its connections, so that it knows as its own what it
	// did before a connection was lost. It is at most 100 bytes. Without one, each connection is
	// another frontend.
	Client string `json:"client,omitempty"`
}

// Own returns the name of the frontend among those of the process, for From.Client. No frontend of
// the process itself has such a name.
func (h Hello) Own() string {
	if h.Client == "" {
		return "connection " + rand.Text()
	}
	return "client " + h.Client
}

// maxClient is how long Hello.Client may be, in bytes.
const maxClient = 100

// welcome is the result of initialize.
type welcome struct {
	Version int         `json:"version"`
	Server  string      `json:"server"`
	From    hermes.From `json:"from"` // what the server takes the client for
}

type sessionsParams struct {
	Filter protocol.Filter `json:"filter,omitzero"`
}

type sessionsResult struct {
	Sessions []protocol.SessionInfo `json:"sessions"`
}

type openParams struct {
	Run     hermes.RunSpec `json:"run"`
	Attends bool           `json:"attends,omitempty"`
}

type openResult struct {
	Session protocol.SessionInfo `json:"session"`
}

type attachParams struct {
	Session string         `json:"session"`
	After   protocol.After `json:"after,omitzero"`
	Attends bool           `json:"attends,omitempty"`
}

type attachResult struct {
	Subscription string            `json:"subscription"`
	Snapshot     protocol.Snapshot `json:"snapshot"`
}

// subscriptionParams are those of detach and detached.
type subscriptionParams struct {
	Subscription string `json:"subscription"`
}

// The params of an event are {"subscription": "…", "envelope": {…}}. There are many, so they are
// written and read by hand.

func encodeEvent(subscription string, envelope []byte) jsonrpc.Raw {
	b := make([]byte, 0, len(envelope)+len(subscription)+40)
	b = append(append(append(b, `{"subscription":"`...), subscription...), `","envelope":`...) // the name needs no escapes
	return append(append(b, envelope...), '}')
}

func decodeEvent(params []byte) (subscription string, envelope protocol.Envelope, err error) {
	var name, raw json.RawMessage
	plain := jsonrpc.Members(params, func(member, value []byte) {
		switch string(member) {
		case "subscription":
			name = value
		case "envelope":
			raw = value
		}
	})
	if !plain {
		return "", envelope, errors.New("the params of an event are an object")
	}
	if err := json.Unmarshal(name, &subscription); err != nil {
		return "", envelope, err
	}
	return subscription, envelope, envelope.UnmarshalJSON(raw)
}

type doParams struct {
	Session string          `json:"session"`
	Op      json.RawMessage `json:"op"`
}

type historyParams struct {
	Session string       `json:"session"`
	Range   hermes.Range `json:"range,omitzero"`
}

type historyResult struct {
	Messages []hermes.Message `json:"messages"`
}

type commandParams struct {
	Session string `json:"session"`
	Line    string `json:"line"`
}

// none is the result of methods that return nothing.
type none struct{}
