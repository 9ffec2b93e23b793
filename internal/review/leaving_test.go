package review_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/review"
)

// TestWhatACompactionRemovesIsReviewed has the hook see messages that the transcript of
// the next review no longer has.
func TestWhatACompactionRemovesIsReviewed(t *testing.T) {
	t.Parallel()
	attended := func(turn int64) hermes.SessionRef {
		s := ref(turn)
		s.Attended = true
		return s
	}
	leaving := []hermes.Message{hermes.UserText("my flat is in Bern")}
	leaving[0].Turn = 2
	for name, tt := range map[string]struct {
		at   hermes.SessionRef // when they leave
		turn int64             // of the review
		want bool
	}{
		"a few turns later": {attended(3), 4, true},
		"too soon":          {attended(2), 2, false},
		"unattended":        {ref(3), 4, false},
	} {
		m := hermestest.NewScript(hermestest.Say("nothing to keep")).Forever()
		r := configured(m, newQueue(), review.Pace{Turns: 100, Steps: 100, Flush: 3})
		r.Hook().BeforeCompaction(t.Context(), tt.at, leaving)
		now := review.Conversation{Session: attended(tt.turn), Transcript: work(tt.turn, "")}
		if due := r.Due(t.Context(), now); due != tt.want {
			t.Errorf("%s: due %v", name, due)
		}
		if _, err := r.Review(t.Context(), now, false); err != nil {
			t.Fatal(err)
		}
		if !tt.want {
			if len(m.Requests()) > 0 {
				t.Errorf("%s: it was reviewed", name)
			}
			continue
		}
		if text := m.Requests()[0].Messages[0].Text(); !strings.Contains(text, "my flat is in Bern") {
			t.Errorf("%s: the review read %q", name, text)
		}
		if now.Session.Turn += 3; r.Due(t.Context(), now) {
			t.Errorf("%s: it is due again", name)
		}
	}
}

// TestReviewedMessagesMayLeave compacts what a review has read.
func TestReviewedMessagesMayLeave(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("nothing to keep")).Forever()
	r := configured(m, newQueue(), review.Pace{Turns: 100, Steps: 100, Flush: 1})
	c := chat(5, "")
	c.Session.Attended = true
	if _, err := r.Review(t.Context(), c, true); err != nil {
		t.Fatal(err)
	}
	r.Hook().BeforeCompaction(t.Context(), c.Session, c.Transcript)
	if c.Session.Turn += 3; r.Due(t.Context(), c) {
		t.Error("a review is due of what was reviewed")
	}
}

// TestWhatLeftIsBounded lets more leave than is kept, the oldest first.
func TestWhatLeftIsBounded(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("nothing to keep"))
	r := configured(m, newQueue(), review.Pace{Turns: 100, Steps: 100, Flush: 1})
	s := ref(1)
	s.Attended = true
	for i := range 500 {
		leaving := hermes.UserText(fmt.Sprintf("message %d. ", i) + strings.Repeat("word ", 100))
		leaving.Turn = 1
		r.Hook().BeforeCompaction(t.Context(), s, []hermes.Message{leaving})
	}
	if _, err := r.Review(t.Context(), review.Conversation{Session: s}, true); err != nil {
		t.Fatal(err)
	}
	text := m.Requests()[0].Messages[0].Text()
	if len(text) > 50_000 || !strings.Contains(text, "message 499.") || strings.Contains(text, "message 0.") {
		t.Errorf("the review read %d bytes", len(text))
	}
}
