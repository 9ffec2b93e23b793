package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/tui/input"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rig is a chat without a session. It collects the actions of the model, and
// draws on the test terminal.
type rig struct {
	t     *testing.T
	m     *model
	s     *screen
	v     *vt
	clock time.Time
	do    []any
	keyed int // how many messages have a key
	o     Options
}

func newRig(t *testing.T, width, height int, d Display) *rig {
	t.Helper()
	r := &rig{t: t, v: newVT(width, height), clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	r.s = &screen{w: r.v, width: width}
	o := Options{Display: d, From: me, Start: startIn(t.TempDir()), Now: func() time.Time { return r.clock }, History: filepath.Join(t.TempDir(), "history")}
	r.o = o
	r.m = newModel(o, width, height)
	r.m.newKey = func() string { r.keyed++; return fmt.Sprint("key ", r.keyed) }
	return r
}

func openRig(t *testing.T, width, height int) *rig {
	t.Helper()
	r := newRig(t, width, height, Display{Reasoning: true, Summary: true})
	r.send(openedMsg{id: "20260102_030405_abc", state: protocol.Snapshot{Configured: hermes.Configured{Model: "maker/model-1", Window: 100_000}}})
	return r
}

func (r *rig) send(msgs ...any) *rig {
	r.t.Helper()
	for _, msg := range msgs {
		if e, ok := msg.(hermes.Event); ok {
			msg = eventMsg{protocol.Envelope{Event: e}}
		}
		if s, ok := msg.(submittedMsg); ok {
			s.op = r.keyedLike(s.op)
			msg = s
		}
		r.do = append(r.do, r.m.update(msg)...)
	}
	r.draw()
	return r
}

// keyedLike gives a message without a key that of the waiting one with its text.
func (r *rig) keyedLike(op hermes.Op) hermes.Op {
	say, ok := op.(hermes.Say)
	for _, s := range r.m.conv.waiting {
		if ok && say.Key == "" && s.text == (hermes.Message{Parts: say.Parts}).Visible() {
			return s.say
		}
	}
	return op
}

func (r *rig) draw() {
	r.t.Helper()
	f := r.m.view()
	if err := r.s.draw(r.m.renderer.take(), f); err != nil {
		r.t.Fatal(err)
	}
	if len(f.rows) >= r.v.height {
		r.t.Fatalf("the live region has %d rows on a terminal of %d", len(f.rows), r.v.height)
	}
	for _, row := range f.rows {
		if w := widthOf(row); w > r.v.width-1 {
			r.t.Fatalf("a row of the live region takes %d cells of %d: %q", w, r.v.width, row)
		}
	}
	if len(r.v.odd) > 0 {
		r.t.Fatalf("unknown sequences: %q", r.v.odd)
	}
}

// wait lets time pass, so that keys answer questions.
func (r *rig) wait(d time.Duration) *rig {
	r.clock = r.clock.Add(d)
	return r
}

// keys presses keys: names in angle brackets, the rest as text.
func (r *rig) keys(text string) *rig {
	r.t.Helper()
	for text != "" {
		if text[0] == '<' {
			end := strings.IndexByte(text, '>')
			r.send(input.Key{Name: text[1:end]})
			text = text[end+1:]
			continue
		}
		for _, c := range text {
			name := string(c)
			if c == ' ' {
				name = "space"
			}
			r.send(input.Key{Name: name, Text: string(c)})
			text = text[len(string(c)):]
			break
		}
	}
	return r
}

// wants returns the actions since the last call, without those that only say that the user
// answers a question, and without the keys of messages.
func (r *rig) wants() []any {
	do := slices.DeleteFunc(r.do, func(do any) bool {
		submit, _ := do.(submitDo)
		_, touch := submit.op.(hermes.Touch)
		return touch
	})
	r.do = nil
	for i := range do {
		if s, ok := do[i].(submitDo); ok {
			if say, ok := s.op.(hermes.Say); ok {
				say.Key = ""
				do[i] = submitDo{say, s.to}
			}
		}
	}
	if len(do) == 0 {
		return nil
	}
	return do
}

func (r *rig) wantDo(wanted ...any) *rig {
	r.t.Helper()
	if diff := cmp.Diff(wanted, r.wants(), cmp.AllowUnexported(submitDo{}, commandDo{}, openDo{}, copyDo{}, namesDo{}, want{})); diff != "" {
		r.t.Errorf("to be done (-want +got):\n%s", diff)
	}
	return r
}

func (r *rig) shows(want ...string) *rig {
	r.t.Helper()
	got := r.v.text()
	for _, w := range want {
		if !strings.Contains(got, w) {
			r.t.Errorf("%q is not on the screen:\n%s", w, got)
		}
	}
	return r
}

func (r *rig) hides(unwanted ...string) *rig {
	r.t.Helper()
	got := r.v.text()
	for _, w := range unwanted {
		if strings.Contains(got, w) {
			r.t.Errorf("%q is on the screen:\n%s", w, got)
		}
	}
	return r
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func say(text string) submitDo {
	return submitDo{op: hermes.Say{Parts: []hermes.Part{{Text: text}}}}
}

// startIn begins with a new session in a folder.
func startIn(dir string) Start {
	return Start{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}}}
}

// done is the outcome of a command that the test sent.
func done(d hermes.CommandDone) hermes.CommandDone {
	d.From = me
	return d
}

func call(id, name string) hermes.ToolCall {
	return hermes.ToolCall{ID: id, Name: name, Arguments: "{}"}
}

func answer(text string) hermes.Appended {
	return hermes.Appended{Message: hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: text}}}}
}
