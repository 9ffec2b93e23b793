package credential_test

import (
	"strings"
	"testing"

	"hermes"
	"hermes/internal/credential"
)

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "is empty",
		"two words":                   "a blank",
		`"sk-quoted"`:                 "quotation mark",
		"'sk-quoted'":                 "quotation mark",
		"OPENROUTER_API_KEY=sk-or-v1": "name of a variable",
	} {
		_, err := newWorld(t).open("").Pool("router", nil).Add(t.Context(), credential.New{Secret: hermes.Secret(text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"sk-or-v1-0123", "QUJDREVG==", "A_B=", "id:secret/with+signs"} {
		if _, err := newWorld(t).open("").Pool("router", nil).Add(t.Context(), credential.New{Secret: hermes.Secret(text)}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
