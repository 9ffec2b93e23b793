// Package lint checks the syntax of a file that was changed, if its format is known: JSON,
// YAML, TOML, Go. It reads no files.
package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

const (
	// maxChecked bounds the size of texts whose syntax is checked, in bytes.
	maxChecked = 4 << 20
	// shownErrors bounds the syntax errors reported for one file.
	shownErrors = 5
)

// Result is the result of a check, as the model reads it.
type Result struct {
	Status string   `json:"status"` // ok or error
	Errors []string `json:"errors,omitempty"`
}

// Check checks the new text of a file if its format is known. It reports
// only errors that the old text did not have, and nil if there is nothing to
// check.
func Check(path, old, new string) *Result {
	check := checkerFor(path)
	if check == nil || len(new) > maxChecked || len(old) > maxChecked {
		return nil
	}
	found := check(strings.TrimPrefix(new, "\ufeff"))
	if len(found) > 0 && old != "" {
		found = withoutKnown(found, check(strings.TrimPrefix(old, "\ufeff")))
	}
	if len(found) == 0 {
		return &Result{Status: "ok"}
	}
	return &Result{Status: "error", Errors: found[:min(len(found), shownErrors)]}
}

// withoutKnown drops errors that were there before, even if their line changed.
func withoutKnown(found, known []string) []string {
	numbers := regexp.MustCompile(`\d+`)
	before := map[string]int{}
	for _, e := range known {
		before[numbers.ReplaceAllString(e, "")]++
	}
	var added []string
	for _, e := range found {
		if k := numbers.ReplaceAllString(e, ""); before[k] > 0 {
			before[k]--
			continue
		}
		added = append(added, e)
	}
	return added
}

func checkerFor(path string) func(string) []string {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "tsconfig"), strings.HasPrefix(name, "jsconfig"), strings.Contains(path, ".vscode"):
		return nil // JSON with comments
	case strings.HasSuffix(name, ".json"), strings.HasSuffix(name, ".ipynb"):
		return checkJSON
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return checkYAML
	case strings.HasSuffix(name, ".toml"):
		return checkTOML
	case strings.HasSuffix(name, ".go"):
		return checkGo
	}
	return nil
}

func checkJSON(text string) []string {
	var any json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	err := d.Decode(&any)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return []string{fmt.Sprintf("line %d: text after the end of the JSON value", lineOf(text, d.InputOffset()))}
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return []string{fmt.Sprintf("line %d: %s", lineOf(text, syntax.Offset), syntax.Error())}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return []string{fmt.Sprintf("line %d: the text ends before the JSON value does", lineOf(text, int64(len(text))))}
	}
	return []string{err.Error()}
}

func lineOf(text string, offset int64) int {
	return 1 + strings.Count(text[:min(max(offset, 0), int64(len(text)))], "\n")
}

func checkYAML(text string) []string {
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var node yaml.Node
		if err := d.Decode(&node); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return []string{strings.TrimPrefix(err.Error(), "yaml: ")}
		}
	}
}

func checkTOML(text string) []string {
	var value map[string]any
	err := toml.Unmarshal([]byte(text), &value)
	if err == nil {
		return nil
	}
	found := strings.TrimPrefix(err.Error(), "toml: ")
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := at.Position()
		found = fmt.Sprintf("line %d: %s", row, found)
	}
	return []string{found}
}

func checkGo(text string) []string {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution|parser.AllErrors)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil
	}
	var found []string
	for _, e := range list {
		found = append(found, fmt.Sprintf("line %d: %s", e.Pos.Line, e.Msg))
	}
	return found
}
