package factory_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/store"
)

// TestCloseClosesWhatACommandOpened so that no command has to.
func TestCloseClosesWhatACommandOpened(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*factory.Factory) func(context.Context) (store.Database, error){
		"store":  func(f *factory.Factory) func(context.Context) (store.Database, error) { return f.Store },
		"reader": func(f *factory.Factory) func(context.Context) (store.Database, error) { return f.Reader },
	} {
		f := factory.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }}, factory.IO{})
		db, err := open(f)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Stats(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := db.Stats(t.Context()); err == nil {
			t.Errorf("%s: the database was not closed", name)
		}
	}
}

// TestNothingIsMadeBeforeItIsAskedFor: a command that needs no home runs without one, and the
// app knows the flags.
func TestNothingIsMadeBeforeItIsAskedFor(t *testing.T) {
	t.Parallel()
	asked := 0
	home := t.TempDir()
	f := factory.New(app.Options{Getenv: func(string) string { asked++; return "" }}, factory.IO{})
	if err := f.Close(); err != nil || asked > 0 {
		t.Errorf("%v, %d variables were read", err, asked)
	}
	f.Global.Home = home // as a flag does
	if h, err := f.App().Home(); err != nil || h.Path() != home {
		t.Errorf("got %v, %v, want %s", h, err, home)
	}
	if first := f.App(); first != f.App() {
		t.Error("a command has several apps")
	}
}

func TestConfigIsReadAgain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f := factory.New(app.Options{Home: home, Getenv: func(string) string { return "" }}, factory.IO{})
	for _, want := range []string{"p:a", "p:b"} {
		if err := os.WriteFile(home+"/config.yaml", []byte("model: {default: "+want+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := f.Config()
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Model().Default; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"y\n": true, " YES \n": true, "y": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		var out strings.Builder
		err := factory.IO{Terminal: func() bool { return true }}.Confirm(strings.NewReader(in), &out, "Delete it?")
		if (err == nil) != want || err != nil && !errors.Is(err, factory.ErrCanceled) || out.String() != "Delete it? [y/N] " {
			t.Errorf("%q: %v, asked %q", in, err, out.String())
		}
	}
	err := factory.New(app.Options{}, factory.IO{}).Confirm(strings.NewReader("y\n"), &strings.Builder{}, "Delete it?")
	if err == nil || !strings.Contains(err.Error(), "use --yes") {
		t.Errorf("without a terminal: %v", err)
	}
}
