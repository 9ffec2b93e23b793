package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/jsonrpc"
	"hermes/internal/proc"
)

const (
	// maxLine bounds one message of the program, in bytes.
	maxLine = 8 << 20
	// maxErrors is how much of the program's error output is kept, in bytes.
	maxErrors = 4 << 10
	// chunk is how much is written at once, in bytes: a program that reads slowly is
	// given up only if it does not read that.
	chunk = 32 << 10
	// cancelTime is how long a program may take to end a cancelled answer.
	cancelTime = time.Second
)

// codeNeedsAuth is an error of the protocol.
const codeNeedsAuth = -32000

// errDeaf means that the program does not read what it is sent.
var errDeaf = errors.New("the program takes no more input")

// conn is a running program. One goroutine uses it.
type conn struct {
	process *proc.Process
	program string
	silence time.Duration
	rpc     *jsonrpc.Conn
	heard   chan struct{}         // holds one: the program has said something
	asked   chan *jsonrpc.Request // what the program says by itself, in order
	errs    *tail
	// session and answer are set once the prompt is sent: updates of this
	// session belong to the answer.
	session string
	answer  *answer
}

// start starts the program. The end of ctx does not end it: the caller cancels the
// answer first, and closes the connection.
func (m *Model) start(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	read, write := io.Pipe()
	c := &conn{
		program: m.cfg.Command[0], silence: m.silence(), errs: &tail{}, heard: make(chan struct{}, 1), asked: make(chan *jsonrpc.Request),
	}
	process, err := proc.Start(context.WithoutCancel(ctx), proc.Command{
		Path: m.cfg.Command[0], Args: m.cfg.Command[1:], Dir: m.cfg.Dir, Env: m.cfg.Env, OpenInput: true, Stdout: write, Stderr: c.errs,
		Files: m.cfg.Files, Guard: m.cfg.Guard,
	})
	if err != nil {
		return nil, failure(400, fmt.Sprintf("cannot start the program %s: %v", m.cfg.Command[0], err))
	}
	c.process = process
	go func() { // ends with the program, which close ends
		<-process.Done()
		write.Close()
	}()
	lines := jsonrpc.NewLines(streams{read, process}, maxLine).Tolerant() // some programs also log there
	c.rpc = jsonrpc.New(context.WithoutCancel(ctx), listened{lines, c.heard}, c, jsonrpc.Options{WriteTime: -1})
	return c, nil
}

// close ends the program and everything that it started.
func (c *conn) close() {
	_ = c.rpc.Close()
	c.process.Close()
	_ = c.rpc.Wait()
}

// streams are the standard output and input of the program.
type streams struct {
	*io.PipeReader
	process *proc.Process
}

// Write passes messages on to the program, which must read each chunk in a few seconds.
func (s streams) Write(p []byte) (int, error) {
	for part := range slices.Chunk(p, chunk) {
		if err := s.process.Input(part); err != nil {
			return 0, fmt.Errorf("%w: %w", errDeaf, err)
		}
	}
	return len(p), nil
}

// listened is a stream that tells when something was read.
type listened struct {
	*jsonrpc.Lines
	heard chan<- struct{}
}

// Read returns the next message.
func (l listened) Read() ([]byte, error) {
	line, err := l.Lines.Read()
	select {
	case l.heard <- struct{}{}:
	default:
	}
	return line, err
}

// Handle hands what the program says to the goroutine that uses the connection.
func (c *conn) Handle(ctx context.Context, r *jsonrpc.Request) {
	select {
	case c.asked <- r:
	case <-ctx.Done():
	}
}

// call sends a request and waits for its result. Meanwhile it passes updates on and
// answers what the program asks.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	calling, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var raw json.RawMessage // set before over
	over := make(chan error, 1)
	go func() { over <- c.rpc.Call(calling, method, params, &raw) }() // ends with calling
	done := ctx.Done()
	var stopped error // why the answer was cancelled
	silence := time.NewTimer(c.silenceTime())
	defer silence.Stop()
	for {
		select {
		case <-done:
			if method != "session/prompt" {
				return context.Cause(ctx)
			}
			done, stopped = nil, context.Cause(ctx)
			c.cancel(silence)
		case <-silence.C:
			if stopped != nil {
				return stopped
			}
			return &httpc.TimeoutError{Phase: "stale", After: c.silence}
		case <-c.heard:
			if stopped == nil {
				silence.Reset(c.silenceTime())
			}
		case r := <-c.asked:
			if err := c.take(r, stopped != nil); err != nil && stopped == nil {
				stopped = err // the reader has stopped
				c.cancel(silence)
			}
		case err := <-over:
			return cmp.Or(stopped, c.answered(method, raw, result, err))
		}
	}
}

// answered reads the result of a request.
func (c *conn) answered(method string, raw json.RawMessage, result any, err error) error {
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return c.refused(refused)
	}
	if err != nil {
		return c.ended(err)
	}
	if result != nil && json.Unmarshal(raw, result) != nil {
		return fmt.Errorf("%w: the result of %s", fault.ErrGarbage, method)
	}
	return nil
}

// silenceTime is how long to wait for the next message.
func (c *conn) silenceTime() time.Duration {
	if c.silence > 0 {
		return c.silence
	}
	return 24 * time.Hour
}

// cancel asks the program to end its answer, and bounds the wait for that.
func (c *conn) cancel(wait *time.Timer) {
	ctx, end := context.WithTimeout(context.Background(), cancelTime)
	defer end()
	_ = c.rpc.Notify(ctx, "session/cancel", map[string]any{"sessionId": c.session}) // it is ended anyway
	wait.Reset(cancelTime)
}

// take handles what the program says by itself. It gets nothing of ours.
func (c *conn) take(r *jsonrpc.Request, cancelled bool) error {
	switch {
	case r.Method == "session/request_permission" && !r.Notification():
		return c.permission(r, cancelled)
	case r.Method == "session/update" && c.answer != nil && !cancelled:
		return c.answer.update(r.Params, c.session)
	}
	_ = r.Reply(nil, &jsonrpc.Error{Code: jsonrpc.CodeNoMethod, Message: "Hermes lends no " + r.Method}) // the call sees the end
	return nil
}

// refused makes an error of the program's. One that needs a login says where.
func (c *conn) refused(e *jsonrpc.Error) error {
	text := oneLine(e.Message)
	if detail := detailOf(e.Data); detail != "" && !strings.Contains(text, detail) {
		text += ": " + detail
	}
	switch e.Code {
	case codeNeedsAuth:
		return failure(401, fmt.Sprintf("%s is not logged in (%s); start %s in a terminal and log in there", c.program, text, c.program))
	case jsonrpc.CodeParams, jsonrpc.CodeNoMethod:
		return failure(400, text)
	}
	return failure(0, text)
}

// detailOf reads the text that some programs put into the data of an error.
func detailOf(raw json.RawMessage) string {
	var d struct {
		Details string `json:"details"`
		Message string `json:"message"`
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return oneLine(text)
	}
	_ = json.Unmarshal(raw, &d) // a partial result is enough
	if d.Details != "" {
		return oneLine(d.Details)
	}
	return oneLine(d.Message)
}

// ended says how the program ended.
func (c *conn) ended(cause error) error {
	text := "the program " + c.program + " ended before it answered"
	if errors.Is(cause, errDeaf) {
		text = "the program " + c.program + " takes no more input"
	}
	if last := c.errs.last(); last != "" {
		text += "; it said: " + last
	}
	return fmt.Errorf("%w: %w", fault.ErrCut, errors.New(text))
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the last bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxErrors):]...)
	t.text = t.text[max(0, len(t.text)-maxErrors):]
	return len(p), nil
}

// last returns the last line that is not empty.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return oneLine(lines[len(lines)-1])
}
