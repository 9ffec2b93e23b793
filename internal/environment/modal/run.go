package modal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"sync"
	"time"

	"hermes/internal/environment/rented"
)

const (
	worker = "modal.task_command_router.TaskCommandRouter/"
	chunk  = 512 << 10 // of input, in bytes
)

// command is a command in a sandbox.
type command struct {
	s   *service
	id  string // chosen here, so that a second request to start it does nothing
	mu  sync.Mutex
	box rented.Sandbox
}

func (s *service) command(box rented.Sandbox) *command {
	return &command{s: s, id: uuid(), box: box}
}

// uuid returns a random one, of version 4.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// fields begins the message of a request about the command.
func (c *command) fields() *fields {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return new(fields).text(1, c.s.tasks[c.box.ID]).text(2, c.id)
}

// with calls a func with a call of the worker. If the token has ended, it gets a new one and
// calls the func again.
func (c *command) with(ctx context.Context, method string, body *fields, do func(call) error) error {
	c.mu.Lock()
	box := c.box
	c.mu.Unlock()
	for n := 0; ; n++ {
		err := do(call{
			client: c.s.inside, base: box.Address, method: worker + method, body: *body,
			header: map[string]string{"authorization": "Bearer " + box.Token.Reveal()}, again: true,
		})
		f, ok := errors.AsType[*rented.Failure](err)
		if !ok || f.Status != http.StatusUnauthorized || n > 0 {
			return err
		}
		fresh, accessErr := c.s.access(ctx, box.ID)
		if accessErr != nil {
			return err
		}
		box = fresh
		c.mu.Lock()
		c.box = fresh
		c.mu.Unlock()
	}
}

func (c *command) call(ctx context.Context, method string, body *fields) (answer message, err error) {
	err = c.with(ctx, method, body, func(one call) error {
		answer, err = one.one(ctx)
		return err
	})
	return answer, err
}

// start begins sh -c with a text.
func (c *command) start(ctx context.Context, text string) error {
	body := c.fields()
	for _, word := range []string{"/bin/sh", "-c", text} {
		body.message(3, fields(word))
	}
	_, err := c.call(ctx, "TaskExecStart", body.number(4, 1).number(5, 1)) // both streams into pipes
	return err
}

// copy copies one stream until its end. One that is cut is read on after the part that has
// arrived.
func (c *command) copy(ctx context.Context, descriptor uint64, to io.Writer) error {
	seen := uint64(0)
	cuts := c.s.Cuts()
	for {
		before := seen
		cuts.Begin()
		var full error
		err := c.with(ctx, "TaskExecStdioRead", c.fields().number(3, seen).number(4, descriptor), func(one call) error {
			_, err := one.stream(ctx, func(m message) error {
				data := m.bytes(1)
				seen += uint64(len(data))
				_, full = to.Write(data)
				return full
			})
			return err
		})
		f, ok := errors.AsType[*rented.Failure](err)
		final := err == nil || full != nil || ctx.Err() != nil || ok && f.Status >= 400 && f.Status < 500
		if final || cuts.GiveUp(err, seen > before) {
			return err
		}
		if err := c.s.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// wait returns the exit code.
func (c *command) wait(ctx context.Context) (int, error) {
	for {
		answer, err := c.call(ctx, "TaskExecWait", c.fields())
		f, ok := errors.AsType[*rented.Failure](err)
		if ok && f.Status == http.StatusGatewayTimeout && ctx.Err() == nil {
			continue
		}
		if answer.has(2) {
			return 128 + int(answer.number(2)), err
		}
		return int(answer.number(1)), err
	}
}

func (s *service) Run(ctx context.Context, box rented.Sandbox, line rented.Line) (int, error) {
	c := s.command(box)
	if err := c.start(ctx, line.Text); err != nil {
		return 0, err
	}
	code, err := c.follow(ctx, line)
	if err != nil {
		return 0, rented.Cut(err)
	}
	return code, nil
}

// follow copies both streams and returns the exit code.
func (c *command) follow(ctx context.Context, line rented.Line) (int, error) {
	err := rented.Both(ctx, func(ctx context.Context) error {
		return c.copy(ctx, 0, line.Stdout)
	}, func(ctx context.Context) error {
		return c.copy(ctx, 1, line.Stderr)
	})
	if err != nil {
		return 0, err
	}
	return c.wait(ctx)
}

// Put writes each file with a command that reads it.
func (s *service) Put(ctx context.Context, box rented.Sandbox, files []rented.File) error {
	for _, f := range files {
		c := s.command(box)
		if err := c.start(ctx, "mkdir -p "+rented.Quote(path.Dir(f.Path))+" && cat >"+rented.Quote(f.Path)); err != nil {
			return err
		}
		for at := 0; ; {
			part := f.Data[at:min(at+chunk, len(f.Data))]
			body := c.fields().number(3, uint64(at)).text(4, string(part))
			at += len(part)
			if at == len(f.Data) {
				body.number(5, 1)
			}
			if _, err := c.call(ctx, "TaskExecStdinWrite", body); err != nil {
				return err
			}
			if at == len(f.Data) {
				break
			}
		}
		if code, err := c.wait(ctx); err != nil || code != 0 {
			return errors.Join(fmt.Errorf("write %s in the sandbox of Modal: exit code %d", f.Path, code), err)
		}
	}
	return nil
}
