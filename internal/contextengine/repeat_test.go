package contextengine_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/contextengine"
)

const againBelow = "the same result appears again below"

// checkRepeats fails if a shortened result says that its text appears below and
// none of the originals that it may stand for does. It returns how many say so.
func checkRepeats(t *testing.T, tr []hermes.Message, originals map[string]string) int {
	t.Helper()
	n := 0
	for i, m := range tr {
		if m.Role != hermes.RoleTool || !strings.Contains(m.Text(), againBelow) {
			continue
		}
		n++
		found := false
		for _, later := range tr[i+1:] {
			found = found || later.Role == hermes.RoleTool && later.Text() == originals[m.CallID]
		}
		if !found {
			t.Errorf("message %d says %q, which is not so", i, m.Text())
		}
	}
	return n
}

// remember keeps the text of each result by its call.
func remember(into map[string]string, tr []hermes.Message) {
	for _, m := range tr {
		if m.Role == hermes.RoleTool && into[m.CallID] == "" {
			into[m.CallID] = m.Text()
		}
	}
}

// TestARepeatIsOnlyClaimedWhereItIs reads the same file every few calls through
// many compactions, demands, refusals and ahead-of-time prunings.
func TestARepeatIsOnlyClaimedWhereItIs(t *testing.T) {
	t.Parallel()
	file := strings.Repeat("the same line of a file\n", 60)
	for name, usage := range map[string]func(round int, tr []hermes.Message) hermes.ContextUsage{
		"full": func(_ int, tr []hermes.Message) hermes.ContextUsage { return full(tr, 64_000) },
		"demand": func(int, []hermes.Message) hermes.ContextUsage {
			return hermes.ContextUsage{Demand: true, Window: 64_000}
		},
		"overflow": func(int, []hermes.Message) hermes.ContextUsage {
			return hermes.ContextUsage{Overflow: true, Window: 64_000}
		},
		"ahead": func(round int, tr []hermes.Message) hermes.ContextUsage {
			p := full(tr, 64_000)
			if round%3 > 0 {
				p.Used = 30_000
			}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := contextengine.New(contextengine.Options{Summarize: sums("sum"), Config: contextengine.Config{PruneTokens: 1000, PruneResult: 1}})
			originals := map[string]string{}
			tr := []hermes.Message{user("Build the parser."), assistant("I will.")}
			claims := 0
			for round := range 12 {
				tr = append(tr, user(fmt.Sprint("request ", round)))
				for i := range 12 {
					tr = append(tr, act("read_file", `{"path":"a.go"}`, file)...)
					tr = append(tr, act("read_file", `{"path":"b.go"}`, fmt.Sprint(round/4, file))...)
					tr = append(tr, act("terminal", `{"command":"make"}`, fmt.Sprint(round, i, long(400)))...)
				}
				tr = append(tr, assistant(long(200)))
				if round > 4 && round < 7 { // results that are too long for the window
					tr = append(tr, user("again"))
					tr = append(tr, act("read_file", `{"path":"a.go"}`, strings.Repeat(file, 150))...)
					tr = append(tr, act("read_file", `{"path":"a.go"}`, strings.Repeat(file, 150))...)
					tr = append(tr, assistant("ok"))
				}
				tr = append(tr, user("next"))
				remember(originals, tr)
				f, err := e.Fit(t.Context(), tr, usage(round, tr))
				if err != nil {
					t.Fatal(err)
				}
				check(t, tr, f)
				tr = append(stored(t, f.Messages), assistant("ok"))
				claims += checkRepeats(t, tr, originals)
			}
			if claims == 0 && name != "demand" {
				t.Error("no repeat was ever named")
			}
		})
	}
}

// TestRepeatsThatWereStoredAreChecked reads the wordings of earlier versions, which
// do not say what they stand for.
func TestRepeatsThatWereStoredAreChecked(t *testing.T) {
	t.Parallel()
	tr := []hermes.Message{user("go"), assistant("ok"), user("look")}
	for _, note := range []string{"[read_file: the same result stands again below]", "[read_file: the same result appears again below]"} {
		tr = append(tr, act("read_file", `{"path":"a.go"}`, note)...)
	}
	tr = append(tr, assistant("ok"))
	tr = append(tr, talk(60, 2000)[2:]...)
	got := text(mustFit(t, contextengine.New(contextengine.Options{Summarize: sums("sum"), Config: contextengine.Config{ProtectFirst: 8}}), tr, full(tr, 200_000)))
	if strings.Contains(got, "again below") || strings.Count(got, "[read_file: the result was shortened]") != 2 {
		t.Errorf("%.600s", got)
	}
}
