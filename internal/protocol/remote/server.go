package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
)

// Server says what a connection is served with.
type Server struct {
	// Client does what the peer asks for.
	Client protocol.Client
	// Admit decides whether a peer may connect, and returns what it is taken for; an error,
	// such as [ErrKey], is shown to the peer, and the connection is closed. If From.Client is
	// empty, it becomes one that no other connection has. Whether the user attends is what the
	// peer says when it opens or attaches.
	Admit func(ctx context.Context, h Hello) (hermes.From, error)
	// Name is what the peer is told about the program, such as "hermes 1.2".
	Name string
	// Log gets what goes wrong here; nil means none does.
	Log *slog.Logger
}

// errSilent ends a connection whose peer does not introduce itself.
var errSilent = fmt.Errorf("the other side did not say who it is within %v", firstTime)

// Serve serves one connection until it ends or ctx does, and closes the stream. All
// subscriptions of the peer end with the connection, at once. It returns when nothing of the
// connection runs any more: nil if the peer has ended it, otherwise why it ended.
func Serve(ctx context.Context, stream jsonrpc.Stream, s Server) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v := &served{Server: s, end: cancel, subscriptions: map[string]*lent{}}
	limit(stream, maxFirst)
	silent := time.AfterFunc(firstTime, func() { cancel(errSilent) })
	defer silent.Stop()
	v.admitted = func() {
		silent.Stop()
		limit(stream, MaxRequest)
	}
	conn := jsonrpc.New(ctx, stream, v, jsonrpc.Options{Requests: maxRequests, WriteTime: readTime, MaxWrite: MaxReply, Log: s.Log})
	err := conn.Wait()
	v.work.Wait()
	switch {
	case v.refused != nil:
		return v.refused
	case gone(err):
		return nil
	}
	return err
}

// gone reports whether an error of a stream says that the peer has ended it.
func gone(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, syscall.EPIPE, syscall.ECONNRESET}, func(end error) bool { return errors.Is(err, end) })
}

// served is a connection that is served.
type served struct {
	Server
	end      context.CancelCauseFunc
	admitted func()         // called once the peer is known
	from     hermes.From    // of the peer; it has a Client once the peer is known
	refused  error          // why the peer was not let in
	work     sync.WaitGroup // what passes events on

	mu            sync.Mutex
	serial        int
	subscriptions map[string]*lent
}

// Handle does what the peer asks for. Until the peer is known, that is nothing.
func (v *served) Handle(ctx context.Context, r *jsonrpc.Request) {
	known := v.from.Client != ""
	switch {
	case r.Method == methodInitialize && !known:
		v.initialize(ctx, r)
	case r.Method == methodInitialize:
		_ = r.Reply(nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalid, Message: "the connection is initialized already"})
	case !known:
		_ = r.Reply(nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalid, Message: "send initialize first"})
	default:
		v.request(r)
	}
}

// request handles what takes time.
func (v *served) request(r *jsonrpc.Request) {
	var f func(context.Context, *jsonrpc.Request) (any, error)
	switch r.Method {
	case methodSessions:
		f = v.sessions
	case methodOpen:
		f = v.open
	case methodAttach:
		f = v.attach
	case methodDetach:
		f = v.detach
	case methodDo:
		f = v.do
	case methodHistory:
		f = v.history
	case methodCommand:
		f = v.command
	case methodHalt:
		f = v.halt
	default:
		_ = r.Reply(nil, jsonrpc.NoMethod(r.Method))
		return
	}
	r.Go(func(ctx context.Context) (any, error) {
		result, err := f(ctx, r)
		return result, encodeError(err)
	})
}

// params reads the params of a request strictly.
func params(r *jsonrpc.Request, into any) error {
	raw := r.Params
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	return invalid(protocol.DecodeStrict(raw, into))
}

// invalid is the error of params that cannot be read.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: err.Error()}
}

// initialize lets the peer in, or says why not and ends the connection.
func (v *served) initialize(ctx context.Context, r *jsonrpc.Request) {
	from, err := v.admit(ctx, r)
	if err == nil {
		v.from = from
		v.admitted()
		_ = r.Reply(welcome{Version: protocol.Version, Server: v.Name, From: from}, nil)
		return
	}
	v.refused = err
	_ = r.Reply(nil, encodeError(err))
	_ = r.Conn().Close()
}

// admit returns what the peer is taken for.
func (v *served) admit(ctx context.Context, r *jsonrpc.Request) (hermes.From, error) {
	var version struct{ Version int }
	if err := json.Unmarshal(r.Params, &version); err == nil && version.Version != protocol.Version {
		return hermes.From{}, fmt.Errorf("%w: this program speaks version %d, the client version %d", ErrVersion, protocol.Version, version.Version)
	}
	var h Hello
	if err := params(r, &h); err != nil {
		return hermes.From{}, err
	}
	if len(h.Client) > maxClient {
		return hermes.From{}, invalid(fmt.Errorf("client: it may have %d bytes at most", maxClient))
	}
	from, err := v.Admit(ctx, h)
	from.Client = cmp.Or(from.Client, h.Own())
	from.Attends = false
	return from, err
}

func (v *served) sessions(ctx context.Context, r *jsonrpc.Request) (any, error) {
	var p sessionsParams
	if err := params(r, &p); err != nil {
		return nil, err
	}
	list, err := v.Client.Sessions(ctx, p.Filter)
	if list == nil {
		list = []protocol.SessionInfo{}
	}
	return sessionsResult{list}, err
}

func (v *served) open(ctx context.Context, r *jsonrpc.Request) (any, error) {
	var p openParams
	if err := params(r, &p); err != nil {
		return nil, err
	}
	o := &p.Run.Origin
	if o.Chat != "" || o.Root != "" || o.RootID != "" || o.Task != (hermes.TaskOrigin{}) || o.Parent != "" || o.Depth != 0 || o.Provenance != "" {
		return nil, invalid(errors.New("run.origin: the chat, root, parent, depth, task and provenance of a session are not for a client to set"))
	}
	o.Platform, o.User = v.from.Platform, v.from.User
	info, err := v.Client.Open(ctx, v.speaker(p.Attends), p.Run)
	return openResult{info}, err
}

// speaker is the peer, whose user is there if it says so, or while a subscription says so.
func (v *served) speaker(attends bool) hermes.From {
	v.mu.Lock()
	defer v.mu.Unlock()
	from := v.from
	from.Attends = attends
	for _, s := range v.subscriptions {
		from.Attends = from.Attends || s.attends
	}
	return from
}

func (v *served) do(ctx context.Context, r *jsonrpc.Request) (any, error) {
	var p doParams
	if err := params(r, &p); err != nil {
		return nil, err
	}
	op, err := protocol.DecodeOp(p.Op)
	if err != nil {
		return nil, invalid(fmt.Errorf("op: %w", err))
	}
	return none{}, v.Client.Do(ctx, p.Session, v.speaker(false), op)
}

func (v *served) history(ctx context.Context, r *jsonrpc.Request) (any, error) {
	var p historyParams
	if err := params(r, &p); err != nil {
		return nil, err
	}
	list, err := v.Client.History(ctx, p.Session, p.Range)
	if list == nil {
		list = []hermes.Message{}
	}
	return historyResult{list}, err
}

func (v *served) command(ctx context.Context, r *jsonrpc.Request) (any, error) {
	var p commandParams
	if err := params(r, &p); err != nil {
		return nil, err
	}
	return none{}, v.Client.Command(ctx, p.Session, v.speaker(false), p.Line)
}

func (v *served) halt(ctx context.Context, r *jsonrpc.Request) (any, error) {
	if err := params(r, &none{}); err != nil {
		return nil, err
	}
	h, ok := v.Client.(protocol.Halter)
	if !ok {
		return nil, jsonrpc.NoMethod(r.Method)
	}
	return h.Halt(ctx)
}
