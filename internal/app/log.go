package app

import (
	"cmp"
	"log/slog"

	"hermes/internal/logfile"
	"hermes/internal/redact"
)

// Log returns the logger for the home's log files; secrets are redacted.
func (a *App) Log() *slog.Logger { return a.log() }

// OpenLog returns the same logger, but nil as long as writing to it would first read settings
// and secrets. Those who call it must not wait for that: they may be what is being read.
func (a *App) OpenLog() *slog.Logger {
	if !a.masked.Load() {
		return nil
	}
	return a.log()
}

func (a *App) makeMask() *redact.Redactor {
	m := redact.New(redact.Options{Known: a.secrets()})
	a.masked.Store(true)
	return m
}

func (a *App) makeLog() *slog.Logger {
	cfg, err := a.config()
	if err != nil {
		return slog.New(slog.DiscardHandler)
	}
	l := cfg.Logging()
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		level = slog.LevelInfo
	}
	return slog.New(logfile.New(logfile.Options{
		Folder: cfg.Home().Logs(), Make: cfg.Home().Make, Level: level,
		MaxBytes: int64(l.MaxSizeMB) << 20, Keep: cmp.Or(l.BackupCount, -1), Redact: a.Mask,
	}))
}
