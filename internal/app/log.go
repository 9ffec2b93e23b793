package app

import (
	"cmp"
	"log/slog"

	"hermes/internal/logfile"
)

// Log returns the logger for the home's log files; secrets are redacted.
func (a *App) Log() *slog.Logger { return a.log() }

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
