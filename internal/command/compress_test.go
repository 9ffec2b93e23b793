package command_test

import (
	"strings"
	"testing"

	"hermes"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/command"
	"hermes/internal/session"
)

func TestCompressSaysWhatToKeep(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]hermes.Compress{
		"/compress":                     {},
		"/compress the login redirects": {Topic: "the login redirects"},
		"/compress here":                {Keep: 2},
		"/compress here 5":              {Keep: 5},
		"/compress HERE  3":             {Keep: 3},
		"/compress hereditary disease":  {Topic: "hereditary disease"},
	} {
		f := &fake{state: session.State{Transcript: talk()}}
		if _, err := command.Run(t.Context(), line, command.Call{Session: f, Where: command.Messenger}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff([]hermes.Op{want}, f.ops); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	for _, line := range []string{"/compress here zero", "/compress here 0", "/compress here -1"} {
		f := &fake{}
		_, err := command.Run(t.Context(), line, command.Call{Session: f, Where: command.Terminal})
		if err == nil || !strings.Contains(err.Error(), "/compress here 2") || len(f.ops) > 0 {
			t.Errorf("%s: %v, %v", line, err, f.ops)
		}
	}
}
