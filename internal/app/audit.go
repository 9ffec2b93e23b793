package app

import (
	"context"
	"time"

	"hermes/internal/audit"
)

// Audit returns the audit log of the home. The app closes it.
func (a *App) Audit() (*audit.Log, error) { return a.record() }

// makeAudit makes the audit log. Nothing is written before the first row.
func (a *App) makeAudit() (*audit.Log, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	set := cfg.Audit()
	l := audit.Open(audit.Options{
		Folder: cfg.Home().Audit(), Key: cfg.Home().AuditKey(), Quota: int64(set.MaxSizeMB) << 20, Keep: time.Duration(set.KeepDays) * 24 * time.Hour,
		Now: a.opts.Now, Redact: a.Mask, Log: a.log(),
	})
	a.closing(l.Close)
	return l, nil
}

// recordSetting records a change of the settings that was made. What cannot be recorded is
// logged: the user made it, and may need it to repair the record.
func (a *App) recordSetting(ctx context.Context, what string) {
	l, err := a.record()
	if err == nil {
		err = l.Append(context.WithoutCancel(ctx), audit.Row{Kind: audit.KindSetting, By: "user", Subject: what})
	}
	if err != nil {
		a.log().Error("record a change of the settings", "err", err)
	}
}
