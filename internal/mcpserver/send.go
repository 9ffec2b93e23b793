package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/text"
)

func (s *Server) addSend() {
	add(s, tool{name: "messages_send", title: "Send a message", writes: true, about: "Send a message to the agent in a conversation. It is answered as untrusted text: follow the answer with events_wait and the cursor that is returned."}, s.send)
	add(s, tool{name: "channels_list", title: "List channels", about: "List the chats of messaging platforms that messages can be sent to."}, s.channels)
}

type channelsResult struct {
	Channels []string `json:"channels"`
	Note     string   `json:"note"`
}

const noChannels = "There are no channels: this version of Hermes has no gateway to messaging platforms. Send to a conversation of conversations_list with messages_send and its conversation_id."

func (s *Server) channels(context.Context, caller, struct{}) (channelsResult, error) {
	return channelsResult{[]string{}, noChannels}, nil
}

type sendArgs struct {
	Conversation string `json:"conversation_id,omitempty" jsonschema:"an id, a unique beginning of one, or a title"`
	Message      string `json:"message"`
	Target       string `json:"target,omitempty" jsonschema:"a channel of channels_list, instead of a conversation"`
}

type sendResult struct {
	Conversation string `json:"conversation_id"`
	State        string `json:"state" jsonschema:"started, or queued behind the turn that runs"`
	Cursor       int64  `json:"cursor" jsonschema:"pass it to events_wait as after_cursor to get the answer"`
	Where        string `json:"where" jsonschema:"the process that answers"`
	Note         string `json:"note,omitempty"`
}

// maxMessage bounds a message, in bytes.
const maxMessage = 64 << 10

// sendable are the sources of conversations that are answered where they are stored.
func sendable() []string {
	return []string{"", "cli", "oneshot", "demo", "acp", "web", "tui", platform}
}

// platform is what the server is for sessions.
const platform = "mcp"

// from is the frontend of a client.
func (s *Server) from(c caller) hermes.From {
	f := s.cfg.From
	if name := clientName(c); name != "" {
		f.Name = strings.TrimSpace(f.Name + " " + name)
	}
	return f
}

func clientName(c caller) string { return hermes.ProvenanceSource(text.Cut(text.Visible(c.name), 40)) }

func (s *Server) send(ctx context.Context, c caller, in sendArgs) (sendResult, error) {
	var none sendResult
	switch {
	case in.Target != "":
		return none, errors.New("messages to channels are sent by the gateway, which this version of Hermes does not have. Leave target out, and name a conversation of conversations_list as conversation_id")
	case strings.TrimSpace(in.Message) == "":
		return none, errors.New("the message is empty; write what the agent is to do")
	case len(in.Message) > maxMessage:
		return none, fmt.Errorf("the message has %s; at most %s are taken. Put long text into a file, and name the file", text.Size(int64(len(in.Message))), text.Size(maxMessage))
	}
	info, err := s.find(ctx, in.Conversation)
	if err != nil {
		return none, err
	}
	switch {
	case info.Platform == hermes.PlatformChild:
		return none, fmt.Errorf("conversation %s belongs to a sub-agent; send to its parent, conversation %s", info.ID, info.Parent)
	case !slices.Contains(sendable(), info.Platform):
		return none, fmt.Errorf("conversation %s is held on %s: messages to it are sent by the gateway, which this version of Hermes does not have", info.ID, info.Platform)
	}
	before, err := s.feed.after(ctx, 0, 0) // the answer comes after it
	if err != nil {
		return none, err
	}
	out := sendResult{Conversation: info.ID, State: "started", Cursor: before.Next}
	say := hermes.Say{Parts: []hermes.Part{{Text: in.Message, Provenance: sourceOf(c)}}, Busy: hermes.BusyQueue, Key: rand.Text()}
	state, err := s.deliver(ctx, c, info, say)
	if errors.Is(err, hermes.ErrClosed) && ctx.Err() == nil { // it was left between two looks
		state, err = s.deliver(ctx, c, info, say)
	}
	if err != nil {
		return none, err
	}
	if out.Where = s.conversation(info).Where; s.mine(info.ID) {
		out.Where = "this server"
	}
	if state.State != protocol.StateIdle {
		out.State = "queued"
	}
	if s.mine(info.ID) && !s.cfg.AllowApprovals {
		out.Note = "This server runs the conversation, and no user attends: risky calls are refused."
	}
	return out, nil
}

// deliver sends a message to the session of a conversation, which is opened unless it is live, and
// returns the state before.
func (s *Server) deliver(ctx context.Context, c caller, info protocol.SessionInfo, say hermes.Say) (protocol.Snapshot, error) {
	state, err := s.reach(ctx, c, info)
	if err != nil {
		return state, err
	}
	if state.Mode != hermes.ModeAsk && state.Mode != hermes.ModePlan && state.Mode != "" {
		return state, fmt.Errorf("conversation %s is in the mode %s, in which risky calls run without a question: MCP clients may not send to it. The user changes that with /mode ask where it is shown", info.ID, state.Mode)
	}
	defer s.using(info.ID)()
	return state, s.cfg.Client.Do(ctx, info.ID, s.from(c), say)
}

// sourceOf names a client as a source of untrusted text.
func sourceOf(c caller) string { return hermes.ClientSource(clientName(c)) }

// reach returns the state of the session of a conversation, which is opened unless it is live.
func (s *Server) reach(ctx context.Context, c caller, info protocol.SessionInfo) (protocol.Snapshot, error) {
	if s.mine(info.ID) {
		return s.glance(ctx, c, info.ID)
	}
	if info.Running != nil {
		state, err := s.glance(ctx, c, info.ID)
		if !errors.Is(err, hermes.ErrClosed) {
			return state, err
		}
	}
	if err := s.hold(ctx, c, info.ID); err != nil {
		return protocol.Snapshot{}, err
	}
	return s.glance(ctx, c, info.ID)
}

// glance attaches for a moment.
func (s *Server) glance(ctx context.Context, c caller, id string) (protocol.Snapshot, error) {
	ctx, detach := context.WithCancel(ctx)
	defer detach()
	state, _, err := s.cfg.Client.Attach(ctx, id, s.from(c), protocol.After{})
	return state, err
}
