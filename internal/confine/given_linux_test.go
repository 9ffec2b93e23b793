package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hermes"
)

// TestNamedFilesCanBeRead, those of the user's home and those in Hermes' own, and nothing beside them; none can be changed.
func TestNamedFilesCanBeRead(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, l, func(home string) {
				for path, text := range map[string]string{".aws/credentials": "aws", ".aws/other": "CANARY-AWS", ".hermes/google.json": "google"} {
					at := filepath.Join(home, path)
					if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			})
			s.given = []string{filepath.Join(s.home, ".hermes", "google.json")}
			s.granted = []hermes.Need{{Kind: hermes.RefusedRead, Name: filepath.Join(s.home, ".aws", "credentials")}}
			for line, want := range map[string]string{
				"cat " + s.home + "/.aws/credentials " + s.home + "/.hermes/google.json":                                        "awsgoogle",
				"cat " + s.home + "/.aws/other " + s.home + "/.hermes/.env " + s.home + "/.hermes/config.yaml 2>/dev/null":      "",
				"echo x 2>/dev/null >>" + s.home + "/.hermes/google.json; echo x 2>/dev/null >>" + s.home + "/.aws/credentials": "",
			} {
				if got, _ := s.run(t, "{ "+line+"; } 2>/dev/null"); got != want {
					t.Errorf("%s: %q, want %q", line, got, want)
				}
			}
			for path, want := range map[string]string{".aws/credentials": "aws", ".hermes/google.json": "google"} {
				if text, err := os.ReadFile(filepath.Join(s.home, path)); string(text) != want || err != nil {
					t.Errorf("%s has %q, %v", path, text, err)
				}
			}
		})
	}
}

// TestNamedFilesCanBeReadAfterAReplacement by rename, as programs renew logins, and if they are there later only.
func TestNamedFilesCanBeReadAfterAReplacement(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			put := func(at, text string) {
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at+".new", []byte(text), 0o600), os.Rename(at+".new", at)); err != nil {
					t.Fatal(err)
				}
			}
			var aws, google, later string
			s := newScene(t, l, func(home string) {
				aws, google, later = filepath.Join(home, ".aws", "credentials"), filepath.Join(home, ".hermes", "google.json"), filepath.Join(home, ".hermes", "later.json")
				put(aws, "aws")
				put(google, "google")
			})
			s.given = []string{google}
			s.granted = []hermes.Need{{Kind: hermes.RefusedRead, Name: aws}}
			line := "cat " + aws + " " + google + " " + later + " 2>/dev/null"
			if got, _ := s.run(t, line); got != "awsgoogle" {
				t.Errorf("first %q", got)
			}
			put(aws, "aws-2")
			put(google, "google-2")
			if got, _ := s.run(t, line); got != "aws-2google-2" {
				t.Errorf("after a replacement %q", got)
			}
			put(later, "later")
			s.given = append(s.given, later)
			if got, _ := s.run(t, line); got != "aws-2google-2later" {
				t.Errorf("with one that was missing %q", got)
			}
			s.given = []string{later}
			if got, _ := s.run(t, line); got != "aws-2later" {
				t.Errorf("with one that is not named any more %q", got)
			}
		})
	}
}
