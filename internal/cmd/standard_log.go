package cmd

import (
	"context"
	"log/slog"
)

// takeStandardLog sends what is written with package log, and with the default of slog, to the
// program's log. Libraries write there what no caller asked for: net/http, for one, quotes what
// a server sends unasked. On standard error it would be in the middle of the screen, or in the
// log of a CI job, with the secrets and the control characters in it.
//
// What is written with package log has level debug, so that no server can fill the log.
func takeStandardLog(open func() *slog.Logger) {
	slog.SetDefault(slog.New(standardLog{open: open}))
	slog.SetLogLoggerLevel(slog.LevelDebug)
}

// standardLog is the handler of the standard loggers. What comes before the program's log is
// open is dropped.
type standardLog struct {
	open func() *slog.Logger
	with []func(slog.Handler) slog.Handler // attributes and groups, in their order
}

func (s standardLog) Enabled(ctx context.Context, level slog.Level) bool {
	l := s.open()
	return l != nil && l.Enabled(ctx, level)
}

func (s standardLog) Handle(ctx context.Context, r slog.Record) error {
	l := s.open()
	if l == nil {
		return nil
	}
	h := l.Handler()
	for _, with := range s.with {
		h = with(h)
	}
	return h.Handle(ctx, r)
}

func (s standardLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return s.then(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

func (s standardLog) WithGroup(name string) slog.Handler {
	return s.then(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (s standardLog) then(with func(slog.Handler) slog.Handler) slog.Handler {
	s.with = append(s.with[:len(s.with):len(s.with)], with)
	return s
}
