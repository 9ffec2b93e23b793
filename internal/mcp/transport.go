package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	wire "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/mcp/message"
	"hermes/internal/mcp/setting"
	"hermes/internal/shellstate"
	"hermes/internal/text"
)

const (
	// maxMessage bounds one message of a server, in bytes.
	maxMessage = 16 << 20
	// chunk is how much is written at once, in bytes: a program that reads slowly is given up
	// only if it does not read that.
	chunk = 32 << 10
	// mostNotices is how many notifications a server may send each second; more are dropped.
	mostNotices = 200
)

// program is a server that runs as a program. It is a transport of the SDK.
type program struct {
	set         setting.Server
	environment func(setting.Server) (hermes.Environment, error)
	now         func() time.Time

	mu      sync.Mutex
	env     hermes.Environment
	process hermes.Process
}

// Connect starts the program.
func (p *program) Connect(ctx context.Context) (mcp.Connection, error) {
	env, err := p.environment(p.set)
	if err != nil {
		return nil, err
	}
	read, write := io.Pipe()
	errs := &text.Tail{Flooded: func(why error) { write.CloseWithError(why) }} // who reads ends the program
	process, err := p.start(ctx, env, write, errs)
	if err != nil {
		return nil, errors.Join(err, env.Close())
	}
	p.mu.Lock()
	p.env, p.process = env, process
	p.mu.Unlock()
	go func() { // ends with the program, which Close ends
		exit, err := process.Wait(context.Background())
		if err == nil {
			err = fmt.Errorf("the program ended with exit status %d", exit.Code)
		}
		if last := errs.Last(); last != "" {
			err = fmt.Errorf("%w; it said: %s", err, last)
		}
		write.CloseWithError(err)
	}()
	return &lines{lines: jsonrpc.NewLines(streams{read, process}, maxMessage).Tolerant(), now: p.now}, nil
}

func (p *program) start(ctx context.Context, env hermes.Environment, out, errs io.Writer) (hermes.Process, error) {
	starter, ok := env.(hermes.Starter)
	if !ok {
		return nil, errors.New("programs of MCP servers cannot be started here")
	}
	words := []string{"exec", shellstate.Quote(p.set.Command)}
	for _, a := range p.set.Args {
		words = append(words, shellstate.Quote(a))
	}
	c := hermes.Command{Line: strings.Join(words, " "), Dir: p.set.Dir, Stdout: out, Stderr: errs, Background: true}
	for name, value := range p.set.Env {
		c.Env = append(c.Env, name+"="+value)
	}
	slices.Sort(c.Env)
	return starter.Start(ctx, c, false)
}

// end ends the program and everything that it started. It returns when they are gone.
func (p *program) end() error {
	p.mu.Lock()
	env, process := p.env, p.process
	p.env, p.process = nil, nil
	p.mu.Unlock()
	if env == nil {
		return nil
	}
	// Its input stays open until it has ended: what it started is found below it only while it lives.
	return errors.Join(process.Kill(), env.Close())
}

// streams are the standard output and input of a program.
type streams struct {
	*io.PipeReader
	process hermes.Process
}

// Write passes messages on to the program, which must read each chunk in a few seconds.
func (s streams) Write(p []byte) (int, error) {
	for part := range slices.Chunk(p, chunk) {
		if err := s.process.Input(part); err != nil {
			return 0, fmt.Errorf("the program takes no more input: %w", err)
		}
	}
	return len(p), nil
}

// lines is a connection of one message a line.
type lines struct {
	lines *jsonrpc.Lines
	now   func() time.Time

	bounds  message.Bounds
	write   sync.Mutex
	failed  error     // of Write
	second  time.Time // of notices
	notices int
}

// Read returns the next message. Notifications beyond the limit are dropped, and requests beyond it
// refused.
func (l *lines) Read(context.Context) (wire.Message, error) {
	for {
		line, err := l.lines.Read()
		if err != nil {
			return nil, err
		}
		j, err := l.bounds.Received(line)
		if err != nil {
			continue // a line of JSON that is no message, such as a log
		}
		if j.Refused != nil {
			if err := l.send(j.Refused); err != nil { // not Write: it may have the id of an open question
				return nil, err
			}
		}
		if r, ok := j.Message.(*wire.Request); j.Message == nil || ok && !r.IsCall() && l.tooMany() {
			continue
		}
		return j.Message, nil
	}
}

// tooMany counts a notification.
func (l *lines) tooMany() bool {
	if now := l.now(); now.Sub(l.second) >= time.Second || now.Before(l.second) {
		l.second, l.notices = now, 0
	}
	l.notices++
	return l.notices > mostNotices
}

// Write writes a message, and counts it.
func (l *lines) Write(_ context.Context, m wire.Message) error {
	l.bounds.Sent(m)
	return l.send(m)
}

func (l *lines) send(m wire.Message) error {
	data, err := wire.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.write.Lock()
	defer l.write.Unlock()
	if l.failed == nil { // else each write would wait for a program that does not read
		l.failed = l.lines.Write(data)
	}
	return l.failed
}

// Close ends Read.
func (l *lines) Close() error { return l.lines.Close() }

// SessionID is empty: programs have none.
func (l *lines) SessionID() string { return "" }
