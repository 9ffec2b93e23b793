package search_test

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/search"
)

func TestIgnoreReadsTheRulesOfTheRepositoryAbove(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		".git/info/exclude": "private\n", ".gitignore": "*.log\n/sub/only\n", ".ignore": "*.go\n", "sub/.gitignore": "!keep.log\n",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sub := filepath.Join(top, "sub")
	rules := search.IgnoreAbove(sub).With(sub, "!keep.log\nbuild/\n")
	for name, want := range map[string]bool{
		"a.log": true, "keep.log": false, "private": true, "only": true, "main.go": false, "build": true, "plain": false,
	} {
		if got := rules.Match(filepath.Join(sub, name), name == "build"); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if (search.Ignore{}).Match(filepath.Join(sub, "a.log"), false) {
		t.Error("no rules ignore something")
	}
}
