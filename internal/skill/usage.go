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

// Usage is what is known of the use of a skill.
type Usage struct {
	Uses  int `json:"uses,omitempty"`  // times it was loaded
	Wins  int `json:"wins,omitempty"`  // times it helped
	Harms int `json:"harms,omitempty"` // times it misled
	// Agent says that the model made it: the curator looks at such skills only.
	Agent   bool      `json:"agent_created,omitempty"`
	Session string    `json:"session,omitempty"` // in which it was made
	Pinned  bool      `json:"pinned,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Changed time.Time `json:"changed_at,omitzero"`
	Used    time.Time `json:"used_at,omitzero"`
	// Provenance says what text from outside the agent had seen when it wrote the
	// skill, as in [hermes.Message].
	Provenance string `json:"outside,omitempty"`
	// Replays are the trials it was put to; see [Library.RecordTrial].
	Replays Replays `json:"replays,omitzero"`
}

// Replays counts the trials of a skill and keeps the last one.
type Replays struct {
	Won  int                `json:"won,omitempty"`
	Lost int                `json:"lost,omitempty"`
	Last *hermes.SkillTrial `json:"last,omitempty"`
}

// Last is when the skill was last of interest to anybody.
func (u Usage) Last() time.Time {
	last := u.Created
	for _, t := range []time.Time{u.Changed, u.Used} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// Outcome is how the use of a skill ended.
type Outcome string

// The outcomes.
const (
	Used   Outcome = "use"
	Helped Outcome = "win"
	Harmed Outcome = "harm"
)

func (l *Library) usageFile() string { return filepath.Join(l.cfg.Home.Skills(), ".usage.json") }

// Usages is the use of every skill that has been used or made here.
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
		return nil, fmt.Errorf("the file .usage.json in the skills folder is broken (%w); move it away to begin anew", err)
	}
	return all, nil
}

// Count books one use of a skill or its outcome.
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

// addTrial takes a trial into the record. One that was won counts as a win.
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

// RecordTrial records a trial of a skill as it stands. One that it won counts as a
// win, one that it harmed as a harm.
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

// Own reports whether the model made a skill, so that the curator may judge it.
func (l *Library) Own(name string) bool {
	all, err := l.Usages()
	return err == nil && all[path.Base(strings.TrimPrefix(name, "/"))].Agent
}

// Pin keeps the curator away from a skill, or lets it come again.
func (l *Library) Pin(ctx context.Context, name string, on bool) error {
	if _, err := l.find(ctx, name); err != nil {
		return err
	}
	return l.changeUsage(ctx, name, func(u *Usage) { u.Pinned = on })
}

// changeUsage changes the record of one skill; a nil change forgets it.
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
