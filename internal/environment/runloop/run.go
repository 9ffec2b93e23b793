package runloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"time"

	"hermes/internal/environment/rented"
	"hermes/internal/sse"
)

// execution is a command that was begun.
type execution struct {
	ID     string `json:"execution_id"`
	Status string `json:"status"`
	Code   *int   `json:"exit_status"`
}

func (s *service) Run(ctx context.Context, box rented.Sandbox, line rented.Line) (int, error) {
	var run execution
	err := s.Do(ctx, rented.Request{
		Method: "POST", Path: path(box.ID) + "/execute_async",
		JSON: map[string]any{"command": "sh -c " + rented.Quote(line.Text), "attach_stdin": false},
	}, &run)
	if err != nil {
		return 0, err
	}
	at := path(box.ID) + "/executions/" + url.PathEscape(run.ID)
	code, err := s.follow(ctx, at, line)
	if err != nil {
		s.kill(ctx, at)
		return 0, rented.Cut(err)
	}
	return code, nil
}

// follow copies both streams of a command until it has ended, and returns its exit code.
func (s *service) follow(ctx context.Context, at string, line rented.Line) (int, error) {
	err := rented.Both(ctx, func(ctx context.Context) error {
		return s.copy(ctx, at, "/stream_stdout_updates", line.Stdout)
	}, func(ctx context.Context) error {
		return s.copy(ctx, at, "/stream_stderr_updates", line.Stderr)
	})
	if err != nil {
		return 0, err
	}
	run, err := s.state(ctx, at)
	if err == nil && run.Code == nil {
		err = errors.New("the service tells no exit code")
	}
	if err != nil {
		return 0, err
	}
	return *run.Code, nil
}

func (s *service) state(ctx context.Context, at string) (execution, error) {
	var run execution
	err := s.Do(ctx, rented.Request{Method: "GET", Path: at, Query: url.Values{"last_n": {"1"}}, Again: true}, &run)
	return run, err
}

// copy copies one stream until the command has ended. A stream that is cut, or that the
// service ends early, is read on after the part that has arrived.
func (s *service) copy(ctx context.Context, at, stream string, to io.Writer) error {
	seen := 0
	cuts := s.Cuts()
	for {
		before := seen
		cuts.Begin()
		cut := s.read(ctx, at+stream, to, &seen)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(cut, errWriter) {
			return cut
		}
		run, err := s.state(ctx, at)
		if err != nil {
			return err
		}
		if cut == nil && run.Status == "completed" {
			return nil
		}
		if cut != nil && cuts.GiveUp(cut, seen > before) {
			return cut
		}
		if err := s.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// errWriter means that what reads the output has failed.
var errWriter = errors.New("the output cannot be written")

// read copies what a stream sends, from the byte on that is the next. The output is plain
// ASCII, so that bytes are characters.
func (s *service) read(ctx context.Context, at string, to io.Writer, seen *int) error {
	r := rented.Request{Method: "GET", Path: at, Header: map[string]string{"Accept": "text/event-stream"}, Again: true}
	if *seen > 0 {
		r.Query = url.Values{"offset": {strconv.Itoa(*seen)}}
	}
	resp, err := s.Open(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for events := sse.NewReader(resp.Body, sse.Limits{MaxTotal: math.MaxInt64}); ; {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var part struct {
			Output string `json:"output"`
		}
		if event.Name == "error" {
			return fmt.Errorf("the output cannot be read on: %s", event.Data)
		}
		if err := json.Unmarshal(event.Data, &part); err != nil {
			return fmt.Errorf("an answer with output cannot be read: %w", err)
		}
		*seen += len(part.Output)
		if _, err := io.WriteString(to, part.Output); err != nil {
			return fmt.Errorf("%w: %w", errWriter, err)
		}
	}
}

// kill ends a command whose output is not read any more. A failure leaves it to the end of
// the devbox.
func (s *service) kill(ctx context.Context, at string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = s.Do(ctx, rented.Request{Method: "POST", Path: at + "/kill", JSON: map[string]bool{"kill_process_group": true}}, nil)
}
