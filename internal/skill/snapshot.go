package skill

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Snapshot lists installed skills, so that they can be installed on another machine.
type Snapshot struct {
	Version int          `json:"version"`
	Skills  []Identified `json:"skills"`
	Taps    []string     `json:"taps,omitempty"`
}

// Identified is a skill of a snapshot: where it comes from, and its content at the time.
type Identified struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
	Hash       string `json:"hash"`
}

// Snapshot lists the installed skills by name.
func (l Lock) Snapshot() Snapshot {
	s := Snapshot{Version: 1, Taps: l.Taps}
	for _, name := range slices.Sorted(maps.Keys(l.Skills)) {
		s.Skills = append(s.Skills, Identified{name, l.Skills[name].Identifier, l.Skills[name].Hash})
	}
	return s
}

// ParseSnapshot reads a snapshot. path names it in the error.
func ParseSnapshot(path string, raw []byte) (s Snapshot, err error) {
	if err := json.Unmarshal(raw, &s); err != nil || s.Version != 1 {
		return s, fmt.Errorf("%s is not a snapshot; create one with `hermes skills snapshot export`", path)
	}
	return s, nil
}
