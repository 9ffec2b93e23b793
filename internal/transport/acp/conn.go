package acp

import (
	"bufio"
	"bytes"
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
	"hermes/internal/proc"
)

const (
	// maxLine bounds one message of the program, in bytes.
	maxLine = 8 << 20
	// maxErrors is how much of the program's error output is kept, in bytes.
	maxErrors = 4 << 10
	// maxOut is how many messages may wait until the program reads them.
	maxOut = 64
	// chunk is how much is written at once, in bytes: a program that reads slowly is
	// given up only if it does not read that.
	chunk = 32 << 10
	// cancelTime is how long a program may take to end a cancelled answer.
	cancelTime = time.Second
)

// message is any message of JSON-RPC 2.0.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *refusal        `json:"error,omitempty"`
}

// refusal is an error of JSON-RPC.
type refusal struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Codes of JSON-RPC and of the protocol.
const (
	codeNoMethod  = -32601
	codeParams    = -32602
	codeNeedsAuth = -32000
)

// conn is a running program. One goroutine uses it. Another writes, since a program may
// say something before it reads on.
type conn struct {
	process *proc.Process
	program string
	silence time.Duration
	lines   chan []byte // closed when the output ends
	out     *io.PipeReader
	outbox  chan []byte
	deaf    chan error    // why the program gets no more messages, at most one
	gone    chan struct{} // closed with the connection
	errs    *tail
	serial  int
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
	c := &conn{program: m.cfg.Command[0], silence: m.silence(), lines: make(chan []byte), out: read, errs: &tail{},
		outbox: make(chan []byte, maxOut), deaf: make(chan error, 1), gone: make(chan struct{})}
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
	go c.read()  // ends with the output or the connection
	go c.write() // ends with the program or the connection
	return c, nil
}

// close ends the program and everything that it started.
func (c *conn) close() {
	close(c.gone)
	c.out.Close()
	c.process.Close()
}

// write passes messages on to the program.
func (c *conn) write() {
	for {
		select {
		case line := <-c.outbox:
			for part := range slices.Chunk(line, chunk) {
				if err := c.process.Input(part); err != nil {
					c.deaf <- err
					return
				}
			}
		case <-c.gone:
			_ = c.process.CloseInput()
			return
		}
	}
}

// read passes lines on until the output ends.
func (c *conn) read() {
	defer close(c.lines)
	lines := bufio.NewScanner(c.out)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if !bytes.HasPrefix(line, []byte("{")) {
			continue // some programs also log there
		}
		select {
		case c.lines <- bytes.Clone(line):
		case <-c.gone:
			return
		}
	}
	c.out.CloseWithError(lines.Err()) // the program must not block on a line that is too long
}

// call sends a request and waits for its result. Meanwhile it passes updates on and
// answers what the program asks.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	c.serial++
	id := fmt.Sprint(c.serial)
	if err := c.send(message{ID: json.RawMessage(id), Method: method}, params); err != nil {
		return c.ended(err)
	}
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
		case err := <-c.deaf:
			return cmp.Or(stopped, c.ended(err))
		case <-silence.C:
			if stopped != nil {
				return stopped
			}
			return &httpc.TimeoutError{Phase: "stale", After: c.silence}
		case line, open := <-c.lines:
			if !open {
				return cmp.Or(stopped, c.ended(nil))
			}
			if stopped == nil {
				silence.Reset(c.silenceTime())
			}
			m, mine, err := c.take(line, id, stopped != nil)
			if err != nil && stopped == nil {
				stopped = err // the reader has stopped, or an answer could not be sent
				c.cancel(silence)
			}
			if !mine {
				continue
			}
			if stopped != nil {
				return stopped
			}
			if m.Error != nil {
				return c.refused(m.Error)
			}
			if result == nil {
				return nil
			}
			if err := json.Unmarshal(m.Result, result); err != nil {
				return fmt.Errorf("%w: the result of %s", fault.ErrGarbage, method)
			}
			return nil
		}
	}
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
	_ = c.send(message{Method: "session/cancel"}, map[string]any{"sessionId": c.session}) // it is ended anyway
	wait.Reset(cancelTime)
}

// take handles one message of the program. mine says that it is the response to the
// request with this id.
func (c *conn) take(line []byte, id string, cancelled bool) (m message, mine bool, err error) {
	if json.Unmarshal(line, &m) != nil {
		return m, false, nil // a line of a log
	}
	switch {
	case m.Method == "":
		return m, string(m.ID) == id || string(m.ID) == `"`+id+`"`, nil
	case len(m.ID) > 0 && string(m.ID) != "null":
		return m, false, c.serve(m, cancelled)
	case m.Method == "session/update" && c.answer != nil && !cancelled:
		return m, false, c.answer.update(m.Params, c.session)
	}
	return m, false, nil
}

// serve answers a request of the program. It gets nothing of ours.
func (c *conn) serve(m message, cancelled bool) error {
	reply := message{ID: m.ID, Error: &refusal{Code: codeNoMethod, Message: "Hermes lends no " + m.Method}}
	if m.Method == "session/request_permission" {
		return c.permission(m, cancelled)
	}
	return c.send(reply, nil)
}

// send hands a message to the writer.
func (c *conn) send(m message, params any) error {
	m.Version = "2.0"
	if params != nil {
		raw, err := json.Marshal(params)
		if err != nil {
			return err
		}
		m.Params = raw
	}
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	select {
	case c.outbox <- append(line, '\n'):
		return nil
	default:
		return errors.New("the process does not read its input")
	}
}

// refused makes an error of the program's. One that needs a login says where.
func (c *conn) refused(e *refusal) error {
	text := oneLine(e.Message)
	if detail := detailOf(e.Data); detail != "" && !strings.Contains(text, detail) {
		text += ": " + detail
	}
	switch e.Code {
	case codeNeedsAuth:
		return failure(401, fmt.Sprintf("%s is not logged in (%s); start %s in a terminal and log in there", c.program, text, c.program))
	case codeParams, codeNoMethod:
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
	if cause != nil {
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
