package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/protocol"
	"hermes/internal/tui/input"
)

func widthOf(row string) int { return markup.Width(row) }

// work plays a turn with thinking, calls, a diff and an answer.
func work(r *rig) {
	r.keys("find the bug<enter>")
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("find the bug")}, hermes.StepStarted{Step: 1, Model: "maker/model-1"})
	r.send(hermes.ReasoningDelta{Text: "The test fails, so I look "}, hermes.ReasoningDelta{Text: "at the code first."})
	r.send(hermes.TextDelta{Text: "I will **look** at the files"}, hermes.TextDelta{Text: " first.\n"})
	r.send(answer("I will **look** at the files first.\n"))
	r.send(hermes.CallStarted{Call: call("1", "read_file"), Preview: "src/main.go"}, hermes.CallStarted{Call: call("2", "terminal"), Preview: "go test ./... -run TestOfAVeryLongNameThatIsCut -count=1"})
	r.send(hermes.CallDone{Call: call("1", "read_file"), Preview: "src/main.go", Duration: 12 * time.Millisecond})
	r.send(hermes.CallDone{Call: call("2", "terminal"), Preview: "go test ./... -run TestOfAVeryLongNameThatIsCut -count=1", Duration: 3200 * time.Millisecond, Failed: true,
		Result: hermes.Message{Parts: []hermes.Part{{Text: `{"output":"FAIL","exit_code":1}`}}}})
	r.send(hermes.CallDone{Call: call("3", "patch"), Preview: "src/main.go", Duration: 8 * time.Millisecond, Shown: "--- a/src/main.go\n+++ b/src/main.go\n@@ -1,2 +1,2 @@\n func add(a, b int) int {\n-\treturn a - b\n+\treturn a + b\n"})
	r.send(hermes.UsageUpdated{Step: hermes.Usage{Input: 11000, Output: 1000}, Turn: hermes.Usage{Input: 11000, Output: 1000}, Model: "maker/model-1"})
	r.send(hermes.StepStarted{Step: 2, Model: "maker/model-1"}, hermes.TextDelta{Text: "The sign was wrong:\n\n```go\nreturn a + b\n```\n\n| 汉字 | value |\n|---|--:|\n| a | 1 |\n"})
}

func TestChatGolden(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 80, 120} {
		r := openRig(t, width, 40)
		work(r)
		r.keys("and then").wait(4 * time.Second).send(tickMsg{})
		golden(t, fmt.Sprintf("working.%d.golden", width), r.v.screenText())
		r.send(answer("The sign was wrong:\n\n```go\nreturn a + b\n```\n\n| 汉字 | value |\n|---|--:|\n| a | 1 |\n"))
		r.send(hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "", Steps: 2, Usage: hermes.Usage{Input: 11000, Output: 1000}, Duration: 65 * time.Second})
		r.send(hermes.Titled{Title: "The bug"}, hermes.Configured{Model: "maker/model-1", Window: 100_000})
		golden(t, fmt.Sprintf("done.%d.golden", width), r.v.text())
	}
}

func TestTypedMessageWaitsUntilTheSessionIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, Display{})
	r.keys("hello<enter>")
	r.wantDo()
	r.shows("hello", "Opening the session…")
	r.send(openedMsg{id: "x"})
	r.wantDo(say("hello"))
}

func TestSessionThatCannotBeOpenedSaysWhyAndQuits(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, Display{})
	r.send(openedMsg{err: errors.New("the database is locked by another program")})
	r.wantDo(quitDo{})
	r.shows("the database is locked by another program")
}

func TestCtrlCInterruptsAndTwiceQuits(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
	r.keys("later<enter>")
	r.wantDo(say("later"))
	r.keys("<ctrl+c>")
	r.wantDo(submitDo{op: hermes.Stop{}})
	r.shows("Stopping. Press Ctrl+C again to quit.", "› later") // the text comes back
	r.wait(time.Second).keys("<ctrl+c>")
	r.wantDo(quitDo{})
}

// A turn that is being prepared has not begun: a tool server starts, or a memory is asked.
func TestCtrlCStopsThePreparationOfATurn(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys("go<enter>").wait(time.Second)
	r.keys("<ctrl+c>")
	r.wantDo(say("go"), submitDo{op: hermes.Stop{}})
	r.send(submittedMsg{op: say("go").op, err: hermes.ErrInterrupted}, submittedMsg{op: hermes.Stop{}})
	r.shows("interrupted", "› go")
	r.wait(3 * time.Second).keys("<ctrl+c>")
	r.wantDo() // it clears the input
}

func TestCtrlCStopsThePreparationOfWhatWaited(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
	r.keys("one<enter>two<enter>").wants()
	r.send(submittedMsg{op: say("one").op}, submittedMsg{op: say("two").op}, hermes.TurnDone{Turn: 1}).wants()
	r.wait(time.Second).keys("half<ctrl+c>")
	r.wantDo(submitDo{op: hermes.Stop{}}) // the text is kept
	r.shows("Stopping. Press Ctrl+C again to quit.")
	r.send(hermes.Queued{}, submittedMsg{op: hermes.Stop{}}, hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeInterrupted}).wants()
	if got := r.m.input.Value(); got != "one\n\ntwo\n\nhalf" {
		t.Errorf("the input is %q", got)
	}
	r.wait(3 * time.Second).keys("<ctrl+c>").wantDo() // nothing is left to stop
}

// The session answers the stop and the messages in any order.
func TestAllMessagesComeBackWhenAPreparationIsStopped(t *testing.T) {
	t.Parallel()
	one, two := submittedMsg{op: say("one").op, err: hermes.ErrInterrupted}, submittedMsg{op: say("two").op, err: hermes.ErrInterrupted}
	stop := submittedMsg{op: hermes.Stop{}}
	for _, order := range [][]any{{one, two, stop}, {one, stop, two}, {stop, one, two}} {
		r := openRig(t, 80, 24)
		r.keys("one<enter>").wait(time.Second).keys("two<enter>").wait(time.Second).keys("<ctrl+c>")
		r.send(order...)
		if got := r.m.input.Value(); got != "one\n\ntwo" {
			t.Errorf("%v: the input is %q", order, got)
		}
	}
}

func TestCtrlCStopsThePreparationOfARepeatedTurn(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"/retry", "/continue"} {
		r := openRig(t, 80, 24)
		r.keys(line + "<enter>").wait(time.Second).keys("<ctrl+c>")
		r.wantDo(commandDo{line: line}, submitDo{op: hermes.Stop{}})
		r.send(submittedMsg{op: hermes.Stop{}}, ranMsg{line: line, err: hermes.ErrInterrupted})
		r.shows("interrupted").wait(3 * time.Second).keys("x<ctrl+c>")
		r.wantDo() // it clears the input
	}
	r := newRig(t, 80, 24, Display{})
	r.send(openedMsg{id: "x", state: protocol.Snapshot{Parked: true}}).wantDo(submitDo{op: hermes.Continue{}})
	r.keys("<ctrl+c>").wantDo(submitDo{op: hermes.Stop{}})
	r.send(submittedMsg{op: hermes.Continue{}, err: hermes.ErrInterrupted}, submittedMsg{op: hermes.Stop{}})
	r.wait(3 * time.Second).keys("<ctrl+c>").wantDo()
}

func TestSecondCtrlCMuchLaterOnlyStops(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
	r.keys("<ctrl+c>").wait(3 * time.Second).keys("<ctrl+c>")
	r.wantDo(submitDo{op: hermes.Stop{}}, submitDo{op: hermes.Stop{}})
}

func TestCtrlCAndCtrlDWhenIdle(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys("draft<ctrl+c>")
	r.wantDo()
	r.hides("draft")
	r.keys("<ctrl+c>").shows("Press Ctrl+C again to quit.")
	r.wait(3 * time.Second).send(tickMsg{})
	r.hides("again to quit")
	r.keys("ab<home><ctrl+d>").wantDo()
	r.shows("› b")
	r.keys("<ctrl+d><ctrl+d>").wantDo(quitDo{})
}

func TestNewlines(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys(`one<alt+enter>two<ctrl+j>three\<enter>four<shift+enter>five<enter>`)
	r.wantDo(say("one\ntwo\nthree\nfour\nfive"))
}

func TestPasteIsTextAndBigOnesAreFolded(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(pasteMsg("run /quit\r\nnot run\x1b[31m"))
	r.wantDo()
	r.shows("› run /quit", "not run[31m")
	big := strings.Repeat("line\n", 20)
	r.send(pasteMsg(big))
	r.shows("[paste 1: 20 lines]")
	r.keys("<left><right><backspace>").hides("paste 1")
	r.send(pasteMsg(big)).keys("!<enter>")
	r.wantDo(submitDo{op: hermes.Say{Parts: []hermes.Part{{Text: "run /quit\nnot run[31m" + big + "!"}}}})
}

func TestResetWipesTheLiveText(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.StepStarted{Step: 1})
	r.send(hermes.TextDelta{Text: "wrong beginning"}).shows("wrong beginning")
	r.send(hermes.Reset{Reason: "connection lost"}).hides("wrong beginning", "starts again")
	r.send(hermes.TextDelta{Text: "printed paragraph\n\nopen end"}).shows("printed paragraph", "open end")
	r.send(hermes.Reset{Reason: "connection lost"}).hides("open end")
	r.shows("The answer starts again: connection lost")
	r.send(hermes.TextDelta{Text: "right"}, answer("right"), hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "right"})
	if n := strings.Count(r.v.text(), "right"); n != 1 {
		t.Errorf("the answer appears %d times:\n%s", n, r.v.text())
	}
}

func TestLostDeltasAreReplacedFromTheStoredMessage(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.TextDelta{Text: "first half"}, answer("first half and second half"))
	r.send(hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "first half and second half"})
	if n := strings.Count(r.v.text(), "first half and second half"); n != 1 {
		t.Errorf("the answer appears %d times:\n%s", n, r.v.text())
	}
}

func TestInterruptedTextAppearsOnce(t *testing.T) {
	t.Parallel()
	events := []hermes.Event{
		hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.TextDelta{Text: "half of it"},
		answer("half of it\n\n[mark for the model]"), hermes.TurnDone{Outcome: hermes.OutcomeInterrupted, Text: "half of it"},
	}
	r := openRig(t, 80, 24)
	for _, e := range events {
		r.send(e)
	}
	r.hides("mark for the model").shows("interrupted")
	var out, notes strings.Builder
	play(NewPrinter(&out, &notes, Display{Plain: true}, 80, nil), events)
	for _, got := range []string{r.v.text(), out.String()} {
		if strings.Count(got, "half of it") != 1 {
			t.Errorf("got\n%s", got)
		}
	}
	if out.String() != "half of it\n" {
		t.Errorf("printed %q", out.String())
	}
}

func TestEndsOfTurns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		done hermes.TurnDone
		want string
	}{
		{hermes.TurnDone{Outcome: hermes.OutcomeFailed, Failure: hermes.FailureOf(errors.New("openrouter answered with status 401: no such key"))}, "status 401: no such key"},
		{hermes.TurnDone{Outcome: hermes.OutcomeInterrupted, Duration: 2 * time.Second}, "interrupted after 2.0 s"},
		{hermes.TurnDone{Outcome: hermes.OutcomeBudget, Text: "What was **done** so far.", Steps: 90, Duration: time.Hour}, "What was done so far."},
		{hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "not streamed", Steps: 1, Duration: time.Second, Usage: hermes.Usage{Input: 5}}, "not streamed\n\n1.0 s · 5 tokens"},
		{hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "The conversation is too short to be compressed."}, "too short to be compressed."},
	} {
		r := openRig(t, 80, 24)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, c.done)
		r.shows(c.want)
		r.hides("working")
		r.hides("0 ms")
	}
}

func approval() hermes.Asked {
	return hermes.Asked{ID: "q1", Approval: &hermes.ApprovalRequest{
		Tool: "terminal", Dir: "/work", Subject: "rm -rf build \u202e && " + strings.Repeat("echo word; ", 30) + "\x1b[2Jend",
		Risks:   []hermes.Risk{{Key: "rm", Reason: "recursive delete"}},
		Session: []hermes.GrantScope{hermes.ScopeKind, hermes.ScopeCall}, Always: []hermes.GrantScope{hermes.ScopeCall, hermes.ScopeKind},
		Stored: "~/.hermes/permissions.yaml",
	}}
}

func TestApprovalShowsTheWholeCommandAndHiddenCharacters(t *testing.T) {
	t.Parallel()
	r := openRig(t, 60, 20)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.shows("Run this command?", "<U+202E>", "␛[2Jend", "recursive delete", "in /work", "d deny")
	if got := strings.Count(strings.NewReplacer("\n", "", "▌   ", "").Replace(r.v.text()), "echo word;"); got != 30 {
		t.Errorf("%d of 30 words are shown:\n%s", got, r.v.text())
	}
}

func TestGreetingBreaksBetweenWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 10, Display{})
	r.m.greet([]string{"Hermes 1   /help shows the commands, Ctrl+C stops a turn"})
	r.draw()
	r.shows("Hermes 1 /help shows the", "commands, Ctrl+C stops a turn")
}

func TestApprovalAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys string
		want hermes.ApprovalAnswer
	}{
		{"<enter>", hermes.ApprovalAnswer{Decision: hermes.Deny}},
		{"<esc>", hermes.ApprovalAnswer{Decision: hermes.Deny}},
		{"o<enter>", hermes.ApprovalAnswer{Decision: hermes.AllowOnce}},
		{"y<enter>", hermes.ApprovalAnswer{Decision: hermes.AllowOnce}},
		{"YES<enter>", hermes.ApprovalAnswer{Decision: hermes.AllowOnce}},
		{"s<enter>", hermes.ApprovalAnswer{Decision: hermes.AllowSession, Scope: hermes.ScopeKind}},
		{"session<enter>", hermes.ApprovalAnswer{Decision: hermes.AllowSession, Scope: hermes.ScopeKind}},
		{"a<enter>", hermes.ApprovalAnswer{Decision: hermes.AllowAlways, Scope: hermes.ScopeCall}},
		{"k<enter>", hermes.ApprovalAnswer{Decision: hermes.AllowAlways, Scope: hermes.ScopeKind}},
		{"o<right><enter>", hermes.ApprovalAnswer{Decision: hermes.AllowSession, Scope: hermes.ScopeKind}},
		{"<right><enter>", hermes.ApprovalAnswer{Decision: hermes.AllowOnce}},
		{"<left><enter>", hermes.ApprovalAnswer{Decision: hermes.AllowAlways, Scope: hermes.ScopeKind}},
		{"n<enter>", hermes.ApprovalAnswer{Decision: hermes.Deny}},
		{"no<enter>", hermes.ApprovalAnswer{Decision: hermes.Deny}},
		{"od<enter>", hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: "od"}},
		{"s<backspace><enter>", hermes.ApprovalAnswer{Decision: hermes.Deny}},
	} {
		r := openRig(t, 80, 24)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
		r.wait(time.Second).keys(c.keys)
		r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: c.want}})
	}
}

// TestWordsAtAnApprovalDeny types what a user may shout: no letter of it
// selects an answer, and it becomes the reason that the model is told.
func TestWordsAtAnApprovalDeny(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"stop", "ok wait", "sudo is not needed", "always ask first", "session?", "a no", "o o", "y n", "on", "kein", "不要"} {
		r := openRig(t, 80, 24)
		r.keys("half a draft").send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
		r.wait(time.Second).keys(words)
		r.wantDo().shows("Enter to deny")
		r.keys("<enter>")
		r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: words}}})
		r.shows("denied: " + words)
		if got := r.m.input.Value(); got != "half a draft" {
			t.Errorf("%q: the draft became %q", words, got)
		}
	}
}

// TestPastedTextNeverAllows pastes a letter that would be a choice.
func TestPastedTextNeverAllows(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.wait(time.Second).send(pasteMsg("a")).wait(time.Second).keys("<enter>")
	r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: "a"}}})
	for keys, want := range map[string]hermes.ApprovalAnswer{
		"b<backspace><enter>":             {Decision: hermes.Deny, Reason: "a"}, // what was pasted stays no choice
		"<backspace>o<enter>":             {Decision: hermes.AllowOnce},
		"<backspace><left><enter>":        {Decision: hermes.AllowAlways, Scope: hermes.ScopeKind},
		"<backspace><left><right><enter>": {Decision: hermes.Deny},
	} {
		r := openRig(t, 80, 24)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
		r.wait(time.Second).send(pasteMsg("a")).keys(keys)
		r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: want}})
	}
	r = openRig(t, 80, 24)
	r.send(done(hermes.CommandDone{Line: "/new", Confirm: "Begin a new session?", ConfirmLine: "/new --yes"}))
	r.send(pasteMsg("y")).keys("<enter>").wantDo()
	r = openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
	r.wait(time.Second).keys("see ").send(approval(), pasteMsg("this")) // while the user is typing
	if got := r.m.input.Value(); got != "see this" {
		t.Errorf("the draft is %q", got)
	}
}

// TestArrowsInAReasonMoveTheCursor corrects a reason that is being typed.
func TestArrowsInAReasonMoveTheCursor(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.wait(time.Second).keys("stp<left>o<enter>")
	r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: "stop"}}})
}

// TestArrowsReplaceATypedChoice types a choice and then selects another one.
func TestArrowsReplaceATypedChoice(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.wait(time.Second).keys("s<left>d<enter>") // "sd" would be no choice
	r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}}})
}

// TestCtrlDAtAnApprovalKeepsAReason quits only if nothing is typed.
func TestCtrlDAtAnApprovalKeepsAReason(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.wait(time.Second).keys("use trash<ctrl+d>").wantDo()
	r.keys("<enter>").wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: "use trash"}}})
	r = openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.wait(time.Second).keys("<ctrl+d>").wantDo(quitDo{})
}

// TestCtrlCAtAYesOrNoKeepsTheDraft types an answer and then gives up the question.
func TestCtrlCAtAYesOrNoKeepsTheDraft(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys("half").send(done(hermes.CommandDone{Line: "/new", Confirm: "Begin a new session?", ConfirmLine: "/new --yes"}))
	r.keys("y<ctrl+c>").wantDo()
	if got := r.m.input.Value(); got != "half" {
		t.Errorf("the draft became %q", got)
	}
}

// TestUpAndEnterAtOnceAllowNothing presses what repeats the last message at a
// prompt of a shell.
func TestUpAndEnterAtOnceAllowNothing(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.wait(time.Second).keys("<up>").wait(100 * time.Millisecond).keys("<enter>")
	r.wantDo()
	r.wait(time.Second).keys("<enter>") // the user has seen what is selected
	r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.AllowAlways, Scope: hermes.ScopeKind}}})
}

// TestApprovalSaysWhatEachAnswerAllows looks at what is told about the selected
// answer: what it allows, for how long, where it is kept and how it ends.
func TestApprovalSaysWhatEachAnswerAllows(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string][]string{
		"o": {"Runs this once."},
		"s": {"Until this session ends", "every call of terminal with this risk", "recursive delete", "in any folder"},
		"a": {"For good", "this command in /work", "~/.hermes/permissions.yaml", "hermes permissions revoke"},
		"k": {"For good", "every call of terminal with this risk", "recursive delete", "in any folder", "~/.hermes/permissions.yaml", "hermes permissions revoke"},
		"d": {"Type a reason"},
		"":  {"Type a reason"},
	} {
		r := openRig(t, 100, 30)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
		r.wait(time.Second).keys(keys).shows(want...)
	}
	r := openRig(t, 100, 30)
	edit := approval()
	edit.Approval.Tool, edit.Approval.Dir, edit.Approval.Subject, edit.Approval.Detail = "patch", "", "/work/.bashrc", "alias ls=\u202erm"
	edit.Approval.Stored = "/h\u202eome/permissions.yaml"
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, edit)
	r.wait(time.Second).keys("a").shows("Edit this file?", "alias ls=<U+202E>rm", "any change of this file", "/h<U+202E>ome/permissions.yaml")
	r = openRig(t, 100, 30)
	e := approval()
	e.Approval.Always, e.Approval.Stored = nil, ""
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, e)
	r.hides("always").wait(time.Second).keys("a<enter>")
	r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: "a"}}})
}

// TestYesAndNoNeedEnter types at a question of the chat itself.
func TestYesAndNoNeedEnter(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]bool{
		"y<enter>": true, "yes<enter>": true, "<left><enter>": true, "<left><right><enter>": false,
		"y": false, "<enter>": false, "n<enter>": false, "stay<enter>": false, "yikes<enter>": false, "<esc>": false, "y<esc>": false,
	} {
		r := openRig(t, 80, 24)
		r.send(done(hermes.CommandDone{Line: "/new", Confirm: "Begin a new session?", ConfirmLine: "/new --yes"}))
		r.keys(keys)
		if want {
			r.wantDo(commandDo{"/new --yes"})
		} else {
			r.wantDo()
		}
	}
	r := openRig(t, 80, 24)
	r.send(done(hermes.CommandDone{Line: "/undo", Confirm: "Undo?", ConfirmLine: "/undo --yes"}))
	r.keys("yet another thing<enter>")
	if r.wantDo(); r.m.input.Value() != "yet another thing" {
		t.Errorf("what was typed became %q", r.m.input.Value())
	}
}

func TestKeysWhileTypingDoNotAnswer(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
	r.wait(time.Second).keys("th").send(approval())
	for _, k := range []string{"a", "t", " ", "o"} {
		r.wait(100 * time.Millisecond).keys(k)
	}
	r.wantDo()
	if got := r.m.input.Value(); got != "that o" {
		t.Errorf("the input holds %q", got)
	}
	if got := r.m.ask().options[r.m.ask().at].answer.Decision; got != hermes.Deny {
		t.Errorf("the highlighted answer is %q", got)
	}
	r.wait(time.Second).keys("<right>").shows("Letter or arrow to choose, Enter to confirm, Esc to deny")
	r.hides("that o").keys("<esc>").shows("that o") // the draft is frozen until the answer
}

func TestCtrlCDeniesAndStops(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval())
	r.keys("<ctrl+c>")
	r.wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}}}, submitDo{op: hermes.Stop{}})
	r.hides("d deny")
}

func TestClarify(t *testing.T) {
	t.Parallel()
	question := func(multiple bool, choices ...string) hermes.Asked {
		return hermes.Asked{ID: "q", Question: &hermes.Question{Text: "Which *one*?", Choices: choices, Multiple: multiple}}
	}
	for _, c := range []struct {
		asked hermes.Asked
		keys  string
		want  []string
	}{
		{question(false, "red", "green"), "<enter>", []string{"red"}},
		{question(false, "red", "green"), "<down><enter>", []string{"green"}},
		{question(false, "red", "green"), "2", []string{"green"}},
		{question(false, "red", "green"), "3blue<enter>", []string{"blue"}},
		{question(false, "red", "green"), "none of it<enter>", []string{"none of it"}},
		{question(false, "red", "green"), "x<esc>1", []string{"red"}},
		{question(true, "red", "green", "blue"), "1<down><down><space><enter>", []string{"red", "blue"}},
		{question(false), "free words<enter>", []string{"free words"}},
	} {
		r := openRig(t, 80, 24)
		r.keys("draft")
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, c.asked)
		r.wait(time.Second).shows("Which one?")
		r.keys(c.keys)
		r.wantDo(submitDo{op: hermes.Reply{ID: "q", Answer: hermes.Answer{Texts: c.want}}})
		if got := r.m.input.Value(); got != "draft" {
			t.Errorf("%q: the draft became %q", c.keys, got)
		}
	}
}

func TestMessageWithAttachmentsNoLongerWaits(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys("see @file:gone<enter>")
	expanded := hermes.UserText("see @file:gone")
	expanded.Parts = append(expanded.Parts, hermes.Part{Text: "[Not attached: @file:gone]"})
	r.send(hermes.TurnStarted{Turn: 1, Message: expanded}).hides("next: see")
}

func TestQuestionIsSkipped(t *testing.T) {
	t.Parallel()
	for _, choices := range [][]string{{"red", "green"}, nil} {
		r := openRig(t, 80, 24)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.Asked{ID: "q", Question: &hermes.Question{Text: "Which?", Choices: choices, Number: 2, Of: 3}})
		r.shows("Question 2 of 3", "Which?", "Esc to skip")
		r.keys("<esc>").wantDo() // a question that has just appeared is not skipped
		r.wait(time.Second).keys("<esc>").wantDo(submitDo{op: hermes.Reply{ID: "q", Answer: hermes.Answer{Dismissed: true}}})
		r.shows("skipped").hides("Esc to skip")
	}
}

func TestCtrlDQuitsAtAQuestion(t *testing.T) {
	t.Parallel()
	for _, choices := range [][]string{{"red", "green"}, nil} {
		r := openRig(t, 80, 24)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.Asked{ID: "q", Question: &hermes.Question{Text: "Which?", Choices: choices}})
		r.wait(time.Second).keys("<ctrl+d>").wantDo(quitDo{})
		r.keys("<ctrl+c>").wantDo(submitDo{op: hermes.Stop{}})
		r.keys("<ctrl+c>").wantDo(quitDo{})
	}
}

func TestSessionThatWaitsForAnAnswerAsksAgain(t *testing.T) {
	t.Parallel()
	waits := openedMsg{id: "x", resumed: true, state: protocol.Snapshot{Cut: true, Parked: true}, last: []hermes.Message{hermes.UserText("go")}}
	r := newRig(t, 80, 24, Display{})
	r.send(waits).shows("Waiting for your answer.").hides("/continue").wantDo(submitDo{op: hermes.Continue{}})
	r.send(hermes.CallStarted{Call: hermes.ToolCall{ID: "1", Name: "clarify"}}).shows("Ctrl+C to stop")
	r.keys("<ctrl+c>").wantDo(submitDo{op: hermes.Stop{}})

	r = newRig(t, 80, 24, Display{})
	r.keys("something else<enter>").wantDo()
	r.send(waits).wantDo(say("something else"))
}

func TestSecretAnswerIsNeverShown(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.Asked{ID: "q", Question: &hermes.Question{Text: "Password?", Secret: true}})
	r.wait(time.Second).keys("hunter2").hides("hunter2")
	r.keys("<enter>").hides("hunter2")
	r.wantDo(submitDo{op: hermes.Reply{ID: "q", Answer: hermes.Answer{Texts: []string{"hunter2"}}}})
	r.keys("<up>")
	if got := r.m.input.Value(); got != "" {
		t.Errorf("the history holds %q", got)
	}
	if kept, err := os.ReadFile(r.o.History); err == nil {
		t.Errorf("the file of the history holds %q", kept)
	}
}

// TestQueuedTextSurvivesCtrlCAtAnApproval has a draft, a queued message and a
// reason that is being typed: the first two come back.
func TestQueuedTextSurvivesCtrlCAtAnApproval(t *testing.T) {
	t.Parallel()
	for _, draft := range []string{"", "half"} {
		r := openRig(t, 80, 24)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
		r.keys("second<enter>").shows("next: second")
		r.keys(draft).send(approval()).wait(time.Second).keys("n<backspace><ctrl+c>")
		if got := r.m.input.Value(); !strings.Contains(got, "second") || !strings.Contains(got, draft) {
			t.Errorf("draft %q: the input holds %q", draft, got)
		}
	}
}

// TestEnterForAQuestionThatIsGoneSendsNothing has a question time out just before
// its answer is confirmed.
func TestEnterForAQuestionThatIsGoneSendsNothing(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
	r.keys("half a message").send(approval()).wait(time.Second).keys("n").send(hermes.AnswerTaken{ID: "q1"})
	r.wants()
	r.wait(100 * time.Millisecond).keys("<enter>").wantDo()
	if got := r.m.input.Value(); got != "half a message" {
		t.Errorf("the input holds %q", got)
	}
	r.wait(time.Second).keys("<enter>").wantDo(say("half a message"))
}

func TestQuestionClosesWhenItsAnswerIsTaken(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval(), hermes.AnswerTaken{ID: "q1"})
	r.hides("d deny")
	r.keys("hi<enter>").wantDo(say("hi"))
}

func TestSlashCommands(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys("/help<enter>").wantDo(commandDo{line: "/help"})
	r.send(done(hermes.CommandDone{Line: "/help", Text: "**Session**\n\n- `/new` begin"})).shows("› /help", "• /new begin")
	r.wants()
	r.send(done(hermes.CommandDone{Line: "/new", Confirm: "Start a new session?", ConfirmLine: "/new --yes"})).shows("Start a new session?", "y yes")
	r.keys("<enter>").wantDo()
	r.send(done(hermes.CommandDone{Line: "/new", Confirm: "Start a new session?", ConfirmLine: "/new --yes"})).keys("y<enter>")
	r.wantDo(commandDo{"/new --yes"})
	r.send(done(hermes.CommandDone{Action: hermes.ActionNew, Arg: "plan"})).wantDo(openDo{want{title: "plan"}})
	r.send(openedMsg{id: "y"}, done(hermes.CommandDone{Action: hermes.ActionSwitch, Arg: "z"})).wantDo(openDo{want{resume: "z"}})
	r.send(done(hermes.CommandDone{Action: hermes.ActionQuit})).wantDo(quitDo{})
	r.send(done(hermes.CommandDone{Line: "/x", Failure: hermes.FailureOf(errors.New("unknown command /x"))})).shows("unknown command /x")
	r.keys("/etc/hosts is wrong<enter>").wantDo(say("/etc/hosts is wrong"))
}

func TestCommandMenu(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 30)
	r.keys("/st").shows("/status", "/steer PROMPT", "/stop")
	r.keys("<esc>").hides("/steer PROMPT")
	r.keys("o").shows("/stop").keys("<tab>")
	if got := r.m.input.Value(); got != "/stop " {
		t.Errorf("Tab made %q", got)
	}
	r.keys("<ctrl+u>/st<down><down><enter>").wantDo(commandDo{line: "/stop"})
	r.keys("/st<down><enter>").wantDo()
	if got := r.m.input.Value(); got != "/steer " {
		t.Errorf("Enter on a command that needs words made %q", got)
	}
}

func TestPathCompletion(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 30)
	for _, name := range []string{"source/main.go", "source/main_test.go", "readme.md", ".hidden"} {
		path := filepath.Join(r.o.Start.Run.Workspace.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.keys("see re<tab>")
	if got := r.m.input.Value(); got != "see readme.md " {
		t.Errorf("a single fit made %q", got)
	}
	r.keys("@so<tab>").shows("main.go", "main_test.go").keys("<esc>m<tab>")
	if got, want := r.m.input.Value(), "see readme.md @source"+string(filepath.Separator)+"main"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.keys("<down><tab>")
	if got := r.m.input.Value(); !strings.HasSuffix(got, "main_test.go ") {
		t.Errorf("the menu gave %q", got)
	}
	r.keys("zzz<tab>").shows("No match").hides(".hidden")
}

// TestPathCompletionElsewhere takes no name of this machine, and drops names that come too late.
func TestPathCompletionElsewhere(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 30)
	if err := os.WriteFile(filepath.Join(r.o.Start.Run.Workspace.Dir, "source.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r.m.input.Elsewhere = func() bool { return true }
	r.wants()
	r.keys("see @so<tab>").hides("source.go").wantDo(namesDo{"@so"})
	r.send(namesMsg{"@so", []string{"source/", "sober.txt"}}).shows("source/", "sober.txt").keys("<esc>u<tab>").wantDo(namesDo{"@sou"})
	r.send(namesMsg{"@sou", []string{"source/"}}).wantDo()
	if got := r.m.input.Value(); got != "see @source/" {
		t.Errorf("a single fit made %q", got)
	}
	r.keys("<tab>x").send(namesMsg{"@source/", []string{"source/main.go"}})
	if got := r.m.input.Value(); got != "see @source/x" {
		t.Errorf("names that came too late made %q", got)
	}
	r.send(namesMsg{"@source/x", nil}).shows("No match")
}

func TestHistoryGoesBackForthAndSearches(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys("first thing<enter>second thing<enter>two<alt+enter>rows<enter>dra")
	r.wants()
	for _, step := range []struct{ keys, want string }{
		{"<up>", "two\nrows"}, {"<up>", "two\nrows"}, {"<up>", "second thing"}, {"<up>", "first thing"}, {"<up>", "first thing"},
		{"<down>", "second thing"}, {"<down>", "two\nrows"}, {"<down>", "dra"}, {"<down>", "dra"},
		{"<ctrl+r>first<enter>", "first thing"}, {"<ctrl+u><ctrl+r>thing<ctrl+r><enter>", "first thing"},
		{"<ctrl+r>nothing like it<enter>", "first thing"}, {"<ctrl+r>x<esc>", "first thing"},
	} {
		r.keys(step.keys)
		if got := r.m.input.Value(); got != step.want {
			t.Errorf("%s: %q, want %q", step.keys, got, step.want)
		}
	}
	again := input.New("", r.o.History, nil) // another chat
	for _, want := range []string{"two\nrows", "second thing", "first thing", "first thing"} {
		again.Press(input.Key{Name: "ctrl+home"}, 80)
		again.Press(input.Key{Name: "up"}, 80)
		if got := again.Value(); got != want {
			t.Errorf("the file holds %q, want %q", got, want)
		}
	}
}

func TestQueuedMessagesAreShownUntilTheyBegin(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("one")})
	r.keys("two<enter>").shows("next: two")
	r.send(hermes.TurnDone{Outcome: hermes.OutcomeDone}, hermes.TurnStarted{Turn: 2, Message: hermes.UserText("two")}).hides("next: two")
	r.shows("› two")
	r.keys("three<enter>").send(hermes.Steered{Text: "three"}).hides("next: three")
	r.shows("↳ three")
	r.keys("/queue five<enter>").shows("next: five").send(hermes.Queued{Messages: make([]hermes.QueuedMessage, 3)}).shows("2 queued")
	r.send(hermes.Queued{}).hides("next: five", "queued")
	r.wait(time.Second).keys("four<enter>").send(submittedMsg{op: say("four").op, err: errors.New("100 messages are waiting already")})
	r.shows("100 messages are waiting already", "› four") // the text comes back
}

// A terminal without bracketed paste sends each line as if it were typed.
func TestRefusedLinesOfAPasteAreNotListedAsWaiting(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	refused := errors.New("100 messages are waiting already")
	for i := range 300 {
		line := fmt.Sprintf("line %d", i)
		r.keys(line + "<enter>")
		if i >= 100 {
			r.send(submittedMsg{op: say(line).op, err: refused})
		}
	}
	if n := len(r.m.conv.waiting); n != 100 {
		t.Errorf("%d texts are listed as waiting, want 100", n)
	}
	if n := strings.Count(r.v.text(), refused.Error()); n != 1 {
		t.Errorf("the refusal appears %d times", n)
	}
	if !r.m.input.Empty() {
		t.Errorf("%q is in the prompt, between the pasted lines", r.m.input.Value())
	}
	r.send(done(hermes.CommandDone{Line: "/stop"})).hides("line 0", "more")
}

func TestTextsGoBackToTheInputWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	c := &chat{model: r.m, attached: attached{session: &link{id: "x"}}, background: &background{ops: make(chan func(context.Context))}} // a full queue
	r.keys("hello<enter>")
	c.doAll(r.wants())
	r.draw()
	r.shows("the session is not responding; press Ctrl+C twice to quit", "› hello")
	if len(r.m.conv.waiting) != 0 {
		t.Errorf("still listed: %v", r.m.conv.texts())
	}
}

func TestResumedSessionShowsWhereItStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, Display{})
	r.send(openedMsg{id: "x", resumed: true, state: protocol.Snapshot{Session: protocol.SessionInfo{ID: "x", Title: "The bug", Messages: 4}, Cut: true}, last: []hermes.Message{
		hermes.UserText("question"), {Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "**answer**"}}},
	}})
	r.shows("Resumed: The bug, 4 messages", "› question", "answer", "/continue")
}

func TestCallsShown(t *testing.T) {
	t.Parallel()
	for shown, want := range map[CallsShown]int{CallsOff: 0, CallsNew: 2, CallsAll: 3, "": 3, CallsVerbose: 3} {
		r := newRig(t, 80, 24, Display{Calls: shown})
		for i, name := range []string{"read_file", "read_file", "terminal"} {
			r.send(hermes.CallDone{Call: call(fmt.Sprint(i), name), Preview: "x"})
		}
		if got := strings.Count(r.v.text(), "┊"); got != want {
			t.Errorf("%q shows %d calls, want %d", shown, got, want)
		}
	}
}

func TestFailuresSayWhatFailed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"error":"no such file: x\nTry search_files."}`: "no such file: x",
		`{"output":"","exit_code":2}`:                    "exit 2",
		`{"output":"","exit_code":0}`:                    "failed",
		"no JSON":                                        "failed",
		`{"error":null}`:                                 "failed",
	} {
		if got := whatFailed(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestNoColorHasNoColours(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]Display{"no color": {NoColor: true, Reasoning: true, Summary: true}, "plain": {Plain: true, Reasoning: true}} {
		tl := newRenderer(d, 80, time.Now)
		for _, e := range []hermes.Event{
			hermes.TurnStarted{Message: hermes.UserText("x")}, hermes.ReasoningDelta{Text: "hm"}, hermes.TextDelta{Text: "`code` **bold**\n\n```go\nfunc x()\n```\n"},
			hermes.CallDone{Call: call("1", "t"), Failed: true, Shown: "--- a\n+++ b\n-x\n+y"}, hermes.Notice{Level: hermes.NoticeWarning, Text: "careful"},
			hermes.TurnDone{Outcome: hermes.OutcomeFailed, Failure: hermes.FailureOf(errors.New("bad"))},
		} {
			tl.event(e)
		}
		out := strings.Join(tl.take(), "\n")
		if strings.Contains(out, "[3") && !d.Plain && hasColour(out) || d.Plain && strings.Contains(out, "\x1b") {
			t.Errorf("%s: %q", name, out)
		}
	}
}

func hasColour(out string) bool {
	for part := range strings.SplitSeq(out, "\x1b[") {
		codes, _, _ := strings.Cut(part, "m")
		for code := range strings.SplitSeq(codes, ";") {
			if len(code) == 2 && (code[0] == '3' || code[0] == '9') {
				return true
			}
		}
	}
	return false
}

func TestNarrowAndLowTerminals(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{20, 6}, {30, 10}, {12, 5}, {200, 60}} {
		r := openRig(t, size[0], size[1])
		work(r)
		r.send(approval())
		r.wait(time.Second).keys("<enter>")
		r.keys("/st").keys("<ctrl+u>").send(pasteMsg("汉字汉字汉字汉字汉字汉字\n\n\nlast"))
		r.keys("<up><up><left><down>")
		r.v.resize(size[0]*2, size[1])
		if err := r.s.resize(size[0] * 2); err != nil {
			t.Fatal(err)
		}
		r.send(sizeMsg{size[0] * 2, size[1]})
	}
}

// BenchmarkStream20000 is an answer in 20,000 pieces, drawn thirty times a
// second as if it took ten seconds.
func BenchmarkStream20000(b *testing.B) {
	src, err := os.ReadFile(filepath.Join("..", "markup", "testdata", "tour.md"))
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(src), 80)
	piece := len(text)/20000 + 1
	for b.Loop() {
		m := newModel(Options{Now: time.Now}, 80, 40)
		s := &screen{w: io.Discard, width: 80}
		m.update(openedMsg{id: "x"})
		seen := catchup{emit: func(e protocol.Envelope) { m.update(eventMsg{e}) }}
		happened := func(e hermes.Event) { seen.take(protocol.Update{Envelope: &protocol.Envelope{Event: e}}) }
		happened(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
		i := 0
		for rest := text; rest != ""; i++ {
			n := min(piece, len(rest))
			happened(hermes.TextDelta{Text: rest[:n]})
			rest = rest[n:]
			if i%66 == 0 {
				if err := s.draw(m.renderer.take(), m.view()); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
