package modelinfo

import (
	"strings"
	"testing"
	"time"
)

// TestEveryLineOfTheSnapshotIsRead catches a slip of the pen: a line that says
// nothing, a limit that cannot be, an output dearer to read than to write.
func TestEveryLineOfTheSnapshotIsRead(t *testing.T) {
	t.Parallel()
	if _, err := time.Parse(time.DateOnly, Date()); err != nil {
		t.Errorf("the date of the snapshot: %v", err)
	}
	if len(snapshot) > 60<<10 {
		t.Errorf("the snapshot has %d bytes", len(snapshot))
	}
	tiers, models := 0, 0
	for line := range strings.Lines(snapshot) {
		switch f := strings.Fields(line); {
		case len(f) == 0 || strings.HasPrefix(f[0], "#"):
		case f[0] == ">":
			tiers++
		case len(f) >= 6 && f[0] != "plan" && f[0] != "list" && f[0] != "free":
			models++
			if strings.Trim(f[3], "vrt") != "" {
				t.Errorf("%s: the abilities are %q", f[0], f[3])
			}
		case f[0] != "date" && f[0] != "list" && f[0] != "plan" && f[0] != "free":
			t.Errorf("this line says nothing: %q", line)
		}
	}
	for name, list := range loaded().entries {
		for _, e := range list {
			models--
			if e.Context != 0 && !plausible(e.Context) || e.Output > e.Context && e.Context > 0 {
				t.Errorf("%s: limits of %d and %d tokens", name, e.Context, e.Output)
			}
			if e.Price == nil {
				continue
			}
			last := Tier{Price: *e.Price}
			for _, next := range e.Price.Above {
				tiers--
				if next.Prompt <= last.Prompt || next.Price.Input <= last.Price.Input {
					t.Errorf("%s: longer prompts cost less: %+v", name, next)
				}
				last = next
			}
			if e.Price.Output < e.Price.Input || e.Price.CacheRead > e.Price.Input {
				t.Errorf("%s: the price is %+v", name, *e.Price)
			}
		}
	}
	if models != 0 || tiers != 0 {
		t.Errorf("%d models and %d tiers were not read", models, tiers)
	}
}
