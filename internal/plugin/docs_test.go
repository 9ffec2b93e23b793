package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type (
	empty        struct{}
	listTools    struct{ Tools []Tool }
	listHooks    struct{ Hooks []Hook }
	listModels   struct{ Models []Model }
	listSections struct{ Sections []Section }
	listCommands struct{ Commands []Command }
)

// documented are the messages that each section of docs/plugin-protocol.md shows, in their order.
var documented = map[string][]any{
	"initialize":                  {initialize{}, initialized{}},
	"tools/list":                  {empty{}, listTools{}},
	"tools/call":                  {toolCall{}, toolResult{}},
	"hooks/list":                  {empty{}, listHooks{}},
	"hooks/call":                  {hookCall{}, verdict{}, verdict{}, verdict{}, verdict{}},
	"prompt/sections":             {empty{}, listSections{}},
	"commands/list, commands/run": {empty{}, listCommands{}, commandCall{}, commandSaid{}},
	"memory/block, memory/recall, memory/observe":            {memoryCall{}, memoryText{}, memoryCall{}, memoryText{}, memoryCall{}, empty{}},
	"memory/commands, memory/command":                        {empty{}, listCommands{}, memoryCommand{}, commandDone{}},
	"environment/exec, environment/input, environment/close": {execCall{}, execDone{}, inputCall{}, inputCall{}, empty{}, placeCall{}, empty{}},
	"context/fit":               {fitCall{}, fitDone{}},
	"models/list, model/stream": {empty{}, listModels{}, streamCall{}, streamDone{}},
}

// inText are the messages that the text and its tables name after a method: its params, then its results.
var inText = map[string][2]any{
	requestOutput:  {outputCall{}, empty{}},
	requestDelta:   {deltaCall{}, empty{}},
	noticeCancel:   {cancel{}, nil},
	noticeProgress: {progress{}, nil},
	methodInvoke:   {invoke{}, toolResult{}},
	methodAsk:      {ask{}, asked{}},
	methodComplete: {complete{}, completed{}},
}

func mustReadProtocol(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "plugin-protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(raw), "\n## Methods that are written down and not called yet\n")
	if !found {
		t.Fatal("docs/plugin-protocol.md does not say which methods are not called yet")
	}
	return text
}

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)\n```")

// TestTheProtocolShowsTheMessagesThatTravel: each JSON text of docs/plugin-protocol.md is a message of this
// program, without a member that it does not know, and means the same after reading and writing.
func TestTheProtocolShowsTheMessagesThatTravel(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, section := range regexp.MustCompile("(?m)^##+ ").Split(mustReadProtocol(t), -1) {
		title, body, _ := strings.Cut(section, "\n")
		title, _, _ = strings.Cut(title, " (kind")
		var messages []json.RawMessage
		for _, b := range jsonBlock.FindAllStringSubmatch(body, -1) {
			d := json.NewDecoder(strings.NewReader(b[1]))
			for {
				var m json.RawMessage
				if err := d.Decode(&m); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v in\n%s", title, err, b[1])
				}
				messages = append(messages, m)
			}
		}
		want := documented[title]
		seen[title] = true
		if len(messages) != len(want) {
			t.Errorf("%s shows %d messages, and this test knows %d", title, len(messages), len(want))
			continue
		}
		for i, m := range messages {
			travels(t, title, m, want[i])
		}
	}
	for title := range documented {
		if !seen[title] {
			t.Errorf("docs/plugin-protocol.md has no section %q", title)
		}
	}
}

// TestTheProtocolNamesMessagesInItsText, as those of its blocks.
func TestTheProtocolNamesMessagesInItsText(t *testing.T) {
	t.Parallel()
	text := jsonBlock.ReplaceAllString(mustReadProtocol(t), "")
	seen := map[string]int{}
	method, n := "", 0
	for _, code := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		said := code[1]
		if regexp.MustCompile(`^[a-z$]+/[a-z]+$`).MatchString(said) {
			method, n = said, 0
			continue
		}
		if strings.HasPrefix(said, `"tool_call":`) {
			said, n = `{"call":"4",`+said+`}`, 0
		}
		if !strings.HasPrefix(said, `{"`) {
			continue
		}
		of, known := inText[method]
		if !known {
			t.Errorf("%s is shown after %s, which this test does not know", said, method)
			continue
		}
		travels(t, method, json.RawMessage(said), of[min(n, 1)])
		n++
		seen[method]++
	}
	for method := range inText {
		if seen[method] == 0 {
			t.Errorf("docs/plugin-protocol.md shows no message of %s", method)
		}
	}
}

// travels fails if a message is not exactly one of a type.
func travels(t *testing.T, where string, raw json.RawMessage, of any) {
	t.Helper()
	raw = bytes.ReplaceAll(raw, []byte(`"base64"`), []byte(`"YQ=="`)) // stands for any bytes
	into := reflect.New(reflect.TypeOf(of))
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into.Interface()); err != nil {
		t.Errorf("%s: %v in %s", where, err, raw)
		return
	}
	again, err := json.Marshal(into.Interface())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(members(t, raw), members(t, again)); diff != "" {
		t.Errorf("%s -document +program:\n%s", where, diff)
	}
}

// members are those of a message that are not empty, with names in small letters.
func members(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return filled(v)
}

func filled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, member := range v {
			if member = filled(member); member != nil {
				out[strings.ToLower(k)] = member
			}
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = filled(v[i])
		}
	case bool:
		if !v {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case float64:
		if v == 0 {
			return nil
		}
	}
	return v
}

// TestTheManifestOfTheProtocolIsOne that is read without a note.
func TestTheManifestOfTheProtocolIsOne(t *testing.T) {
	t.Parallel()
	_, rest, found := strings.Cut(mustReadProtocol(t), "```yaml\n")
	manifest, _, ends := strings.Cut(rest, "\n```\n")
	if !found || !ends {
		t.Fatal("docs/plugin-protocol.md shows no manifest")
	}
	m, notes, err := ParseManifest([]byte(manifest))
	if err != nil || len(notes) > 0 {
		t.Fatalf("%q, %v", notes, err)
	}
	if m.Name != "words" || len(m.Capabilities.Secrets) != 1 || len(m.Capabilities.Programs) != 1 || m.Capabilities.Complete == nil {
		t.Errorf("it is read as %+v", m)
	}
}
