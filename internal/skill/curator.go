package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hermes"
)

// Curation says when a skill that nobody uses becomes stale and is archived.
type Curation struct {
	StaleAfter, ArchiveAfter time.Duration
	Backups                  int // how many are kept; 0 makes none
}

// Curated is a skill in the eyes of the curator.
type Curated struct {
	Name  string
	Usage Usage
	Idle  time.Duration
	// Fate is active, stale, archive, pinned, or harmful.
	Fate string
}

// Survey judges the skills that the agent made: the only ones the curator
// touches.
func (l *Library) Survey(ctx context.Context, c Curation) ([]Curated, error) {
	items, err := l.items(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := l.Usages()
	if err != nil {
		return nil, err
	}
	var out []Curated
	for _, it := range items {
		u := usage[it.meta.Name]
		if it.source != hermes.SkillUser || !u.Agent {
			continue
		}
		cu := Curated{Name: it.meta.Name, Usage: u, Idle: l.cfg.Now().Sub(u.Last()), Fate: "active"}
		switch {
		case u.Pinned:
			cu.Fate = "pinned"
		case u.Harms >= 3 && u.Harms > u.Wins:
			cu.Fate = "harmful"
		case cu.Idle >= c.ArchiveAfter:
			cu.Fate = "archive"
		case cu.Idle >= c.StaleAfter:
			cu.Fate = "stale"
		}
		out = append(out, cu)
	}
	return out, nil
}

// Curate archives what is long unused or has done more harm than good. It
// never deletes. dry only tells.
func (l *Library) Curate(ctx context.Context, c Curation, dry bool) (archived []Curated, err error) {
	all, err := l.Survey(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, cu := range all {
		if cu.Fate == "archive" || cu.Fate == "harmful" {
			archived = append(archived, cu)
		}
	}
	if dry {
		return archived, nil
	}
	if len(archived) > 0 && c.Backups > 0 {
		if _, err := l.Backup(c.Backups); err != nil {
			return nil, err
		}
	}
	for _, cu := range archived {
		why := "unused for " + days(cu.Idle)
		if cu.Fate == "harmful" {
			why = fmt.Sprintf("it misled %d times and helped %d times", cu.Usage.Harms, cu.Usage.Wins)
		}
		if err := l.Archive(ctx, cu.Name, why); err != nil {
			return nil, err
		}
	}
	return archived, l.writeCuratorState(ctx, func(s *CuratorState) { s.LastRun = l.cfg.Now().UTC(); s.Archived = len(archived) })
}

func days(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }

// CuratorState is when the curator last worked, and whether it is paused.
type CuratorState struct {
	LastRun  time.Time `json:"last_run,omitzero"`
	Archived int       `json:"archived"`
	Paused   bool      `json:"paused,omitempty"`
}

func (l *Library) curatorFile() string { return filepath.Join(l.cfg.Home.Skills(), ".curator.json") }

// Curator is the state of the curator.
func (l *Library) Curator() (CuratorState, error) {
	var s CuratorState
	raw, err := os.ReadFile(l.curatorFile())
	if os.IsNotExist(err) {
		return s, nil
	}
	return s, errors.Join(err, json.Unmarshal(raw, &s))
}

// PauseCurator keeps the curator from working by itself.
func (l *Library) PauseCurator(ctx context.Context, on bool) error {
	return l.writeCuratorState(ctx, func(s *CuratorState) { s.Paused = on })
}

// CuratorDue reports that the curator should work now. The first time it waits
// for one interval.
func (l *Library) CuratorDue(ctx context.Context, every time.Duration) (bool, error) {
	s, err := l.Curator()
	if err != nil || s.Paused {
		return false, err
	}
	if s.LastRun.IsZero() {
		return false, l.writeCuratorState(ctx, func(s *CuratorState) { s.LastRun = l.cfg.Now().UTC() })
	}
	return l.cfg.Now().Sub(s.LastRun) >= every, nil
}

func (l *Library) writeCuratorState(ctx context.Context, change func(*CuratorState)) error {
	return l.changeJSON(ctx, l.curatorFile(), func(raw []byte) (any, error) {
		var s CuratorState
		_ = json.Unmarshal(raw, &s) // a broken state begins anew
		change(&s)
		return s, nil
	})
}
