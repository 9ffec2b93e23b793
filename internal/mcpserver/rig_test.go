package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/archive"
	"hermes/internal/home"
	"hermes/internal/mcpserver"
	"hermes/internal/memory"
	"hermes/internal/protocol/protocoltest"
	"hermes/internal/skill"
)

// rig is a server over a process that runs sessions, and a client of it.
type rig struct {
	t      *testing.T
	world  *protocoltest.World
	server *mcpserver.Server
	client *mcp.ClientSession
	memory *memory.File
	home   string
}

// files are the files of memory.
type files struct{ *memory.File }

func (f files) Entries(name string) (list []mcpserver.Entry, err error) {
	state, err := f.Read(memory.Target(name))
	for _, e := range state.Entries {
		list = append(list, mcpserver.Entry{Text: e.Text, From: e.Origin.String(), Provenance: e.Origin.Provenance})
	}
	return list, err
}

// mask hides a password.
type mask struct{ archive.Mask }

func (m mask) Text(text string) string { return m.Mask(text) }

// newRig returns a rig whose model plays the steps.
func newRig(t *testing.T, change func(*mcpserver.Config), steps ...hermestest.Step) *rig {
	t.Helper()
	r := &rig{t: t, world: protocoltest.NewWorld(t, steps...), home: t.TempDir()}
	r.memory = memory.NewFile(memory.Config{Dir: filepath.Join(r.home, "memories"), NotesLimit: 5_000, UserLimit: 5_000})
	cfg := mcpserver.Config{
		Client: r.world.Client, Store: r.world.Store, Memory: files{r.memory}, Skills: skill.New(skill.Config{Home: home.At(r.home)}),
		From: hermes.From{Client: "mcp 1", Platform: "mcp", Name: "MCP client"},
		Mask: mask{func(text string) string { return strings.ReplaceAll(text, "hunter2", "[hidden]") }}, Poll: time.Millisecond,
		Where: func(owner, _ string) string { return "process " + owner },
	}
	if change != nil {
		change(&cfg)
	}
	r.server = mcpserver.New(cfg)
	t.Cleanup(func() {
		if err := r.server.Close(); err != nil {
			t.Error(err)
		}
	})
	r.client = r.connect("tester")
	return r
}

// connect connects a client with a name.
func (r *rig) connect(name string) *mcp.ClientSession {
	r.t.Helper()
	fromClient, toServer, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	fromServer, toClient, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.server.Run(r.t.Context(), fromClient, toClient) }() // ends with the client
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(r.t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; err != nil {
			r.t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// call calls a tool and decodes what it returns; the error is that of the tool.
func (r *rig) call(tool string, args map[string]any, out any) error {
	r.t.Helper()
	res, err := r.client.CallTool(r.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		r.t.Fatalf("%s: %v", tool, err)
	}
	if res.IsError {
		return fmt.Errorf("%s", res.Content[0].(*mcp.TextContent).Text)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		r.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	return nil
}

// must is call for a tool that succeeds.
func (r *rig) must(tool string, args map[string]any, out any) {
	r.t.Helper()
	if err := r.call(tool, args, out); err != nil {
		r.t.Fatalf("%s: %v", tool, err)
	}
}

// stored stores a conversation and returns the ids of its messages.
func (r *rig) stored(s hermes.Session, list ...hermes.Message) []int64 {
	r.t.Helper()
	if s.Started.IsZero() {
		s.Started = time.Now()
	}
	if err := r.world.Store.CreateSession(r.t.Context(), s); err != nil {
		r.t.Fatal(err)
	}
	return r.append(s.ID, list...)
}

// append adds messages to a stored conversation, as another process does.
func (r *rig) append(id string, list ...hermes.Message) []int64 {
	r.t.Helper()
	l, err := r.world.Store.Acquire(r.t.Context(), id, hermes.Owner{Name: "another"}, time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := r.world.Store.Commit(r.t.Context(), l, hermes.Change{Append: list})
	if err == nil {
		err = r.world.Store.Release(r.t.Context(), l)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return c.IDs
}

// message is a message as a client reads it.
type message struct {
	ID         int64 `json:"message_id"`
	Role       string
	Text       string
	Next       int `json:"next_offset"`
	Tool       string
	Calls      []struct{ Tool, Arguments string }
	Files      []struct{ Bytes int } `json:"attachments"`
	Untrusted  bool
	Provenance string
}

// messages is a page of messages.
type messages struct {
	Messages       []message
	More           bool
	Oldest, Newest int64
}

func (m *messages) UnmarshalJSON(raw []byte) error {
	var v struct {
		Messages []message
		More     bool
		Oldest   int64 `json:"oldest_message_id"`
		Newest   int64 `json:"newest_message_id"`
	}
	err := json.Unmarshal(raw, &v)
	*m = messages(v)
	return err
}

// texts are the texts of messages.
func (m messages) texts() (list []string) {
	for _, m := range m.Messages {
		list = append(list, m.Text)
	}
	return list
}

// events is what events_poll and events_wait return.
type events struct {
	Events []struct {
		Cursor       int64
		Type         string
		Conversation string `json:"conversation_id"`
		Message      *message
		Approval     *struct {
			ID       string `json:"permission_id"`
			Subject  string
			UserOnly bool `json:"user_only"`
		}
		Resolved *struct{ Decision, By string }
	}
	Next      int64 `json:"next_cursor"`
	Lost      int64
	Restarted bool
	More      bool
}

// until waits until an event of a type comes after a cursor, and returns all that came.
func (r *rig) until(kind string, cursor int64) (all events) {
	r.t.Helper()
	for late := time.Now().Add(time.Minute); time.Now().Before(late); {
		var e events
		r.must("events_wait", map[string]any{"after_cursor": cursor, "timeout_ms": 5000}, &e)
		all.Events, all.Next = append(all.Events, e.Events...), e.Next
		for _, e := range e.Events {
			if e.Type == kind && (kind != "message" || e.Message.Role == "assistant") {
				return all
			}
		}
		cursor = e.Next
	}
	r.t.Fatalf("no %s came in %+v", kind, all)
	return all
}
