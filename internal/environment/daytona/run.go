package daytona

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"hermes/internal/environment/rented"
)

// A command runs in a session of the sandbox, which is a shell that the service feeds with
// lines. That is the one way to a command whose output arrives while it runs, and which can
// be ended: its session is deleted. The other, /process/execute, answers at the end.

// mostLines is how many commands a session runs; the log of each is kept in the sandbox as
// long as the session.
const mostLines = 32

// sessions are those in which no command runs.
type sessions struct {
	mu   sync.Mutex
	idle []*session
}

type session struct {
	box   string // id of the sandbox
	id    string
	lines int
}

func (p *sessions) take(box string) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		last := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if last.box == box {
			return last
		}
	}
	return nil
}

func (p *sessions) give(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
}

func (s *service) Run(ctx context.Context, box rented.Sandbox, line rented.Line) (int, error) {
	in, command, err := s.start(ctx, box, "sh -c "+rented.Quote(line.Text))
	if err != nil {
		return 0, err
	}
	code, err := s.follow(ctx, box, "/process/session/"+in.id+"/command/"+url.PathEscape(command), line)
	if err == nil && in.lines < mostLines {
		s.sessions.give(in)
		return code, nil
	}
	s.drop(ctx, box, in)
	if err != nil {
		return 0, rented.Cut(err)
	}
	return code, nil
}

// start begins a command in a session, and makes one if none is idle or the idle one is
// gone.
func (s *service) start(ctx context.Context, box rented.Sandbox, text string) (*session, string, error) {
	for {
		in := s.sessions.take(box.ID)
		known := in != nil
		if !known {
			in = &session{box: box.ID, id: "hermes-" + rand.Text()}
			r := rented.Request{Method: "POST", Base: box.Address, Path: "/process/session", JSON: map[string]string{"sessionId": in.id}}
			if err := s.Do(ctx, r, nil); err != nil {
				return nil, "", rented.NotBegun(err)
			}
		}
		in.lines++
		var began struct {
			Command string `json:"cmdId"`
		}
		err := s.Do(ctx, rented.Request{
			Method: "POST", Base: box.Address, Path: "/process/session/" + in.id + "/exec",
			JSON: map[string]any{"command": text, "runAsync": true},
		}, &began)
		if known && rented.Gone(err) {
			continue
		}
		if err != nil {
			s.drop(ctx, box, in)
		}
		return in, began.Command, err
	}
}

// drop deletes a session, and so ends what still runs in it. A failure leaves it to the end
// of the sandbox.
func (s *service) drop(ctx context.Context, box rented.Sandbox, in *session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = s.Do(ctx, rented.Request{Method: "DELETE", Base: box.Address, Path: "/process/session/" + in.id}, nil)
}

// follow copies the output of a command until it has ended. A log that is cut is read on
// after the part that has arrived.
func (s *service) follow(ctx context.Context, box rented.Sandbox, path string, line rented.Line) (int, error) {
	log := &logReader{line: line}
	cuts := s.Cuts()
	for {
		before := log.seen
		cuts.Begin()
		cut := s.read(ctx, box, path, log)
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if errors.Is(cut, errWriter) || cut != nil && cuts.GiveUp(cut, log.seen > before) {
			return 0, cut
		}
		code, err := s.exitCode(ctx, box, path, cut == nil)
		if err != nil {
			return 0, err
		}
		if code != nil && cut == nil {
			return *code, nil
		}
	}
}

// exitCode asks for the exit code, which is nil while the command runs. ended says that it
// must be known in a moment.
func (s *service) exitCode(ctx context.Context, box rented.Sandbox, path string, ended bool) (*int, error) {
	var command struct {
		Code *int `json:"exitCode"`
	}
	looks := 0
	err := s.Until(ctx, "the exit code", func() (bool, error) {
		looks++
		err := s.Do(ctx, rented.Request{Method: "GET", Base: box.Address, Path: path, Again: true}, &command)
		return command.Code != nil || !ended || looks == 10, err
	})
	if err == nil && ended && command.Code == nil {
		err = fmt.Errorf("%s tells no exit code", s.Name)
	}
	return command.Code, err
}

// read copies the log of a command to its writers, from the part on that has not arrived,
// and returns nil at the end of the log.
func (s *service) read(ctx context.Context, box rented.Sandbox, path string, log *logReader) error {
	header := http.Header{}
	s.Sign(header)
	conn, resp, err := websocket.Dial(ctx, box.Address+path+"/logs?follow=true", &websocket.DialOptions{HTTPClient: s.HTTP, HTTPHeader: header})
	if err != nil {
		if resp != nil {
			err = rented.NewFailure(resp.StatusCode, fmt.Sprintf("%s does not show the output of the command: %v", s.Name, err))
		}
		return err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1) // a message is copied as it arrives
	log.skip = log.seen
	for {
		_, message, err := conn.Reader(ctx)
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure {
			return nil
		}
		if err == nil {
			_, err = io.Copy(log, message)
		}
		if err != nil {
			return err
		}
	}
}

// errWriter means that what reads the output has failed.
var errWriter = errors.New("the output cannot be written")

// logReader divides a log into its streams. Each part begins with three bytes 1 for stdout
// or 2 for stderr, which the text itself has none of.
type logReader struct {
	line       rented.Line
	seen, skip int // bytes that arrived; bytes that a new connection repeats
	errs       bool
}

func (l *logReader) Write(p []byte) (int, error) {
	all := len(p)
	repeated := min(l.skip, len(p))
	l.skip -= repeated
	p = p[repeated:]
	l.seen += len(p)
	for len(p) > 0 {
		if p[0] == 1 || p[0] == 2 {
			l.errs = p[0] == 2
			p = p[1:]
			continue
		}
		n := 0
		for n < len(p) && p[n] != 1 && p[n] != 2 {
			n++
		}
		to := l.line.Stdout
		if l.errs {
			to = l.line.Stderr
		}
		if _, err := to.Write(p[:n]); err != nil {
			return 0, fmt.Errorf("%w: %w", errWriter, err)
		}
		p = p[n:]
	}
	return all, nil
}
