// Package logfile writes log records to bounded files and reads them back.
//
// Handler (for log/slog) writes every record to agent.log, and warnings and errors
// also to errors.log, one JSON object per line. The files are opened with the first
// record, so a run that logs nothing creates none. At a maximum size they are
// renamed to .1, .2 and so on (file.go). A func redacts secrets in every text
// before it is written.
//
// By convention records have the attributes "session" and "component"; Last and
// Follow (read.go, follow.go) filter by them. The package does not know who logs.
// Start at New.
package logfile

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
)

// The names of the logs.
const (
	Agent  = "agent"
	Errors = "errors"
)

// The attributes that records are filtered by.
const (
	SessionKey   = "session"
	ComponentKey = "component"
)

// Suffix is the suffix of the current file of a log.
const Suffix = ".log"

// Options say where to write and how much to keep. Folder is required.
type Options struct {
	Folder string
	// Make creates Folder when the first record is written; nil expects it to exist.
	Make func(folder string) error
	// Level is the minimum level of agent.log; nil is info.
	Level slog.Leveler
	// MaxBytes is the size at which a file is rotated; 0 is 5 MiB.
	MaxBytes int64
	// Keep is how many rotated files of each log are kept; 0 means 3, negative
	// means none.
	Keep int
	// Redact removes secrets from a text; nil changes nothing.
	Redact func(string) string
}

const (
	defaultMaxBytes = 5 << 20
	defaultKeep     = 3
)

// Handler is a slog.Handler that writes to the two files. It may be used by many
// goroutines, and several processes may write to the same folder. A record that
// cannot be written is dropped: a full disk must not stop the program.
type Handler struct {
	all, faults slog.Handler
	files       [2]*file
	level       slog.Leveler
}

// New returns a handler. Nothing is opened yet.
func New(o Options) *Handler {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	if o.Level == nil {
		o.Level = slog.LevelInfo
	}
	all := newFile(filepath.Join(o.Folder, Agent+Suffix), o)
	faults := newFile(filepath.Join(o.Folder, Errors+Suffix), o)
	form := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: cleaner(o.Redact)}
	return &Handler{
		all:    slog.NewJSONHandler(all, form),
		faults: slog.NewJSONHandler(faults, form),
		files:  [2]*file{all, faults},
		level:  o.Level,
	}
}

// cleaner passes every text of a record through redact. Other values are turned
// into text first, because a struct may contain a secret too.
func cleaner(redact func(string) string) func([]string, slog.Attr) slog.Attr {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return func(_ []string, a slog.Attr) slog.Attr {
		switch a.Value.Kind() {
		case slog.KindString:
			a.Value = slog.StringValue(redact(a.Value.String()))
		case slog.KindAny:
			if _, isLevel := a.Value.Any().(slog.Level); isLevel {
				return a
			}
			a.Value = slog.StringValue(redact(fmt.Sprint(a.Value.Any())))
		}
		return a
	}
}

// Enabled reports whether records of that level are written.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

// Handle writes one record. It never returns an error.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	_ = h.all.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		_ = h.faults.Handle(ctx, r)
	}
	return nil
}

// WithAttrs returns a handler that adds the attributes to every record.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.all, with.faults = h.all.WithAttrs(attrs), h.faults.WithAttrs(attrs)
	return &with
}

// WithGroup returns a handler that puts later attributes into a group.
func (h *Handler) WithGroup(name string) slog.Handler {
	with := *h
	with.all, with.faults = h.all.WithGroup(name), h.faults.WithGroup(name)
	return &with
}

// Close closes the files. A later record opens them again.
func (h *Handler) Close() error {
	for _, f := range h.files {
		f.close()
	}
	return nil
}
