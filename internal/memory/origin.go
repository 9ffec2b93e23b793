package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/atomicfile"
)

// Origin says where an entry comes from.
type Origin struct {
	By       string    `json:"by,omitempty"` // agent, person, import
	At       time.Time `json:"at,omitzero"`
	Session  string    `json:"session,omitempty"`
	Turn     int64     `json:"turn,omitempty"`
	Platform string    `json:"platform,omitempty"`
	// Provenance names the untrusted text that the session had seen by then, as
	// in [hermes.Message].
	Provenance string `json:"outside,omitempty"`
}

// String formats the origin on one line.
func (o Origin) String() string {
	if o.By == "" {
		return "written by hand"
	}
	parts := []string{"by " + author(o.By)}
	if !o.At.IsZero() {
		parts = append(parts, o.At.Local().Format("2006-01-02 15:04"))
	}
	if o.Session != "" {
		parts = append(parts, "session "+o.Session)
	}
	if o.Provenance != "" {
		parts = append(parts, "after reading "+o.Provenance)
	}
	return strings.Join(parts, ", ")
}

// author names the stored author of a change as its readers would.
func author(by string) string {
	switch by {
	case "person":
		return "you"
	case "agent":
		return "the agent"
	case "import":
		return "an import"
	}
	return by
}

// origins is the file of origins, by target and hash of the entry. It is
// separate, so that the memory files stay plain.
type origins map[Target]map[string]Origin

func (o origins) of(t Target) map[string]Origin { return o[t] }

// hash returns the key of an entry's text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func (b *File) originsPath(t Target) string { return filepath.Join(b.folder(t), ".origins.json") }

// origins reads the file. If it is missing or damaged, only the origins of the
// entries are lost.
func (b *File) origins(t Target) origins {
	o := origins{}
	data, err := os.ReadFile(b.originsPath(t))
	if err != nil || json.Unmarshal(data, &o) != nil || o == nil {
		return origins{}
	}
	return o
}

// maxOrigins bounds the origins kept of each target. They include those of
// removed entries, since an undo may restore them.
const maxOrigins = 500

// sign records the origin of the entries that a draft wrote.
func (b *File) sign(t Target, d draft, by Origin) error {
	if len(d.written) == 0 {
		return nil
	}
	all := b.origins(t)
	if all[t] == nil {
		all[t] = map[string]Origin{}
	}
	for _, text := range d.written {
		all[t][hash(text)] = by
	}
	dropOldest(all[t], d.entries)
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(b.originsPath(t), append(data, '\n'), atomicfile.Options{})
}

// dropOldest reduces origins to their bound and keeps those of the entries.
func dropOldest(known map[string]Origin, entries []string) {
	if len(known) <= maxOrigins {
		return
	}
	keep := map[string]bool{}
	for _, text := range entries {
		keep[hash(text)] = true
	}
	hashes := slices.SortedFunc(maps.Keys(known), func(x, y string) int { return known[x].At.Compare(known[y].At) })
	for _, h := range hashes {
		if len(known) > maxOrigins && !keep[h] {
			delete(known, h)
		}
	}
}
