package terminal

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/policy/shell/inspect"
)

// askFor is how long the user has to type a password.
const askFor = 45 * time.Second

// sudo remembers the password that the user typed in this session.
type sudo struct {
	mu    sync.Mutex
	typed *hermes.Secret
}

// feeding is the password for one command, repeated as often as its line needs.
type feeding struct {
	password hermes.Secret
	lines    int
	typed    bool
}

// prepare returns the line to run. sudo at a command position gets the
// configured, remembered or typed password. If sudo needs none, or there is
// none, the line stays as it is. On a pseudo-terminal sudo asks itself; inside of a
// sandbox it never gets rights.
func (s *sudo) prepare(ctx context.Context, config Config, c *hermes.Call, in arguments, walls bool) (string, *feeding, error) {
	prepared, ok := inspect.FeedSudo(in.Command)
	if !ok || in.PTY || walls && !in.escalates() || !needsPassword(ctx, c.Host.Environment(), in.escalates()) {
		return in.Command, nil, nil
	}
	if config.SudoPassword != nil && !elsewhere(c.Host.Environment()) { // it is that of this machine
		if password, ok := config.SudoPassword(); ok {
			return prepared.Line, &feeding{password: password, lines: prepared.Lines}, nil
		}
	}
	password, ok := s.ask(ctx, c, in.Command)
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	if !ok {
		return in.Command, nil, nil
	}
	return prepared.Line, &feeding{password: password, lines: prepared.Lines, typed: true}, nil
}

// needsPassword runs sudo -n, which fails instead of prompting.
func needsPassword(ctx context.Context, e hermes.Environment, outside bool) bool {
	exit, err := e.Exec(ctx, hermes.Command{Line: "command -v sudo >/dev/null && ! sudo -n true", Outside: outside})
	return err == nil && exit.Code == 0
}

func (s *sudo) ask(ctx context.Context, c *hermes.Call, command string) (hermes.Secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.typed != nil {
		return *s.typed, true
	}
	limited, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	answer, err := c.Host.Ask(limited, hermes.Question{
		CallID: c.ID,
		Text:   "sudo password to run: " + command,
		Secret: true,
	})
	if err != nil || answer.TimedOut || len(answer.Texts) == 0 {
		return "", false
	}
	password := hermes.Secret(answer.Texts[0])
	s.typed = &password
	return password, true
}

// failed reports whether sudo refused the password, and forgets a typed one.
func (s *sudo) failed(f *feeding, output string, code int) bool {
	if f == nil || code == 0 {
		return false
	}
	for _, sign := range []string{"incorrect password attempt", "Sorry, try again", "no password was provided", "a password is required", "Authentication failed"} {
		if strings.Contains(output, sign) {
			s.forget(f)
			return true
		}
	}
	return false
}

func (s *sudo) forget(f *feeding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.typed {
		s.typed = nil
	}
}

func (f *feeding) text() string {
	return strings.Repeat(f.password.Reveal()+"\n", f.lines)
}

func (f *feeding) input() io.Reader { return strings.NewReader(f.text()) }

// mask replaces the password in an output, if it is long enough to be
// distinguishable from other text.
func (f *feeding) mask(output string) string {
	if f == nil || len(f.password) < 4 {
		return output
	}
	return strings.ReplaceAll(output, f.password.Reveal(), "***")
}
