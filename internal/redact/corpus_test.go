package redact_test

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"hermes/internal/redact"
)

var (
	//go:embed testdata/secrets.txt
	secretLines string
	//go:embed testdata/honest.txt
	honestLines string
)

var marked = regexp.MustCompile(`⟦([^⟧]*)⟧`)

// example is a text with its secrets.
type example struct {
	text    string
	secrets []string
}

func examples(file string) []example {
	var out []example
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.NewReplacer("↵", "\n", "¦", "").Replace(line)
		e := example{text: marked.ReplaceAllString(line, "$1")}
		for _, m := range marked.FindAllStringSubmatch(line, -1) {
			e.secrets = append(e.secrets, m[1])
		}
		out = append(out, e)
	}
	return out
}

// shows returns a part of a secret that a text shows: the whole of it, or more than
// the head and tail that a mask keeps.
func shows(text, secret string) string {
	const kept = 7
	if strings.Contains(text, secret) {
		return secret
	}
	for i := 0; i+kept <= len(secret); i++ {
		if part := secret[i : i+kept]; strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

func TestNoSecretOfTheCorpusIsShown(t *testing.T) {
	t.Parallel()
	list := examples(secretLines)
	if len(list) < 200 {
		t.Fatalf("%d lines, want at least 200", len(list))
	}
	for _, e := range list {
		if len(e.secrets) == 0 {
			t.Errorf("a line without a secret: %q", e.text)
		}
		for _, around := range []string{"", "before\n"} {
			got := redact.Text(around + e.text + "\nafter")
			for _, secret := range e.secrets {
				if part := shows(got, secret); part != "" {
					t.Errorf("%q shows %q", got, part)
				}
			}
			if again := redact.Text(got); again != got {
				t.Errorf("masking twice turns %q into %q", got, again)
			}
		}
	}
}

func TestHonestLinesOfTheCorpusStay(t *testing.T) {
	t.Parallel()
	list := examples(honestLines)
	if len(list) < 200 {
		t.Fatalf("%d lines, want at least 200", len(list))
	}
	changed := 0
	for _, e := range list {
		for _, around := range []string{"", "before\n"} {
			if got := redact.Text(around + e.text + "\nafter"); got != around+e.text+"\nafter" {
				changed++
				t.Logf("%q becomes %q", e.text, got)
				break
			}
		}
	}
	const allowed = 2
	if changed > allowed {
		t.Errorf("%d of %d honest lines are changed, want at most %d", changed, len(list), allowed)
	}
}

// TestMasksKeepTheBeginningOfTheLine checks that what announces a secret is still
// there, so that a reader sees what was masked.
func TestMasksKeepTheBeginningOfTheLine(t *testing.T) {
	t.Parallel()
	for _, e := range examples(secretLines) {
		got := redact.Text(e.text)
		before, _, _ := strings.Cut(e.text, e.secrets[0])
		if strings.HasPrefix(before, "2d2d") {
			continue // the label of the block is a part of the encoded key
		}
		if begin := before[:min(len(before), 12)]; !strings.HasPrefix(got, begin) {
			t.Errorf("%q lost the beginning of %q", got, e.text)
		}
	}
}

// TestMaskedJSONStaysValid puts the lines into JSON, once and twice, as arguments of
// calls and results of tools have them.
func TestMaskedJSONStaysValid(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{`odd "known`, `ends in a quote"`, "two\nlines of it"}})
	list := append(examples(secretLines), examples(honestLines)...)
	for _, known := range []string{`odd "known`, `ends in a quote"`, "two\nlines of it"} {
		list = append(list, example{text: "x " + known + " y", secrets: []string{known}}, example{text: known, secrets: []string{known}})
	}
	for _, e := range list {
		for deep, text := 0, e.text; deep < 3; deep++ {
			raw, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
			got := r.Text(text)
			if !json.Valid([]byte(got)) {
				t.Errorf("%d deep: %s becomes %s", deep, text, got)
			}
		}
	}
}
