package skill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/errsig"
	"hermes/internal/order"
)

const (
	// minAlike is the minimum similarity of two skills that say the same.
	minAlike = 0.75
	// minWords is the minimum number of words of a skill to be compared.
	minWords = 12
	// maxProposed limits the pairs that are remembered.
	maxProposed = 200
)

// Twin is a skill that says nearly the same as another.
type Twin struct {
	Name, Of string // Of is the one that has worked better
	Alike    float64
	// base is the content hash that the proposal holds for; key names the pair
	// and the content of both.
	base, key string
}

// Why returns the reason for removing the skill, for the user.
func (t Twin) Why() string {
	return fmt.Sprintf("it says nearly the same as %s (%d %% of the words)", t.Of, int(t.Alike*100))
}

// twins finds skills of the agent that say nearly the same and were not proposed
// before. A pinned skill is never the one to remove.
func (l *Library) twins(ctx context.Context, all []Curated) ([]Twin, error) {
	state, err := l.Curator()
	if err != nil {
		return nil, err
	}
	order.By(all, func(a, b Curated) int { return -cmp.Compare(a.worth(), b.worth()) })
	var out []Twin
	texts := make([]hermes.SkillText, len(all))
	for i, cu := range all {
		if texts[i], err = l.View(ctx, cu.Name, ""); err != nil {
			return nil, err
		}
		for j := range i {
			t := Twin{Name: cu.Name, Of: all[j].Name, Alike: likeness(texts[i].Content, texts[j].Content), base: texts[i].Hash}
			t.key = t.Name + " " + t.Of + " " + short(texts[i].Hash) + " " + short(texts[j].Hash)
			if t.Alike < minAlike || cu.Usage.Pinned {
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

// worth orders skills by how well they have worked.
func (c Curated) worth() int {
	worth := 4*c.Usage.Wins - 8*c.Usage.Harms + c.Usage.Uses
	if c.Usage.Pinned {
		worth += 1 << 20
	}
	return worth
}

// likeness compares the text of two skills, without their names.
func likeness(a, b string) float64 {
	x, y := bare(a), bare(b)
	if len(strings.Fields(x)) < minWords || len(strings.Fields(y)) < minWords {
		return 0
	}
	return errsig.Alike(x, y)
}

// bare returns the description and body of a skill in plain lower-case words.
func bare(content string) string {
	m, body, err := Parse([]byte(content))
	if err != nil {
		return ""
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(m.Description+" "+body), func(r rune) bool {
		return strings.ContainsRune(" \t\n#*`.,;:!?()[]\"'", r)
	}), " ")
}

// propose makes pending changes that remove the twins.
func (l *Library) propose(twins []Twin) error {
	for _, t := range twins {
		_, err := l.savePending(Pending{Removal: &hermes.SkillRemoval{Name: t.Name, Agent: true}, Because: t.Why(), Base: t.base})
		if err != nil {
			return err
		}
	}
	return nil
}

// note remembers what was proposed, so that a rejected proposal does not come
// again until one of the two skills changes.
func (s *CuratorState) note(twins []Twin) {
	for _, t := range twins {
		s.Proposed = append(s.Proposed, t.key)
	}
	s.Proposed = s.Proposed[max(0, len(s.Proposed)-maxProposed):]
}
