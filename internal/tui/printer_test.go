package tui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
)

// oneTurn is a turn with a call between two texts.
func oneTurn() []hermes.Event {
	return []hermes.Event{
		hermes.TurnStarted{Turn: 1, Message: hermes.UserText("question")},
		hermes.ReasoningDelta{Text: "thinking"},
		hermes.TextDelta{Text: "I **look"}, hermes.TextDelta{Text: "**.\n"}, answer("I **look**.\n"),
		hermes.CallStarted{Call: call("1", "read_file"), Preview: "a.go"},
		hermes.CallDone{Call: call("1", "read_file"), Preview: "a.go", Duration: time.Millisecond},
		hermes.TextDelta{Text: "It is `x`."}, answer("It is `x`."),
		hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "It is `x`.", Steps: 2, Duration: time.Second},
	}
}

func play(p Printer, events []hermes.Event) {
	for _, e := range events {
		p.Event(e)
	}
}

func TestPrinters(t *testing.T) {
	t.Parallel()
	var out, notes bytes.Buffer
	play(NewPrinter(&out, &notes, Display{Plain: true}, 80, time.Now), oneTurn())
	if got, want := out.String(), "I **look**.\n\nIt is `x`.\n"; got != want {
		t.Errorf("not on a terminal: %q, want %q", got, want)
	}
	if got, want := notes.String(), "┊ read_file  a.go  1 ms\n"; got != want {
		t.Errorf("notes: %q, want %q", got, want)
	}

	out.Reset()
	play(NewPrinter(&out, &notes, Display{NoColor: true}, 80, time.Now), oneTurn())
	want := "I \x1b[1mlook\x1b[0m.\n\n\x1b[2m┊\x1b[0m read_file  \x1b[2ma.go\x1b[0m  \x1b[2m1 ms\x1b[0m\n\nIt is x.\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("on a terminal (-want +got):\n%s", diff)
	}

	out.Reset()
	play(NewFinalPrinter(&out, false), oneTurn())
	if got, want := out.String(), "It is `x`.\n"; got != want {
		t.Errorf("final: %q, want %q", got, want)
	}
}

func TestPrintersOfOtherEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events     []hermes.Event
		out, notes string
		final      string
	}{
		"failure":      {[]hermes.Event{hermes.TextDelta{Text: "half"}, hermes.TurnDone{Outcome: hermes.OutcomeFailed, Failure: hermes.FailureOf(errors.New("no such key"))}}, "half\n", "", ""},
		"not streamed": {[]hermes.Event{answer("whole"), hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "whole"}}, "whole\n", "", "whole\n"},
		"budget":       {[]hermes.Event{answer("step"), hermes.TurnDone{Outcome: hermes.OutcomeBudget, Text: "summary"}}, "step\nsummary\n", "", "summary\n"},
		"reset": {[]hermes.Event{hermes.TextDelta{Text: "wrong"}, hermes.Reset{Reason: "lost"}, hermes.TextDelta{Text: "right"}, answer("right"), hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "right"}},
			"wrong\n\nright\n", "The answer starts again: lost\n", "right\n"},
		"compacted": {[]hermes.Event{hermes.TextDelta{Text: "I look."}, answer("I look."), hermes.Compacted{Note: "It was compacted."}, hermes.TextDelta{Text: "Done."}, answer("Done."), hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "Done."}},
			"I look.\n\nDone.\n", "It was compacted.\n", "Done.\n"},
		"compacted on demand": {[]hermes.Event{hermes.Compacted{Note: "It was compacted."}, hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "It was compacted."}},
			"", "It was compacted.\n", "It was compacted.\n"},
		"notice": {[]hermes.Event{hermes.Notice{Level: hermes.NoticeWarning, Text: "careful"}, answer("x"), hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "x"}}, "x\n", "careful\n", "x\n"},
	} {
		var out, notes, final bytes.Buffer
		play(NewPrinter(&out, &notes, Display{Plain: true}, 80, time.Now), c.events)
		play(NewFinalPrinter(&final, false), c.events)
		if out.String() != c.out || notes.String() != c.notes || final.String() != c.final {
			t.Errorf("%s: %q, %q, %q; want %q, %q, %q", name, out.String(), notes.String(), final.String(), c.out, c.notes, c.final)
		}
	}
}

func TestAskReturnsTheEndOfTheTurn(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) { f.reply(text, "hello") })
	var out bytes.Buffer
	done, err := Ask(t.Context(), clientOf(f), "s", hermes.From{}, []hermes.Part{{Text: "hi"}}, NewFinalPrinter(&out, false))
	if err != nil || done.Text != "hello" || out.String() != "hello\n" {
		t.Errorf("%+v, %v, %q", done, err, out.String())
	}
}

func TestAskInterruptsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(func(f *fakeSession, text string) {
		f.emit(hermes.TurnStarted{Turn: 1})
		cancel()
		<-f.stopped
		f.emit(hermes.TurnDone{Outcome: hermes.OutcomeInterrupted})
	})
	done, err := Ask(ctx, clientOf(f), "s", hermes.From{}, []hermes.Part{{Text: "hi"}}, NewFinalPrinter(&bytes.Buffer{}, false))
	if err != nil || done.Outcome != hermes.OutcomeInterrupted {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestAskEndsWhileItsTurnIsPrepared(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newFake(nil)
	s.prepares = cancel
	if _, err := Ask(ctx, clientOf(s), "s", hermes.From{}, []hermes.Part{{Text: "hi"}}, NewFinalPrinter(&bytes.Buffer{}, false)); !errors.Is(err, hermes.ErrInterrupted) {
		t.Errorf("err = %v", err)
	}
}

// brokenPipe fails every write.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestAskStopsWhenOutputIsClosed(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) {
		f.emit(hermes.TextDelta{Text: "hello\n"})
		<-f.stopped
		f.emit(hermes.TurnDone{Outcome: hermes.OutcomeInterrupted})
	})
	_, err := Ask(t.Context(), clientOf(f), "s", hermes.From{}, []hermes.Part{{Text: "hi"}}, NewPrinter(brokenPipe{}, &bytes.Buffer{}, Display{Plain: true}, 80, time.Now))
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// lineChat runs the chat line by line with an input.
func lineChat(t *testing.T, f *fakeSession, input, wantID string) string {
	t.Helper()
	return lineChatWith(t, f, command.Call{}, input, wantID)
}

func lineChatWith(t *testing.T, f *fakeSession, commands command.Call, input, wantID string) string {
	t.Helper()
	in, err := os.CreateTemp(t.TempDir(), "in")
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.WriteString(input); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	client := clientOf(f)
	client.commands = commands
	id, err := Run(t.Context(), Options{In: in, Out: out, Client: client, From: me, Greeting: []string{"Hermes"}})
	if err != nil || id != wantID || !f.closed {
		t.Errorf("id %q, error %v, closed %v", id, err, f.closed)
	}
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestChatLineByLine(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) {
		if text == "may I" {
			f.emit(hermes.Asked{ID: "q", Approval: &hermes.ApprovalRequest{Tool: "terminal", Subject: "rm \x1b[2Jx"}})
			r := <-f.replies
			text += " " + string(r.Approval.Decision)
		}
		f.reply(text, "You said: "+text)
	})
	got := lineChat(t, f, "hello\n\ntwo\\\nrows\n/hlep\nmay I\no\nmay I\n\n/title\nlast", f.ID())
	for _, want := range []string{
		"Hermes\n> ", "You said: hello\n", "You said: two\nrows\n", "did you mean /help?", "Run this command?", "rm ␛[2Jx", "Allow? [o/D]: ", "You said: may I once", "You said: may I denied", "no title yet", "You said: last\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("a sequence was written:\n%q", got)
	}
}

// TestEndOfInputIsNoRefusal ends the input at an approval: no user has refused, so it
// stays open.
func TestEndOfInputIsNoRefusal(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) {
		f.emit(hermes.TurnStarted{Turn: 1}, hermes.Asked{ID: "q", Approval: &hermes.ApprovalRequest{Tool: "terminal", Subject: "rm x"}})
		select {
		case <-f.stopped:
		case <-f.replies:
			t.Error("the approval was answered")
		}
		f.emit(hermes.TurnDone{Outcome: hermes.OutcomeInterrupted})
	})
	lineChat(t, f, "may I\n", f.ID())
}

// TestApprovalLineByLine says what each answer allows. Text that is no choice denies,
// and the model is told.
func TestApprovalLineByLine(t *testing.T) {
	t.Parallel()
	var replies []hermes.ApprovalAnswer
	f := newFake(func(f *fakeSession, text string) {
		f.emit(hermes.TurnStarted{Turn: 1}, approval())
		replies = append(replies, (<-f.replies).Approval)
		f.reply(text, "done")
	})
	got := lineChat(t, f, "go\nuse git clean -n\ngo\n s \ngo\nKIND\n", f.ID())
	want := []hermes.ApprovalAnswer{
		{Decision: hermes.Deny, Reason: "use git clean -n"},
		{Decision: hermes.AllowSession, Scope: hermes.ScopeKind},
		{Decision: hermes.AllowAlways, Scope: hermes.ScopeKind},
	}
	if !slices.Equal(replies, want) {
		t.Errorf("got %+v, want %+v", replies, want)
	}
	for _, text := range []string{"this command in /work", "every call of terminal with this risk", "Kept in ~/.hermes/permissions.yaml"} {
		if !strings.Contains(got, text) {
			t.Errorf("%q is missing in\n%s", text, got)
		}
	}
}

// TestOnlyYesConfirmsLineByLine asks before an exchange is undone.
func TestOnlyYesConfirmsLineByLine(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"y": true, "Yes": true, "n": false, "": false, "stop": false, "yikes": false} {
		f := newFake(nil)
		f.transcript = []hermes.Message{hermes.UserText("hello")}
		lineChat(t, f, "/undo\n"+answer+"\n", "")
		if got := slices.ContainsFunc(f.did(), func(op hermes.Op) bool { _, ok := op.(hermes.Undo); return ok }); got != want {
			t.Errorf("%q: undone %v", answer, got)
		}
	}
}

func TestChatLineByLineQuits(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) { f.reply(text, text) })
	if got := lineChat(t, f, "/quit\nnever said\n", ""); strings.Contains(got, "never said") {
		t.Errorf("went on after /quit:\n%s", got)
	}
	for _, op := range f.did() {
		if _, ok := op.(hermes.Say); ok {
			t.Errorf("said %v", op)
		}
	}
}

func TestWrapKeeping(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want string
	}{
		{"", ""},
		{"short", "short"},
		{"find out why, fix", "find out|why, fix"},
		{"0123456789abcdef", "0123456789|abcdef"},
		{"  keep   in", "  keep|in"},
		{"汉字汉字汉字汉字", "汉字汉字汉|字汉字"},
		{"0123456789 next", "0123456789|next"},
	} {
		if got := strings.Join(wrapKeeping(c.line, 10), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestFinalTextDoesNotSteerATerminal: the text is as the model wrote it, but not for a terminal.
func TestFinalTextDoesNotSteerATerminal(t *testing.T) {
	const text = "A\x1b]0;title\x07\x1b[31mB\r\n"
	for terminal, want := range map[bool]string{true: markup.Visible(text), false: text} {
		var out bytes.Buffer
		NewFinalPrinter(&out, terminal).Event(hermes.TurnDone{Text: text})
		if out.String() != want || terminal && strings.Contains(want, "\x1b") {
			t.Errorf("terminal %v: %q, want %q", terminal, out.String(), want)
		}
	}
}
