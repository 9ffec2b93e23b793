package remote

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/protocol"
)

// TestTheDocumentDescribesAllMethods with their params and results, and the notifications.
func TestTheDocumentDescribesAllMethods(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		methodInitialize: fieldsOf(Hello{}, welcome{}),
		methodSessions:   fieldsOf(sessionsParams{}, sessionsResult{}),
		methodOpen:       fieldsOf(openParams{}, openResult{}),
		methodAttach:     fieldsOf(attachParams{}, attachResult{}),
		methodDetach:     fieldsOf(subscriptionParams{}, none{}),
		methodDo:         fieldsOf(doParams{}, none{}),
		methodHistory:    fieldsOf(historyParams{}, historyResult{}),
		methodCommand:    fieldsOf(commandParams{}, none{}),
		methodHalt:       fieldsOf(none{}, protocol.Halted{}),
		noticeEvent:      {"subscription: text", "envelope: Envelope"}, // it is written by hand
		noticeDetached:   fieldsOf(subscriptionParams{}, none{}),
	}
	document := mustReadDocument(t)
	_, methods, _ := strings.Cut(document, "\n## Methods\n")
	methods, _, _ = strings.Cut(methods, "\n## Staying up to date\n")
	got := map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\|")
	link := regexp.MustCompile("\\[`(\\w+)`\\]\\(#\\w+\\)")
	for _, section := range strings.Split(methods, "\n### ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		got[name] = []string{}
		for _, m := range row.FindAllStringSubmatch(body, -1) {
			got[name] = append(got[name], m[1]+": "+link.ReplaceAllString(m[2], "$1"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/protocol.md -code +document:\n%s", diff)
	}
}

// TestTheDocumentHasAllClassesAndLimits, which programs decide by.
func TestTheDocumentHasAllClassesAndLimits(t *testing.T) {
	t.Parallel()
	document := mustReadDocument(t)
	want := []string{
		"| `" + classAnswered + "` |", "| `" + classFixed + "` |", fmt.Sprintf("| `%d` |", codeFailed),
		fmt.Sprintf("| %d MB, %d KB before `initialize`; ", MaxRequest>>20, maxFirst>>10), fmt.Sprintf("| %d MB; ", MaxReply>>20),
		fmt.Sprintf("| %d and %d for each connection |", maxRequests, maxSubscriptions), fmt.Sprintf("| %.0f seconds |", firstTime.Seconds()),
		fmt.Sprintf("| %.0f minutes |", readTime.Minutes()),
	}
	for _, c := range classes {
		want = append(want, "| `"+c.class+"` |")
	}
	for _, text := range want {
		if !strings.Contains(document, text) {
			t.Errorf("docs/protocol.md does not have %q", text)
		}
	}
}

func mustReadDocument(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// fieldsOf returns the names and types of the fields of structs as the document has them.
func fieldsOf(structs ...any) []string {
	rows := []string{}
	for _, s := range structs {
		of := reflect.TypeOf(s)
		for i := range of.NumField() {
			name, options, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			word := wordFor(of.Field(i).Type)
			if options != "" {
				word += ", optional"
			}
			rows = append(rows, name+": "+word)
		}
	}
	return rows
}

func wordFor(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[json.RawMessage]():
		return "any"
	case of.Kind() == reflect.Slice:
		return "list of " + wordFor(of.Elem())
	case of.Kind() == reflect.String:
		return "text"
	case of.Kind() == reflect.Bool:
		return "bool"
	case of.Kind() == reflect.Struct:
		return of.Name()
	}
	return "number"
}
