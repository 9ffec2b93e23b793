package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"hermes"
)

// Usage is the record of the use of a skill.
type Usage struct {
	Uses  int `json:"uses,omitempty"`  // times it was loaded
	Wins  int `json:"wins,omitempty"`  // times it helped
	Harms int `json:"harms,omitempty"` // times it misled
	// Agent means that the model made it. The curator manages only such skills.
	Agent   bool      `json:"agent_created,omitempty"`
	Session string    `json:"session,omitempty"` // that made it
	Pinned  bool      `json:"pinned,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Changed time.Time `json:"changed_at,omitzero"`
	Used    time.Time `json:"used_at,omitzero"`
	// Provenance names the untrusted text that the agent had read when it wrote
	// the skill, as in [hermes.Message].
	Provenance string `json:"outside,omitempty"`
	// Replays counts its trials; see [Library.RecordTrial].
	Replays Replays `json:"replays,omitzero"`
}

// Replays counts the trials of a skill and keeps the last one.
type Replays struct {
	Won  int                `json:"won,omitempty"`
	Lost int                `json:"lost,omitempty"`
	Last *hermes.SkillTrial `json:"last,omitempty"`
}

// Last returns when the skill was last created, changed or used.
func (u Usage) Last() time.Time {
	last := u.Created
	for _, t := range []time.Time{u.Changed, u.Used} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// Outcome is the result of using a skill.
type Outcome string

// The outcomes.
const (
	Used   Outcome = "use"
	Helped Outcome = "win"
	Harmed Outcome = "harm"
)

func (l *Library) usageFile() string { return filepath.Join(l.cfg.Home.Skills(), ".usage.json") }

// Usages returns the record of every skill that was used or made here.
func (l *Library) Usages() (map[string]Usage, error) {
	raw, err := os.ReadFile(l.usageFile())
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return decodeUsage(raw)
}

func decodeUsage(raw []byte) (map[string]Usage, error) {
	all := map[string]Usage{}
	if len(raw) == 0 {
		return all, nil
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("the file .usage.json in the skills folder is damaged (%w); move it to start over", err)
	}
	return all, nil
}

// Count records one use of a skill or its outcome.
func (l *Library) Count(ctx context.Context, name string, o Outcome) error {
	return l.changeUsage(ctx, name, func(u *Usage) {
		switch o {
		case Helped:
			u.Wins++
		case Harmed:
			u.Harms++
		default:
			u.Uses++
			u.Used = l.cfg.Now().UTC()
		}
	})
}

// addTrial adds a trial to the record. A won trial counts as a win.
func (u *Usage) addTrial(t *hermes.SkillTrial) {
	if t == nil {
		return
	}
	u.Replays.Last = t
	switch t.Verdict {
	case hermes.SkillWon:
		u.Replays.Won++
		u.Wins++
	case hermes.SkillLost:
		u.Replays.Lost++
	}
}

// RecordTrial records a trial of a skill. A won trial counts as a win, a harmful
// one as a harm.
func (l *Library) RecordTrial(ctx context.Context, name string, t hermes.SkillTrial) error {
	if _, err := l.find(ctx, name); err != nil {
		return err
	}
	return l.changeUsage(ctx, name, func(u *Usage) {
		u.addTrial(&t)
		if t.Harmful() {
			u.Harms++
		}
	})
}

// Own reports whether the model made a skill, so that the curator manages it.
func (l *Library) Own(name string) bool {
	all, err := l.Usages()
	return err == nil && all[path.Base(strings.TrimPrefix(name, "/"))].Agent
}

// Pin keeps the curator from archiving a skill, or lets it do so again.
func (l *Library) Pin(ctx context.Context, name string, on bool) error {
	if _, err := l.find(ctx, name); err != nil {
		return err
	}
	return l.changeUsage(ctx, name, func(u *Usage) { u.Pinned = on })
}

// changeUsage changes the record of one skill. A nil change deletes it.
func (l *Library) changeUsage(ctx context.Context, name string, change func(*Usage)) error {
	return l.changeJSON(ctx, l.usageFile(), func(raw []byte) (any, error) {
		all, err := decodeUsage(raw)
		if err != nil {
			return nil, err
		}
		if change == nil {
			delete(all, name)
			return all, nil
		}
		u := all[name]
		change(&u)
		all[name] = u
		return all, nil
	})
}
