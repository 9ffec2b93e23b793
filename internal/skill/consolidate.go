package skill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/errsig"
)

const (
	// leastAlike is how alike the words of two skills are that say the same.
	leastAlike = 0.75
	// leastWords is how many words a skill must have to be judged by them.
	leastWords = 12
	// maxProposed bounds the pairs that are remembered.
	maxProposed = 200
)

// Twin is a skill that says nearly what another says.
type Twin struct {
	Name, Of string // Of is the one that has proved itself better
	Alike    float64
	// base binds a proposal to what the skill says; key names the pair and
	// what both say.
	base, key string
}

// Why tells the person why the skill may go.
func (t Twin) Why() string {
	return fmt.Sprintf("it says nearly what %s says (%d %% of the words)", t.Of, int(t.Alike*100))
}

// twins finds skills of the agent that say nearly the same, and that the person
// was not told of yet. A pinned skill is never the one to go.
func (l *Library) twins(ctx context.Context, all []Curated) ([]Twin, error) {
	state, err := l.Curator()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Curated) int { return -cmp.Compare(a.worth(), b.worth()) })
	var out []Twin
	texts := make([]hermes.SkillText, len(all))
	for i, cu := range all {
		if texts[i], err = l.View(ctx, cu.Name, ""); err != nil {
			return nil, err
		}
		for j := range i {
			t := Twin{Name: cu.Name, Of: all[j].Name, Alike: likeness(texts[i].Content, texts[j].Content), base: texts[i].Hash}
			t.key = t.Name + " " + t.Of + " " + short(texts[i].Hash) + " " + short(texts[j].Hash)
			if t.Alike < leastAlike || cu.Usage.Pinned {
				continue
			}
			if !slices.Contains(state.Proposed, t.key) {
				out = append(out, t)
			}
			break
		}
	}
	return out, nil
}

func short(hash string) string { return hash[:min(len(hash), 12)] }

// worth orders skills by how much they have proved themselves.
func (c Curated) worth() int {
	worth := 4*c.Usage.Wins - 8*c.Usage.Harms + c.Usage.Uses
	if c.Usage.Pinned {
		worth += 1 << 20
	}
	return worth
}

// likeness compares what two skills say, names aside.
func likeness(a, b string) float64 {
	x, y := bare(a), bare(b)
	if len(strings.Fields(x)) < leastWords || len(strings.Fields(y)) < leastWords {
		return 0
	}
	return errsig.Alike(x, y)
}

// bare is the description and body of a skill in plain lower-case words.
func bare(content string) string {
	m, body, err := Parse([]byte(content))
	if err != nil {
		return ""
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(m.Description+" "+body), func(r rune) bool {
		return strings.ContainsRune(" \t\n#*`.,;:!?()[]\"'", r)
	}), " ")
}

// propose lays the removal of twins before the person.
func (l *Library) propose(twins []Twin) error {
	for _, t := range twins {
		_, err := l.savePending(Pending{Removal: &hermes.SkillRemoval{Name: t.Name, Agent: true}, Because: t.Why(), Base: t.base})
		if err != nil {
			return err
		}
	}
	return nil
}

// note remembers what the person was told, so that a proposal that was
// rejected does not come again until one of the two changes.
func (s *CuratorState) note(twins []Twin) {
	for _, t := range twins {
		s.Proposed = append(s.Proposed, t.key)
	}
	s.Proposed = s.Proposed[max(0, len(s.Proposed)-maxProposed):]
}
