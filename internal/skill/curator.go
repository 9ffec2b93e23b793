package skill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes"
)

// Curation holds the rules for archiving unused skills.
type Curation struct {
	StaleAfter, ArchiveAfter time.Duration
	Backups                  int // how many are kept; 0 makes none
	// Copies archives copies of bundled skills that are equal to the original,
	// which is then offered instead.
	Copies bool
	// Consolidate proposes to remove skills that say nearly the same as another.
	Consolidate bool
	// ArchiveTTL is how long archived skills are kept; 0 means forever.
	ArchiveTTL time.Duration
	// Every and MinIdle say when CurateDue runs the curator.
	Every, MinIdle time.Duration
}

// CurationReport is what the curator did, or would do.
type CurationReport struct {
	Archived []Curated
	Twins    []Twin     // proposed for removal
	Purged   []Archived // deleted from the archive
}

// Curated is a skill and what the curator decides about it.
type Curated struct {
	Name  string
	Usage Usage
	Idle  time.Duration
	// Outcome is active, stale, archive, pinned, harmful, or copy.
	Outcome string
}

// Survey judges the skills that the curator manages: those that the agent made
// and, if c.Copies is set, copies of bundled ones.
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
		if it.source != hermes.SkillUser {
			continue
		}
		if c.Copies && !u.Pinned && l.copied(it) {
			out = append(out, Curated{Name: it.meta.Name, Usage: u, Outcome: "copy"})
			continue
		}
		if !u.Agent {
			continue
		}
		cu := Curated{Name: it.meta.Name, Usage: u, Idle: l.cfg.Now().Sub(u.Last()), Outcome: "active"}
		switch {
		case u.Pinned:
			cu.Outcome = "pinned"
		case u.Harms >= 3 && u.Harms > u.Wins:
			cu.Outcome = "harmful"
		case cu.Idle >= c.ArchiveAfter:
			cu.Outcome = "archive"
		case cu.Idle >= c.StaleAfter:
			cu.Outcome = "stale"
		}
		out = append(out, cu)
	}
	return out, nil
}

// copied reports whether a skill in the home is equal to the bundled one of its
// name.
func (l *Library) copied(it item) bool {
	if l.optedOut() {
		return false // the bundled one is not offered
	}
	b, ok := l.bundledItem(it.meta.Name)
	if !ok {
		return false
	}
	folder, done, err := it.open()
	if err != nil {
		return false
	}
	defer done()
	files := contents(b.bundled)
	if !slices.Equal(files, contents(folder)) {
		return false
	}
	return !slices.ContainsFunc(files, func(name string) bool {
		ours, err := fs.ReadFile(folder, name)
		theirs, err2 := fs.ReadFile(b.bundled, name)
		return err != nil || err2 != nil || !bytes.Equal(ours, theirs)
	})
}

// Curate archives skills that are unused or did more harm than good, proposes to
// remove near duplicates, and deletes archived skills older than c.ArchiveTTL.
// With dry it changes nothing.
func (l *Library) Curate(ctx context.Context, c Curation, dry bool) (r CurationReport, err error) {
	all, err := l.Survey(ctx, c)
	if err != nil {
		return r, err
	}
	var stay []Curated
	for _, cu := range all {
		switch cu.Outcome {
		case "archive", "harmful", "copy":
			r.Archived = append(r.Archived, cu)
		default:
			stay = append(stay, cu)
		}
	}
	if c.Consolidate {
		if r.Twins, err = l.twins(ctx, stay); err != nil {
			return r, err
		}
	}
	if r.Purged, err = l.overdue(c.ArchiveTTL); err != nil || dry {
		return r, err
	}
	if len(r.Archived) > 0 && c.Backups > 0 {
		if _, err := l.Backup(c.Backups); err != nil {
			return r, err
		}
	}
	for _, cu := range r.Archived {
		if err := l.archiveBy(ctx, "curator", cu.Name, cu.why()); err != nil {
			return r, err
		}
	}
	if err := l.propose(r.Twins); err != nil {
		return r, err
	}
	if err := l.purge(ctx, "curator", r.Purged); err != nil {
		return r, err
	}
	return r, l.writeCuratorState(ctx, func(s *CuratorState) {
		s.LastRun, s.Archived = l.cfg.Now().UTC(), len(r.Archived)
		s.note(r.Twins)
	})
}

func (c Curated) why() string {
	switch c.Outcome {
	case "harmful":
		return fmt.Sprintf("it misled %d times and helped %d times", c.Usage.Harms, c.Usage.Wins)
	case "copy":
		return "identical to the bundled skill"
	}
	return "unused for " + days(c.Idle)
}

func days(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }

// CuratorState is the stored state of the curator.
type CuratorState struct {
	LastRun  time.Time `json:"last_run,omitzero"`
	Archived int       `json:"archived"`
	Paused   bool      `json:"paused,omitempty"`
	// Proposed are the pairs of near duplicates that were proposed, with their
	// content; see [Twin].
	Proposed []string `json:"proposed,omitempty"`
}

func (l *Library) curatorFile() string { return filepath.Join(l.cfg.Home.Skills(), ".curator.json") }

// Curator returns the state of the curator.
func (l *Library) Curator() (CuratorState, error) {
	var s CuratorState
	raw, err := os.ReadFile(l.curatorFile())
	if os.IsNotExist(err) {
		return s, nil
	}
	return s, errors.Join(err, json.Unmarshal(raw, &s))
}

// PauseCurator stops the curator from running by itself, or lets it run again.
func (l *Library) PauseCurator(ctx context.Context, on bool) error {
	return l.writeCuratorState(ctx, func(s *CuratorState) { s.Paused = on })
}

// CuratorDue reports whether the curator should run now. The first run comes
// after one interval. One in the future, by a clock that was wrong, was long ago.
func (l *Library) CuratorDue(ctx context.Context, every time.Duration) (bool, error) {
	s, err := l.Curator()
	if err != nil || s.Paused {
		return false, err
	}
	if s.LastRun.IsZero() {
		return false, l.writeCuratorState(ctx, func(s *CuratorState) { s.LastRun = l.cfg.Now().UTC() })
	}
	ago := l.cfg.Now().Sub(s.LastRun)
	return ago < 0 || ago >= every, nil
}

func (l *Library) writeCuratorState(ctx context.Context, change func(*CuratorState)) error {
	return l.changeJSON(ctx, l.curatorFile(), func(raw []byte) (any, error) {
		var s CuratorState
		_ = json.Unmarshal(raw, &s) // a broken file counts as empty
		change(&s)
		return s, nil
	})
}

// Adopt lets the curator manage a skill that the user wrote, as if the agent had
// made it.
func (l *Library) Adopt(ctx context.Context, name string) error {
	it, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	if it.source != hermes.SkillUser {
		return fmt.Errorf("%q is a %s skill; the curator manages only skills made here", name, it.source)
	}
	return l.changeUsage(ctx, it.meta.Name, func(u *Usage) {
		u.Agent = true
		if u.Last().IsZero() {
			u.Changed = l.cfg.Now().UTC() // its time begins now
		}
	})
}

// Unmanaged lists the skills that the user wrote, which the curator does not
// manage.
func (l *Library) Unmanaged(ctx context.Context) ([]hermes.Skill, error) {
	items, err := l.items(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := l.Usages()
	if err != nil {
		return nil, err
	}
	var out []hermes.Skill
	for _, it := range items {
		if it.source == hermes.SkillUser && !usage[it.meta.Name].Agent {
			out = append(out, it.skill())
		}
	}
	return out, nil
}

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
