//go:build unix

package tui

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/command"
)

// shelf finds a session for any reference.
type shelf struct{ command.Sessions }

func (shelf) Find(_ context.Context, ref string) (hermes.Session, error) {
	return hermes.Session{ID: ref}, nil
}

// twoSessions opens the first fake, then the second as "other"; "taken" is
// open elsewhere.
func twoSessions(first, second *fakeSession) Options {
	second.id = "other"
	return Options{From: me, Client: &fakeClient{
		commands: command.Call{Sessions: func(context.Context) (command.Sessions, error) { return shelf{}, nil }},
		open: func(_ context.Context, run hermes.RunSpec) (*fakeSession, error) {
			switch run.Session {
			case "":
				return first, nil
			case "other":
				return second, nil
			}
			return nil, errors.New("it is open in another Hermes")
		},
	}}
}

func speaking(words string) *fakeSession {
	return newFake(func(f *fakeSession, text string) { f.reply(text, words+" heard "+text) })
}

func TestSwitchKeepsTheSessionUntilTheOtherIsOpen(t *testing.T) {
	t.Parallel()
	first, second := speaking("first"), speaking("second")
	c := newConsole(t)
	c.run(twoSessions(first, second))
	c.shows("maker/model-1")
	c.press("/resume taken\r")
	c.shows("open in another Hermes")
	c.press("one\r")
	c.shows("first heard one")
	c.press("/resume other\r")
	c.shows("Resumed: ")
	c.press("two\r")
	c.shows("second heard two")
	c.press("\x04")
	c.ended()
	if !first.closed || !second.closed {
		t.Errorf("closed: %v, %v", first.closed, second.closed)
	}
}

func TestSwitchLineByLine(t *testing.T) {
	t.Parallel()
	first, second := speaking("first"), speaking("second")
	in, err := os.CreateTemp(t.TempDir(), "in")
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.WriteString("/resume taken\none\n/resume other\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	o := twoSessions(first, second)
	o.In, o.Out = in, out
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"open in another Hermes", "first heard one", "second heard two"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if !first.closed || !second.closed {
		t.Errorf("closed: %v, %v", first.closed, second.closed)
	}
}
