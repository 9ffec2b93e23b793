package skill

import (
	"context"
	"log/slog"
	"time"
)

// CurateDue runs the curator if an interval has passed since its last run and the home was
// unused for long enough before this program, and logs what it did.
func (l *Library) CurateDue(ctx context.Context, c Curation, unused time.Duration, log *slog.Logger) error {
	if due, err := l.CuratorDue(ctx, c.Every); err != nil || !due || unused < c.MinIdle {
		return err
	}
	r, err := l.Curate(ctx, c, false)
	for _, k := range r.Archived {
		log.Info("archived a skill", "skill", k.Name, "why", k.Outcome)
	}
	for _, t := range r.Twins {
		log.Info("proposed to remove a skill", "skill", t.Name, "why", t.Why())
	}
	for _, k := range r.Purged {
		log.Info("deleted an archived skill", "skill", k.Name)
	}
	return err
}
