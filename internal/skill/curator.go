package skill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes"
)

// Curation says when a skill that nobody uses becomes stale and is archived.
type Curation struct {
	StaleAfter, ArchiveAfter time.Duration
	Backups                  int // how many are kept; 0 makes none
	// Copies archives copies of bundled skills that say what the bundled ones
	// say: those are offered in their place.
	Copies bool
	// Consolidate proposes to remove skills that say nearly what another says.
	Consolidate bool
	// ArchiveTTL is how long what is archived stays; 0 is for ever.
	ArchiveTTL time.Duration
}

// CurationReport is what the curator did, or would do.
type CurationReport struct {
	Archived []Curated
	Twins    []Twin     // proposed, or to be proposed
	Purged   []Archived // deleted from the archive
}

// Curated is a skill in the eyes of the curator.
type Curated struct {
	Name  string
	Usage Usage
	Idle  time.Duration
	// Outcome is active, stale, archive, pinned, harmful, or copy.
	Outcome string
}

// Survey judges the skills that the agent made, and copies of bundled ones
// where those are to be archived: the only ones the curator touches.
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

// copied reports that a skill in the home says exactly what the bundled one of
// its name says.
func (l *Library) copied(it item) bool {
	if l.optedOut() {
		return false // then the copy is all there is
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

// Curate archives what is long unused or has done more harm than good, says
// which skills are nearly the same, and deletes what was archived for longer
// than is wished. dry only tells.
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
		return "it says what the bundled skill says"
	}
	return "unused for " + days(c.Idle)
}

func days(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }

// CuratorState is when the curator last worked, and whether it is paused.
type CuratorState struct {
	LastRun  time.Time `json:"last_run,omitzero"`
	Archived int       `json:"archived"`
	Paused   bool      `json:"paused,omitempty"`
	// Proposed are the pairs of skills that the person was told are nearly the
	// same, with their content; see [Twin].
	Proposed []string `json:"proposed,omitempty"`
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

// Adopt has the curator judge a skill that the person wrote, as if the agent
// had made it.
func (l *Library) Adopt(ctx context.Context, name string) error {
	it, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	if it.source != hermes.SkillUser {
		return fmt.Errorf("%q is a %s skill; the curator judges only skills that were made here", name, it.source)
	}
	return l.changeUsage(ctx, it.meta.Name, func(u *Usage) {
		u.Agent = true
		if u.Last().IsZero() {
			u.Changed = l.cfg.Now().UTC() // its time begins now
		}
	})
}

// Unmanaged lists the skills that were made here and that the curator does not
// touch, since the person wrote them.
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
