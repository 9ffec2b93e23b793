package tui

import (
	"strings"
	"testing"
	"time"

	"hermes"
)

// TestTheChatShowsThatTheConversationWasCompacted: in a turn, on demand and while no
// turn runs, in both kinds of chat, once.
func TestTheChatShowsThatTheConversationWasCompacted(t *testing.T) {
	t.Parallel()
	const note = "The conversation was compacted: about 9 tokens became 1."
	compacted, done := hermes.Compacted{Note: note}, hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: note}
	for name, events := range map[string][]any{
		"in a turn": {hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go on")}, hermes.TextDelta{Text: "I look."}, compacted, hermes.TextDelta{Text: "Found."},
			hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "Found.", Duration: time.Second}},
		"on demand": {hermes.Notice{Level: hermes.NoticeInfo, Text: "Compressing the conversation."}, compacted, done},
		"twice":     {compacted, done, hermes.Compacted{}},
		"idle":      {compacted},
	} {
		r := openRig(t, 80, 24)
		r.send(events...)
		if got := strings.Count(r.v.text(), note); got != 1 {
			t.Errorf("%s: shown %d times:\n%s", name, got, r.v.text())
		}
	}
}

func TestThePlainChatShowsThatTheConversationWasCompacted(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) {
		f.emit(hermes.TurnStarted{Turn: 1, Message: hermes.UserText(text)})
		f.emit(hermes.Compacted{Note: "The conversation was compacted."})
		f.emit(hermes.TextDelta{Text: "hello"})
		f.emit(hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "hello"})
	})
	if out := lineChat(t, f, "hi\n", f.ID()); strings.Count(out, "The conversation was compacted.\n") != 1 {
		t.Errorf("got %q", out)
	}
}
