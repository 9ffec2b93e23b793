package app

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/audit"
)

// Audit returns the audit log of the home. The app closes it.
func (a *App) Audit() (*audit.Log, error) { return a.record() }

// Record writes one row to the audit log, also if ctx has ended.
func (a *App) Record(ctx context.Context, row audit.Row) error {
	l, err := a.record()
	if err != nil {
		return err
	}
	return l.Append(context.WithoutCancel(ctx), row)
}

// recordMode records that the mode of a session is changed.
func (a *App) recordMode(ctx context.Context, session string, m hermes.RightsMode, by hermes.From) error {
	return a.Record(ctx, audit.Row{Kind: audit.KindMode, Session: session, Platform: by.Platform, By: "user", Decision: string(m), Note: by.Name})
}

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
	if err := a.Record(ctx, audit.Row{Kind: audit.KindSetting, By: "user", Subject: what}); err != nil {
		a.log().Error("record a change of the settings", "err", err)
	}
}
