package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	brakes "hermes/internal/brake"
	"hermes/internal/chatserver"
	"hermes/internal/session"
	"hermes/internal/skill"
)

// building is a toolset with one tool: a build that works in one way only.
// Its output is untrusted if it is foreign.
type building struct {
	runs    *int
	foreign bool
}

func (building) Name() string                     { return "building" }
func (building) Available(context.Context) string { return "" }
func (b building) Tools(context.Context) ([]hermes.Tool, error) {
	type how struct {
		How string `json:"how"`
	}
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "build", Description: "Build it.", Trusted: !b.foreign},
		func(_ context.Context, _ *hermes.Call, h how) (hermes.Result, error) {
			*b.runs++
			return hermes.Result{Text: "tried " + h.How, Failed: h.How != "tags"}, nil
		})}, nil
}

// workshop is a service whose worker builds the long way and whose reviewer writes a
// skill; a replay follows the skill exactly.
type workshop struct {
	draft string // the ways that the skill names, one after another
	judge string // "" is YES

	mu      sync.Mutex
	replays int
	foreign bool     // the build's output is untrusted
	refused string   // what the reviewer read of its draft
	tools   []string // of the reviewer
	broken  bool     // replays are answered with an error
	// hang, if set, blocks replays until it is closed; stuck reports the first.
	hang  <-chan struct{}
	stuck chan struct{}
}

var longWay = []string{"plain", "debug", "tags"}

func (w *workshop) decide(r *chatserver.Request) (chatserver.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	system, results := r.Messages[0].Text(), 0
	for _, m := range r.Messages[max(0, lastAsked(r)):] {
		if m.Role == "tool" {
			results++
		}
	}
	switch {
	case strings.HasPrefix(system, "You review work"):
		if results == 0 {
			return use(r, "skill_manage", map[string]any{"action": "create", "name": "build-it", "content": w.skill()})
		}
		for _, t := range r.Tools {
			w.tools = append(w.tools, t.Function.Name)
		}
		w.refused = r.Messages[len(r.Messages)-1].Text()
		return chatserver.Answer{Text: "Kept one skill."}, nil
	case strings.HasPrefix(system, "You do a task for a user"):
		w.replays++
		if w.hang != nil {
			select {
			case w.stuck <- struct{}{}:
			default:
			}
			w.mu.Unlock()
			<-w.hang
			w.mu.Lock()
		}
		if w.broken {
			return chatserver.Answer{}, fmt.Errorf("the service is down")
		}
		way := longWay
		if strings.Contains(r.Messages[1].Text(), "<skill>") {
			way = strings.Fields(w.draft)
		}
		return along(r, way, results)
	case strings.HasPrefix(system, "You compare two endings"):
		if w.judge != "" {
			return chatserver.Answer{Text: w.judge}, nil
		}
		return chatserver.Answer{Text: "YES"}, nil
	case strings.Contains(r.Messages[lastAsked(r)].Text(), "nothing"):
		return chatserver.Answer{Text: "All right."}, nil
	case strings.Contains(r.Messages[lastAsked(r)].Text(), "save it"):
		if results == 0 {
			return use(r, "skill_manage", map[string]any{"action": "create", "name": "build-it", "content": w.skill()})
		}
		return chatserver.Answer{Text: "Saved."}, nil
	}
	if results == len(longWay) && strings.Contains(r.Messages[lastAsked(r)].Text(), "keep the way") {
		return use(r, "skill_manage", map[string]any{"action": "create", "name": "build-it", "content": w.skill()})
	}
	return along(r, longWay, results)
}

func (w *workshop) skill() string {
	return "---\nname: build-it\ndescription: Build it\n---\nTry in this order: " + w.draft + "\n"
}

func lastAsked(r *chatserver.Request) int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return i
		}
	}
	return 0
}

func along(r *chatserver.Request, way []string, results int) (chatserver.Answer, error) {
	if results < len(way) {
		return use(r, "build", map[string]any{"how": way[results]})
	}
	return chatserver.Answer{Text: "It is built with tags."}, nil
}

func use(r *chatserver.Request, tool string, arguments map[string]any) (chatserver.Answer, error) {
	raw, err := json.Marshal(arguments)
	id := fmt.Sprintf("c%d", len(r.Messages))
	return chatserver.Answer{Calls: []chatserver.Call{{ID: id, Type: "function", Function: chatserver.Function{Name: tool, Arguments: string(raw)}}}}, err
}

// built is the result of a conversation in the workshop.
type built struct {
	notice  string
	usage   skill.Usage
	kept    bool // the skill is there
	wait    []skill.Pending
	gone    []skill.Archived
	runs    *int // of the real tool
	foreign bool // its output is untrusted
	app     *app.App
	id      string
}

// workshopHome is a home whose model is the workshop.
func workshopHome(t *testing.T, w *workshop, settings string) string {
	t.Helper()
	server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: w.decide})
	t.Cleanup(server.Close)
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), `
model: {default: m, provider: custom, base_url: "`+server.URL+`/v1"}
spend: {prices: {m: {input: 1, output: 1, cache_read: 1, cache_write: 1}}}
auxiliary:
  title_generation: {enabled: false}
  background_review: {defer: never, extra_tools: [read_file, terminal, nothing]}
`+settings)
	return home
}

// visit sends lines one after another; meanwhile is called with each event.
func (b *built) visit(t *testing.T, home string, meanwhile func(line int, e hermes.Event) (stop bool), lines ...string) {
	t.Helper()
	a := app.New(app.Options{Home: home, Extra: []hermes.Toolset{building{b.runs, b.foreign}}, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	b.app = a
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
	b.id = s.ID()
	events, cancel := subscribe(s, 0)
	defer cancel()
	for i, line := range lines {
		if err := s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: line}}}); err != nil {
			t.Fatal(err)
		}
		for e := range events {
			if meanwhile(i, e) {
				break
			}
		}
	}
}

// inWorkshop sends lines one after another and waits for the notice after the last.
func inWorkshop(t *testing.T, w *workshop, settings string, lines ...string) built {
	t.Helper()
	b := built{runs: new(int), foreign: w.foreign}
	done := false
	b.visit(t, workshopHome(t, w, settings), func(line int, e hermes.Event) bool {
		if n, ok := e.(hermes.Notice); ok && done {
			b.notice = n.Text
			return true
		}
		_, ended := e.(hermes.TurnDone)
		done = done || ended && line == len(lines)-1
		return ended && !done
	}, lines...)
	b.look(t)
	return b
}

// look reads what is stored.
func (b *built) look(t *testing.T) {
	t.Helper()
	a := b.app
	lib, err := a.Skills()
	if err != nil {
		t.Fatal(err)
	}
	all, err := lib.Usages()
	if err != nil {
		t.Fatal(err)
	}
	b.usage = all["build-it"]
	_, err = lib.View(t.Context(), "build-it", "")
	b.kept = err == nil
	if b.wait, err = lib.Proposals(); err != nil {
		t.Fatal(err)
	}
	if b.gone, err = lib.ListArchived(); err != nil {
		t.Fatal(err)
	}
}

func (b built) says(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(b.notice, w) {
			t.Errorf("the notice %q does not say %q", b.notice, w)
		}
	}
}

func TestADraftThatWinsIsKept(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "tags"}
	b := inWorkshop(t, w, "", "build it")
	b.says(t, "changed: skill build-it [won its replay: 2 steps instead of 4, 0 failed calls instead of 2", "tokens, $0.")
	last := b.usage.Replays.Last
	if !b.kept || len(b.wait) != 0 || b.usage.Wins != 1 || last == nil || last.With.Steps != 2 || last.Without.Failed != 2 || last.Session != b.id || !last.With.Reached {
		t.Errorf("%+v", b)
	}
	if *b.runs != 3 || w.replays != 6 {
		t.Errorf("the tool ran %d times, replays took %d calls", *b.runs, w.replays)
	}
	g, err := b.app.Spend()
	if err != nil {
		t.Fatal(err)
	}
	list, err := g.Spent(t.Context(), hermes.SpendQuery{Session: b.id, By: hermes.SpendByPurpose})
	if err != nil || !strings.Contains(fmt.Sprint(list), "skill_replay") {
		t.Errorf("recorded %v, %v", list, err)
	}
}

func TestAReviewerHasNoToolsThatAct(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "tags"}
	inWorkshop(t, w, "", "build it")
	if got := strings.Join(w.tools, " "); got != "memory read_file skill_manage skill_view skills_list" {
		t.Errorf("the reviewer has %q", got)
	}
}

func TestADraftThatLosesWaitsWithItsFigures(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "plain guess debug tags"}
	b := inWorkshop(t, w, "", "build it")
	b.says(t, "skill build-it [lost its replay: ", "5 steps instead of 4", "1 unknown call instead of 0", "waits for your approval")
	if b.kept || len(b.wait) != 1 || !strings.Contains(b.wait[0].Why(), "5 steps instead of 4") || !strings.Contains(w.refused, "staged") {
		t.Errorf("%+v, the reviewer read %q", b, w.refused)
	}
	w = &workshop{draft: "plain guess debug tags"}
	b = inWorkshop(t, w, "skills: {replay_losers: drop}\n", "build it")
	b.says(t, "nothing to keep; not kept: skill build-it [lost its replay: ")
	if b.kept || len(b.wait) != 0 || !strings.Contains(w.refused, "is not kept") {
		t.Errorf("%+v, the reviewer read %q", b, w.refused)
	}
}

func TestAnUndecidedDraftIsKeptAndReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w        *workshop
		settings string
		line     string
		says     string
	}{
		"the ends cannot be compared": {&workshop{draft: "tags", judge: "perhaps"}, "", "build it", "not proven: the outcomes could not be compared"},
		"the tokens are used up":      {&workshop{draft: strings.Repeat("guess ", 400) + "tags"}, "skills: {replay_max_tokens: 1000}\n", "build it", "not proven: the tokens for replays are used up"},
		"the service fails":           {&workshop{draft: "tags", broken: true}, "agent: {api_max_retries: 0}\n", "build it", "not proven: the model call failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inWorkshop(t, c.w, c.settings, c.line)
			b.says(t, "changed: skill build-it [", c.says)
			if !b.kept || len(b.wait) != 0 || b.usage.Wins != 0 {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestAWinnerAfterUntrustedTextStillNeedsApproval(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "tags", foreign: true}
	b := inWorkshop(t, w, "", "build it")
	b.says(t, "proposed: skill build-it [won its replay: 2 steps instead of 4", "(waits for your approval)", "/skills pending")
	if b.kept || len(b.wait) != 1 || !strings.Contains(b.wait[0].Why(), "won its replay") {
		t.Fatalf("%+v", b)
	}
	lib, err := b.app.Skills()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lib.Approve(t.Context(), b.wait[0].ID); err != nil {
		t.Fatal(err)
	}
	if b.look(t); !b.kept || b.usage.Wins != 1 || b.usage.Replays.Won != 1 || b.usage.Provenance == "" {
		t.Errorf("%+v", b)
	}
}

func TestReplaysCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "plain guess debug tags"}
	b := inWorkshop(t, w, "skills: {replay: off}\n", "build it")
	b.says(t, "changed: skill build-it (")
	if !b.kept || w.replays != 0 || b.usage.Replays.Last != nil {
		t.Errorf("%+v, %d replays", b, w.replays)
	}
}

func TestASkillOfTheConversationThatHarmsIsRetired(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "plain plain debug debug tags"}
	b := inWorkshop(t, w, "memory: {nudge_interval: 0}\nskills: {creation_nudge_interval: 0}\n", "build it", "yes, save it")
	b.says(t, "The skill build-it lost its replay: ", "4 failed calls instead of 2", "hermes curator restore build-it")
	if b.kept || len(b.gone) != 1 || !strings.Contains(b.gone[0].Why, "4 failed calls") {
		t.Errorf("%+v", b)
	}
	w = &workshop{draft: "tags"}
	b = inWorkshop(t, w, "memory: {nudge_interval: 0}\nskills: {creation_nudge_interval: 0}\n", "build it", "yes, save it")
	b.says(t, "The skill build-it won its replay: ")
	if !b.kept || b.usage.Wins != 1 {
		t.Errorf("%+v", b)
	}
	w = &workshop{draft: "tags"}
	b = inWorkshop(t, w, "memory: {nudge_interval: 0}\nskills: {creation_nudge_interval: 0}\n", "save it")
	b.says(t, "The skill build-it is kept and not proven: ", "no turn can be replayed to test it")
	if !b.kept || w.replays != 0 {
		t.Errorf("%+v", b)
	}
	w = &workshop{draft: "tags"}
	b = inWorkshop(t, w, "memory: {nudge_interval: 0}\nskills: {creation_nudge_interval: 0}\n", "build it, then keep the way")
	b.says(t, "it was written in the turn that did the work", "`hermes skills replay build-it --session ")
	if !b.kept || w.replays != 0 {
		t.Errorf("%+v", b)
	}
}

func TestASkillIsReplayedByHand(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "tags"}
	b := inWorkshop(t, w, "", "build it")
	lib, err := b.app.Skills()
	if err != nil {
		t.Fatal(err)
	}
	got, err := lib.Replay(t.Context(), "build-it", b.id, 0)
	if err != nil || got.Verdict != hermes.SkillWon || got.Turn != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := lib.Usages(); err != nil || all["build-it"].Replays.Won != 2 {
		t.Errorf("%+v, %v", all["build-it"], err)
	}
	for _, c := range []struct {
		name, session string
		turn          int64
	}{{"nothing", b.id, 0}, {"build-it", "no-session", 0}, {"build-it", b.id, 7}} {
		if _, err := lib.Replay(t.Context(), c.name, c.session, c.turn); err == nil {
			t.Errorf("%+v was replayed", c)
		}
	}
	if *b.runs != 3 {
		t.Errorf("the tool ran %d times", *b.runs)
	}
	brake, err := b.app.Brake()
	if err != nil {
		t.Fatal(err)
	}
	if err := brake.Set(brakes.State{}); err != nil {
		t.Fatal(err)
	}
	before := w.replays
	if got, err := lib.Replay(t.Context(), "build-it", b.id, 0); !errors.Is(err, hermes.ErrHalted) || w.replays != before {
		t.Errorf("while all work is stopped: %+v, %v, %d calls", got, err, w.replays-before)
	}
}

func TestAnInterruptedReplayStoresNothingAndIsRepeated(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	w := &workshop{draft: "tags", hang: hang, stuck: make(chan struct{}, 1)}
	home := workshopHome(t, w, "")
	b := built{runs: new(int)}
	b.visit(t, home, func(_ int, e hermes.Event) bool {
		_, ended := e.(hermes.TurnDone)
		return ended
	}, "build it")
	<-w.stuck                             // the draft is being tried
	if err := b.app.Close(); err != nil { // the user quits and does not wait long
		t.Fatal(err)
	}
	b.look(t)
	if b.kept || len(b.wait) != 0 || b.usage.Replays.Last != nil || b.usage.Agent {
		t.Errorf("left half: %+v", b)
	}
	close(hang)
	done := false
	b.visit(t, home, func(_ int, e hermes.Event) bool {
		if n, ok := e.(hermes.Notice); ok && done {
			b.notice = n.Text
			return true
		}
		_, ended := e.(hermes.TurnDone)
		done = done || ended
		return false
	}, "save nothing, build nothing")
	b.look(t)
	b.says(t, "Review of an earlier session changed: skill build-it [won its replay: ")
	if !b.kept || b.usage.Wins != 1 {
		t.Errorf("%+v", b)
	}
}

// TestAReplayThatRunsEndsWithItsNextCall once all work is stopped.
func TestAReplayThatRunsEndsWithItsNextCall(t *testing.T) {
	t.Parallel()
	w := &workshop{draft: "tags"}
	b := inWorkshop(t, w, "", "build it")
	lib, err := b.app.Skills()
	if err != nil {
		t.Fatal(err)
	}
	hang := make(chan struct{})
	w.mu.Lock()
	w.hang, w.stuck = hang, make(chan struct{}, 1)
	before := w.replays
	w.mu.Unlock()
	var got hermes.SkillTrial
	done := make(chan error, 1)
	go func() { // ends with the replay
		var err error
		got, err = lib.Replay(t.Context(), "build-it", b.id, 0)
		done <- err
	}()
	<-w.stuck
	brake, err := b.app.Brake()
	if err == nil {
		err = brake.Set(brakes.State{})
	}
	if err != nil {
		t.Fatal(err)
	}
	close(hang)
	if err := <-done; err != nil || got.Verdict != hermes.SkillUndecided || w.replays != before+1 {
		t.Errorf("%+v, %v, %d calls", got, err, w.replays-before)
	}
}
