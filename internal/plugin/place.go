package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/jsonrpc"
	"hermes/internal/text"
)

// The methods of an environment. output is one of the plugin.
const (
	methodExec      = "environment/exec"
	methodInput     = "environment/input"
	methodClosing   = "environment/close"
	requestOutput   = "environment/output"
	codeNotRun      = -32004
	closeTime       = 20 * time.Second
	maxChunk        = 1 << 20 // bytes of output in one message
	inputChunk      = 64 << 10
	mostOutstanding = 4  // chunks of one script that are not answered yet
	mostAnswers     = 64 // answers to them that the plugin does not read
)

// execCall are the params of environment/exec.
type execCall struct {
	Call   string `json:"call"`
	Place  string `json:"place"`
	Script string `json:"script"`
	// Stdin says that there is input, which comes by environment/input.
	Stdin bool `json:"stdin"`
	// Merged says that both streams are one, stdout, in the order of a terminal.
	Merged bool `json:"merged"`
	// Running forbids to make or wake a place.
	Running bool `json:"running,omitempty"`
}

type execDone struct {
	Code int `json:"exit_code"`
}

// inputCall are the params of environment/input.
type inputCall struct {
	Call string `json:"call"`
	Data []byte `json:"data,omitempty"`
	End  bool   `json:"end,omitempty"`
}

// outputCall are the params of environment/output.
type outputCall struct {
	Call   string `json:"call"`
	Stream string `json:"stream"` // stdout or stderr
	Data   []byte `json:"data"`
}

// placeCall are the params of environment/close.
type placeCall struct {
	Call  string `json:"call"`
	Place string `json:"place"`
}

// Script is what runs in a place of a plugin: a text for a POSIX shell, its input and where its output
// goes. Running scripts start nothing: they run only where a place is known to run.
type Script struct {
	Text           string
	Stdin          io.Reader
	Running        bool
	Stdout, Stderr io.Writer // may be the same
}

// ErrNotRun means that a script certainly did not run.
var ErrNotRun = errors.New("the script was not run")

// Place is where the commands of one session run: in the hands of a plugin. Its methods may be called
// concurrently; Close comes last.
type Place struct {
	plugin *Plugin
	name   string
	used   atomic.Bool
}

// Place returns the place of a session in a plugin of the kind environment.
func (s *Plugins) Place(plugin, session string) (*Place, error) {
	for _, p := range s.list {
		if p.Name() == plugin && p.manifest.has(KindEnvironment) {
			return &Place{plugin: p, name: session}, nil
		}
	}
	return nil, fmt.Errorf("no plugin %q that runs commands is enabled; `hermes plugins list` shows them", text.VisibleName(plugin))
}

// Exec runs a script and returns its exit status when it has ended and its output is written. An error
// wraps [ErrNotRun], or the outcome is unknown. When ctx ends, the plugin is told, and Exec returns the
// cause of ctx.
func (l *Place) Exec(ctx context.Context, s Script) (code int, err error) {
	p := l.plugin
	if s.Running && !(l.used.Load() && p.runs()) {
		return 0, fmt.Errorf("%w: nothing runs in the plugin %s", ErrNotRun, p.Name())
	}
	c, err := p.connection(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNotRun, err)
	}
	l.used.Store(true)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	id, done := p.calls.begin(ctx, nil)
	defer done()
	defer p.calls.stream(ctx, id, s.Stdout, s.Stderr)()
	if s.Stdin != nil {
		go func() { _ = c.feed(ctx, id, s.Stdin) }() // ends with the input or the call; who needs all of it sees that in the output
	}
	var r execDone
	err = c.rpc.Call(ctx, methodExec, execCall{Call: id, Place: l.name, Script: s.Text, Stdin: s.Stdin != nil, Merged: s.Stdout != nil && s.Stdout == s.Stderr, Running: s.Running}, &r)
	switch refused, said := errors.AsType[*jsonrpc.Error](err); {
	case err == nil:
		return r.Code, nil
	case said && refused.Code == codeNotRun:
		return 0, fmt.Errorf("%w: the plugin %s says: %s", ErrNotRun, p.Name(), text.Cut(text.Plain(refused.Message), 1000))
	case said:
		return 0, fmt.Errorf("the plugin %s says: %s", p.Name(), text.Cut(text.Plain(refused.Message), 1000))
	case ctx.Err() != nil:
		p.cancel(c, id)
		return 0, context.Cause(ctx)
	case errors.Is(err, jsonrpc.ErrEnded):
		return 0, fmt.Errorf("the plugin %s: %w (%s)", p.Name(), errLost, text.OneLine(text.Plain(c.rpc.Err().Error()), 300))
	}
	return 0, fmt.Errorf("%w: %w", ErrNotRun, err) // it could not be sent
}

// Close tells the plugin that the session needs the place no more, if it was used.
func (l *Place) Close() error {
	if !l.used.Load() || l.plugin.life.Err() != nil {
		return nil
	}
	return l.plugin.call(context.Background(), methodClosing, nil, closeTime, func(id string) any { return placeCall{id, l.name} }, nil)
}

// runs reports whether the program runs.
func (p *Plugin) runs() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil && p.conn.rpc.Err() == nil
}

// feed sends input to a script, each part after the one before was taken.
func (c *conn) feed(ctx context.Context, id string, from io.Reader) error {
	buffer := make([]byte, inputChunk)
	for {
		n, readErr := from.Read(buffer)
		if n > 0 {
			if err := c.rpc.Call(ctx, methodInput, inputCall{Call: id, Data: buffer[:n]}, nil); err != nil {
				return err
			}
		}
		if readErr != nil { // one that is no io.EOF ends the input, too
			return c.rpc.Call(ctx, methodInput, inputCall{Call: id, End: true}, nil)
		}
	}
}

// chunk is a part of the output of a script.
type outputChunk struct {
	to      string
	data    []byte
	request *jsonrpc.Request
}

// stream takes the output of a call until done is called, which returns when all that came before is
// written. After the end of ctx nothing more is.
func (c *calls) stream(ctx context.Context, id string, stdout, stderr io.Writer) (done func()) {
	chunks := make(chan outputChunk, mostOutstanding)
	c.mu.Lock()
	one := c.running[id]
	one.chunks = chunks
	c.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() { // ends with done
		for k := range chunks {
			to := stdout
			if k.to == "stderr" {
				to = stderr
			}
			if to != nil && ctx.Err() == nil {
				_, _ = to.Write(k.data) // who reads it no more needs no more
			}
			c.mu.Lock()
			one.outstanding-- // before the answer: the plugin may send the next part as soon as it has that
			one.answers++
			c.mu.Unlock()
			request := k.request
			go func() { // ends with the connection: the plugin may not read
				_ = request.Reply(struct{}{}, nil)
				c.mu.Lock()
				one.answers--
				c.mu.Unlock()
			}()
		}
	})
	return func() {
		c.mu.Lock()
		one.chunks = nil
		c.mu.Unlock()
		close(chunks)
		all.Wait()
	}
}

// output takes a part of the output of a script. It reports false if the request is none of those that
// are paced by their answers.
func (p *Plugin) output(r *jsonrpc.Request) (taken bool) {
	var in outputCall
	if err := json.Unmarshal(r.Params, &in); err != nil || len(in.Data) > maxChunk || !slices.Contains([]string{"stdout", "stderr"}, in.Stream) {
		_ = r.Reply(nil, &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: fmt.Sprintf("output is a part of stdout or stderr in base64, %s at most", text.Size(maxChunk))})
		return false
	}
	p.calls.mu.Lock()
	one := p.calls.running[in.Call]
	why := ""
	switch {
	case one == nil || one.chunks == nil:
		why = "no script runs under this call"
	case one.outstanding >= mostOutstanding || one.answers >= mostAnswers:
		why = "wait for the answer before the next part"
	default:
		one.outstanding++
		one.chunks <- outputChunk{in.Stream, in.Data, r} // it has room for all that are outstanding
	}
	p.calls.mu.Unlock()
	if why != "" {
		_ = r.Reply(nil, refused("%s", why))
	}
	return why == ""
}
