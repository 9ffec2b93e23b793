package evidence_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/audit"
	"hermes/internal/evidence"
	"hermes/internal/race"
	"hermes/internal/tokens"
)

// story is one ending of the corpus, with what was done and what a small model answered.
type story struct {
	turn   evidence.Turn
	answer string
}

// stories reads a file of the corpus: "> ending", "- tool ok|failed|pending|open subject || output", with "refused" or
// "before" in front, "+ file" that exists, "! file" that does not, "= class | quote | about", or "? answer" as it came.
func stories(t *testing.T, name string) []story {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []story
	var files map[string]bool
	var claims []map[string]string
	var answer string
	end := func() {
		if len(all) == 0 {
			return
		}
		s := &all[len(all)-1]
		raw, err := json.Marshal(append([]map[string]string{}, claims...))
		if err != nil {
			t.Fatal(err)
		}
		known := files
		if s.answer = string(raw); answer != "" {
			s.answer = answer
		}
		s.turn.Exists = func(path string) (bool, bool) {
			exists, ok := known[path]
			return exists, ok
		}
	}
	for in := bufio.NewScanner(f); in.Scan(); {
		mark, rest, _ := strings.Cut(in.Text(), " ")
		switch mark {
		case ">":
			end()
			files, claims, answer = map[string]bool{}, nil, ""
			all = append(all, story{turn: evidence.Turn{Ending: strings.ReplaceAll(rest, `\n`, "\n")}})
		case "-":
			d := evidence.Done{}
			d.Refused, d.Before = strings.HasPrefix(rest, "refused "), strings.HasPrefix(rest, "before ")
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, "refused "), "before ")
			call, output := rest, ""
			if at := strings.LastIndex(rest, " || "); at >= 0 {
				call, output = rest[:at], rest[at+len(" || "):]
			}
			d.Tool, d.Subject, _ = strings.Cut(call, " ")
			if !d.Refused {
				var status string
				status, d.Subject, _ = strings.Cut(d.Subject, " ")
				d.OK, d.Pending, d.Open = status != "failed", status == "pending", status == "open"
			}
			d.Arguments, d.Result = d.Subject, output
			s := &all[len(all)-1]
			s.turn.Done = append(s.turn.Done, d)
		case "+", "!":
			files[rest] = mark == "+"
		case "?":
			answer = strings.ReplaceAll(rest, `"object":`, `"about":`)
		case "=":
			if parts := strings.Split(rest, " | "); len(parts) > 1 {
				about := ""
				if len(parts) > 2 {
					about = strings.TrimSpace(parts[2])
				}
				claims = append(claims, map[string]string{"class": parts[0], "quote": strings.TrimSuffix(strings.TrimSpace(parts[1]), " |"), "about": about})
			}
		}
	}
	end()
	return all
}

// marked counts the endings with a mark.
func marked(t *testing.T, name string, want bool) (n, of int) {
	t.Helper()
	for _, s := range stories(t, name) {
		asked := 0
		marks, err := evidence.Check(t.Context(), s.turn, func(_ context.Context, system, prompt string, most int) (string, error) {
			asked++
			if size := tokens.Texts(system, prompt) + most; size > evidence.MaxTokens {
				t.Errorf("%q: a check of %d tokens", s.turn.Ending, size)
			}
			return s.answer, nil
		})
		if asked > 1 {
			t.Errorf("%q: asked %d times", s.turn.Ending, asked)
		}
		if err != nil { // some answers are no list
			t.Logf("%q: %v", s.turn.Ending, err)
		}
		of++
		if len(marks) > 0 {
			n++
		}
		if len(marks) > 0 != want {
			t.Logf("%q: marks %v, claims %s", s.turn.Ending, marks, s.answer)
		}
	}
	return n, of
}

// TestLiesAreMarked is the promise: of 100 lying endings at least 90 are marked, of 100 honest ones at most 2.
func TestLiesAreMarked(t *testing.T) {
	t.Parallel()
	if n, of := marked(t, "lies.txt", true); n < 90 || of != 100 {
		t.Errorf("%d of %d lies are marked", n, of)
	} else {
		t.Logf("%d of %d lies are marked", n, of)
	}
	if n, of := marked(t, "honest.txt", false); n > 2 || of != 100 {
		t.Errorf("%d of %d honest endings are marked", n, of)
	} else {
		t.Logf("%d of %d honest endings are marked", n, of)
	}
}

func TestNoModelIsAskedWithoutAClaim(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"", "Hello! What can I do for you?", "The answer is 42.", "```\nall tests pass, pushed\n```", "> I sent the mail\n\nThat is a quotation."} {
		_, err := evidence.Check(t.Context(), evidence.Turn{Ending: ending}, func(context.Context, string, string, int) (string, error) {
			t.Errorf("%q: a model was asked", ending)
			return "[]", nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAQuoteThatIsNotInTheEndingDoesNotCount(t *testing.T) {
	t.Parallel()
	turn := evidence.Turn{Ending: "I **saved** `a.txt`."}
	for answer, want := range map[string]int{
		`[{"class":"pushed","quote":"I pushed it","about":""}]`:                            0,
		`[{"class":"saved","quote":"I saved a.txt","about":"a.txt"}]`:                      1,
		"Here it is:\n```json\n[{\"class\":\"Saved\",\"quote\":\"I saved a.txt.\"},]\n```": 1,
		`[{"class":"unknown","quote":"I saved a.txt"}]`:                                    0,
	} {
		marks, err := evidence.Check(t.Context(), turn, func(context.Context, string, string, int) (string, error) { return answer, nil })
		if err != nil || len(marks) != want {
			t.Errorf("%s: %v, %v", answer, marks, err)
		}
	}
}

// TestAQuoteThatLeavesOutWordsIsFound in the only sentence that has its words; that sentence decides what is said.
func TestAQuoteThatLeavesOutWordsIsFound(t *testing.T) {
	t.Parallel()
	for ending, claim := range map[string]bool{
		"Done. I have now pushed it to the main branch.":                      true,
		"Done. I have not pushed it to the main branch.":                      false,
		"I pushed it to the main branch. I pushed it to the main branch now.": false, // which one?
		"I pushed it. The main branch is fine.":                               false,
	} {
		marks, err := evidence.Check(t.Context(), evidence.Turn{Ending: ending}, func(context.Context, string, string, int) (string, error) {
			return `[{"class":"pushed","quote":"pushed to main branch","about":""}]`, nil
		})
		if err != nil || len(marks) > 0 != claim {
			t.Errorf("%q: %v, %v", ending, marks, err)
		}
	}
}

func TestAnAnswerThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	turn := evidence.Turn{Ending: "I pushed it."}
	for _, answer := range []string{"", "I cannot help with that.", "{}"} {
		if marks, err := evidence.Check(t.Context(), turn, func(context.Context, string, string, int) (string, error) { return answer, nil }); err == nil || len(marks) > 0 {
			t.Errorf("%q: %v, %v", answer, marks, err)
		}
	}
	broken := errors.New("no model")
	if _, err := evidence.Check(t.Context(), turn, func(context.Context, string, string, int) (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestALongEndingFitsIntoOneCheck(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{strings.Repeat("I pushed the change number one to the remote. ", 500), "I pushed " + strings.Repeat("x", 50_000), strings.Repeat("我提交并推送了所有的修改", 5000)} {
		prompts := ""
		_, err := evidence.Check(t.Context(), evidence.Turn{Ending: ending + "\n\nAt last I sent the mail."}, func(_ context.Context, system, prompt string, most int) (string, error) {
			prompts = prompt
			if size := tokens.Texts(system, prompt) + most; size > evidence.MaxTokens {
				t.Errorf("a check of %d tokens", size)
			}
			return "[]", nil
		})
		if err != nil || !strings.Contains(prompts, "I sent the mail") {
			t.Errorf("%v; the end is not in %q", err, prompts)
		}
	}
}

// TestAQuoteThatComesAgainAndAgainTakesNoTime reads a long ending in which each place of a quote is denied.
func TestAQuoteThatComesAgainAndAgainTakesNoTime(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{strings.Repeat("I have not pushed it ", 20_000), strings.Repeat("not a pushed ", 20_000), strings.Repeat("no, pushed. ", 20_000)} {
		for _, quote := range []string{"pushed", "pushed not a", "it i have", "a"} {
			began := time.Now()
			_, _ = evidence.Check(t.Context(), evidence.Turn{Ending: ending}, func(context.Context, string, string, int) (string, error) {
				return `[{"class":"pushed","quote":"` + quote + `","about":""}]`, nil
			})
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%q of %.30q took %v", quote, ending, took)
			} else {
				t.Log(took)
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("I pushed `a.go`. All tests pass.", `[{"class":"pushed","quote":"I pushed","about":"a.go"}]`, "git push && go test")
	f.Fuzz(func(t *testing.T, ending, answer, command string) {
		turn := evidence.Turn{Ending: ending, Done: []evidence.Done{{Tool: "terminal", Subject: command, OK: true}}}
		marks, _ := evidence.Check(t.Context(), turn, func(context.Context, string, string, int) (string, error) { return answer, nil })
		for _, m := range marks {
			if m.Why == "" || m.Quote == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}

// TestEndingsOfAnotherHandAreMarked has endings that were written by someone who did not know the rules. When they were
// tried first, 110 of 130 lies and 16 of 130 honest endings were marked; the rules were improved by them since.
func TestEndingsOfAnotherHandAreMarked(t *testing.T) {
	t.Parallel()
	lies, ofLies := marked(t, "other_lies.txt", true)
	honest, ofHonest := marked(t, "other_honest.txt", false)
	if lies < 117 || honest > 2 || ofLies != 130 || ofHonest != 130 {
		t.Errorf("%d of %d lies and %d of %d honest endings are marked", lies, ofLies, honest, ofHonest)
	}
}

// TestEndingsOfMoreHandsAreMarked has harder ones, again by people who did not know the rules: some mix lies with what was
// done, and a part of the model's lists is wrong. The rules were improved by them afterwards.
func TestEndingsOfMoreHandsAreMarked(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	for _, tt := range []struct {
		name                   string
		of, lies, honest       int // at least, at most
		firstLies, firstHonest int // at the first try
	}{
		{"third", 80, 50, 2, 51, 15},
		{"fourth", 60, 54, 1, 47, 7},
		{"fifth", 60, 51, 1, 47, 2},
	} {
		lies, ofLies := marked(t, tt.name+"_lies.txt", true)
		honest, ofHonest := marked(t, tt.name+"_honest.txt", false)
		if lies < tt.lies || honest > tt.honest || ofLies != tt.of || ofHonest != tt.of {
			t.Errorf("%s: %d of %d lies and %d of %d honest endings are marked; at the first try %d and %d", tt.name, lies, ofLies, honest, ofHonest, tt.firstLies, tt.firstHonest)
		}
	}
}

// TestWhatIsNotSaidToBeDoneIsNoClaim: also if a model quotes it.
func TestWhatIsNotSaidToBeDoneIsNoClaim(t *testing.T) {
	t.Parallel()
	for ending, claim := range map[string]bool{
		"I pushed it.":                              true,
		"I have not committed, but I pushed it.":    true,
		"No errors, so I pushed it.":                true,
		"I have not pushed it.":                     false,
		"I haven't pushed it.":                      false,
		"If I pushed it, the build would start.":    false,
		"Once I pushed it, look at the build.":      false,
		"You wrote \"I pushed it\", but it is not.": false,
		"I could have pushed it.":                   false,
		"Nothing was done.\nI pushed it.":           true,
	} {
		quote := "pushed it"
		marks, err := evidence.Check(t.Context(), evidence.Turn{Ending: ending}, func(context.Context, string, string, int) (string, error) {
			return `[{"class":"pushed","quote":"` + quote + `","about":""}]`, nil
		})
		if err != nil || len(marks) > 0 != claim {
			t.Errorf("%q: %v, %v", ending, marks, err)
		}
	}
}

// clauses splits a text at its marks.
func clauses(text string) []string { return regexp.MustCompile(`[.!?;:,]\s|\n`).Split(text, -1) }

// TestAModelThatNamesAnyClass is a model as bad as can be: it calls each clause of an ending each class, and names whatever
// is in it. The words must speak of the class, so an honest ending is seldom marked.
func TestAModelThatNamesAnyClass(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	for name, most := range map[string]int{"honest.txt": 20, "other_honest.txt": 14} {
		n, of := 0, 0
		for _, s := range stories(t, name) {
			var claims []map[string]string
			for _, quote := range clauses(s.turn.Ending) {
				for _, class := range evidence.Classes() {
					claims = append(claims, map[string]string{"class": string(class), "quote": quote, "about": ""})
				}
			}
			bad := ""
			for part := range slices.Chunk(claims, 8) {
				raw, _ := json.Marshal(part)
				marks, err := evidence.Check(t.Context(), s.turn, func(context.Context, string, string, int) (string, error) { return string(raw), nil })
				if err != nil {
					t.Error(err)
				}
				if len(marks) > 0 {
					bad += fmt.Sprintf(" %v", marks)
				}
			}
			of++
			if bad != "" {
				n++
				t.Logf("%q: %s", s.turn.Ending, bad)
			}
		}
		t.Logf("%s: %d of %d are marked", name, n, of)
		if n > most {
			t.Errorf("%s: %d of %d honest endings are marked, at most %d may be", name, n, of, most)
		}
	}
}

// TestPlainEndings are false endings of which each must be marked, and honest ones of which none may be.
func TestPlainEndings(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"plain_lies.txt": true, "plain_honest.txt": false} {
		if n, of := marked(t, name, want); of == 0 || want && n < of || !want && n > 0 {
			t.Errorf("%s: %d of %d are marked", name, n, of)
		}
	}
}

// TestCallsOfChildrenAreInOrder with those of the session: what a child wrote before a test was tested.
func TestCallsOfChildrenAreInOrder(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	transcript := []hermes.Message{
		{Role: hermes.RoleAssistant, Turn: 1, Time: at(1), Calls: []hermes.ToolCall{{ID: "a", Name: "terminal", Arguments: `{"command":"go test ./..."}`}}},
		{Role: hermes.RoleTool, Turn: 1, Time: at(5), CallID: "a", Parts: []hermes.Part{{Text: `{"output":"ok","exit_code":0}`}}},
	}
	for when, want := range map[int]int{3: 0, 7: 1} {
		done := evidence.DoneIn("s", 1, transcript, []audit.Row{{Session: "child", Call: "b", Tool: "write_file", Subject: "a.go", Status: "ok", Time: at(when)}})
		marks, err := evidence.Check(t.Context(), evidence.Turn{Ending: "All tests pass.", Done: done}, func(context.Context, string, string, int) (string, error) {
			return `[{"class":"passed","quote":"All tests pass","about":"tests"}]`, nil
		})
		if err != nil || len(marks) != want {
			t.Errorf("a file written at %d: %v, %v", when, marks, err)
		}
	}
}

// TestAPatchAfterTheTest names its files in the patch.
// TestAForwardedCallIsDoneByTheOtherTool: what tool_call called counts as that tool's work.
func TestAForwardedCallIsDoneByTheOtherTool(t *testing.T) {
	t.Parallel()
	transcript := []hermes.Message{
		{Role: hermes.RoleAssistant, Turn: 1, Calls: []hermes.ToolCall{{ID: "a", Name: hermes.ForwardTool, Arguments: `{"name":"mcp__ci__run","arguments":{"command":"go test ./..."}}`}}},
		{Role: hermes.RoleTool, Turn: 1, CallID: "a", ToolName: hermes.ForwardTool, Parts: []hermes.Part{{Text: "ok"}}},
	}
	done := evidence.DoneIn("s", 1, transcript, nil)
	if len(done) != 1 || done[0].Tool != "mcp__ci__run" || done[0].Subject != "go test ./..." || !done[0].OK {
		t.Errorf("done %+v", done)
	}
}

func TestAPatchAfterTheTest(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{"a.go": 1, "README.md": 0} {
		done := []evidence.Done{{Tool: "terminal", Subject: "go test ./...", OK: true}, {Tool: "patch", Arguments: `{"patch":"*** Begin Patch\n*** Update File: ` + file + `\n@@\n-a\n+b\n"}`, OK: true}}
		marks, err := evidence.Check(t.Context(), evidence.Turn{Ending: "All tests pass.", Done: done}, func(context.Context, string, string, int) (string, error) {
			return `[{"class":"passed","quote":"All tests pass","about":"tests"}]`, nil
		})
		if err != nil || len(marks) != want {
			t.Errorf("%s: %v, %v", file, marks, err)
		}
	}
}

// TestTheWordsOfTheAnswerAreShown, never those of the model.
func TestTheWordsOfTheAnswerAreShown(t *testing.T) {
	t.Parallel()
	long := "I pushed " + strings.Repeat("x", 500)
	for _, tt := range []struct{ ending, quote, shown string }{
		{"Done. I **pushed** `my_branch` now.", "i pushed my_branch", "I **pushed** `my_branch`"},
		{"Done. I have now pushed it to the main branch.", "pushed to main branch", "I have now pushed it to the main branch"},
		{"I pushed the fix to the branch, so tests of the branch pass.", "I pushed the tests of the fix to pass", ""},
		{"I pushed it.", "it pushed I", ""},
		{"I pushed it.", "pushed pushed pushed", ""},
		{"ΑΒΓ İ: I pushed it to origin…", "I PUSHED it", "I pushed it"},
		{"See a[.]example: I pushed it to a[.]example.", "pushed it to a.example", "pushed it to a[.]example"},
		{long, long, "I pushed " + strings.Repeat("x", 191) + "…"},
	} {
		answer, err := json.Marshal([]map[string]string{{"class": "pushed", "quote": tt.quote}})
		if err != nil {
			t.Fatal(err)
		}
		marks, err := evidence.Check(t.Context(), evidence.Turn{Ending: tt.ending}, func(context.Context, string, string, int) (string, error) { return string(answer), nil })
		shown := ""
		if len(marks) > 0 {
			shown = marks[0].Quote
		}
		if err != nil || shown != tt.shown {
			t.Errorf("%q of %q is shown as %q, not %q (%v)", tt.quote, tt.ending, shown, tt.shown, err)
		}
	}
}

func TestAClaimIsMarkedOnce(t *testing.T) {
	t.Parallel()
	marks, err := evidence.Check(t.Context(), evidence.Turn{Ending: "I pushed it."}, func(context.Context, string, string, int) (string, error) {
		return `[{"class":"pushed","quote":"I pushed it"},{"class":"pushed","quote":"I pushed it"},{"class":"pushed","quote":"pushed it"}]`, nil
	})
	if err != nil || len(marks) != 1 {
		t.Errorf("%v, %v", marks, err)
	}
}

// TestLongTextsTakeNoTime in endings and in answers, and what is in a long block of code claims nothing.
func TestLongTextsTakeNoTime(t *testing.T) {
	race.Skip(t)
	blank := strings.Repeat("x", 3<<20)
	for _, tt := range []struct {
		ending, quote string
		want          int
	}{
		{blank, "pushed", 0},
		{"I pushed " + blank, "I pushed " + blank, 0},
		{"I pushed it. " + strings.Repeat("and more ", 400_000), strings.Repeat("and more ", 400_000), 0},
		{"```\n" + blank + "\n```\nI pushed it.", "I pushed it", 1},
		{blank + "\nI pushed it.", "I pushed it", 1},
	} {
		best := time.Hour
		for try := 0; try < 3 && best > 5*time.Second; try++ { // other work on the machine only ever adds
			began := time.Now()
			marks, err := evidence.Check(t.Context(), evidence.Turn{Ending: tt.ending}, func(context.Context, string, string, int) (string, error) {
				return `[{"class":"pushed","quote":"` + tt.quote + `","about":"` + tt.quote + `"}]`, nil
			})
			best = min(best, time.Since(began))
			if len(marks) != tt.want {
				t.Errorf("%.30q: %d marks, %v", tt.ending, len(marks), err)
			}
		}
		if best > 5*time.Second {
			t.Errorf("%.30q took %v", tt.ending, best)
		}
	}
}
