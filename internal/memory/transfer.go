package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"hermes/internal/lazy"
)

// maxImport bounds an imported file, in bytes.
const maxImport = 1 << 20

// transfer is the JSON format of an export.
type transfer struct {
	Version int           `json:"version"`
	Memory  []transferred `json:"memory"`
	User    []transferred `json:"user"`
}

type transferred struct {
	Text   string `json:"text"`
	Origin Origin `json:"origin,omitzero"`
}

// Export writes both targets with their origins as JSON.
func (b *File) Export(w io.Writer) error {
	out := transfer{Version: 1, Memory: []transferred{}, User: []transferred{}}
	for _, t := range Targets() {
		s, err := b.Read(t)
		if err != nil {
			return err
		}
		for _, e := range s.Entries {
			if t == User {
				out.User = append(out.User, transferred(e))
			} else {
				out.Memory = append(out.Memory, transferred(e))
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// Import adds the entries of a file that do not exist yet. The file is an
// export, or memories of another agent for the given target: a text with
// entries separated by section signs or written as a list under headings, or a
// JSON list of strings. Everything is checked first: either all entries are
// added or none. It returns the number of new entries.
func (b *File) Import(ctx context.Context, r io.Reader, t Target) (added int, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImport+1))
	if err != nil {
		return 0, fmt.Errorf("read the import file: %w", err)
	}
	if len(data) > maxImport {
		return 0, fmt.Errorf("the file is larger than %d KB; import a smaller file", maxImport>>10)
	}
	lists, err := incoming(data, t)
	if err != nil {
		return 0, err
	}
	err = b.locked(ctx, func() error {
		for _, check := range []bool{true, false} {
			for _, target := range Targets() {
				n, err := b.take(ctx, target, lists[target], check)
				if err != nil {
					return err
				}
				added += n
			}
		}
		return nil
	})
	return added, err
}

// take adds entries to a target, or only checks that they can be added.
func (b *File) take(ctx context.Context, t Target, texts []string, check bool) (int, error) {
	if len(texts) == 0 {
		return 0, nil
	}
	operations := make([]Operation, len(texts))
	for i, text := range texts {
		operations[i] = Operation{Action: "add", Content: text}
	}
	content, err := b.load(t)
	if err != nil {
		return 0, err
	}
	before := parse(content)
	d, _, err := b.plan(t, before, operations)
	if err != nil {
		return 0, fmt.Errorf("nothing was imported: %w", err)
	}
	if check || len(d.written) == 0 {
		return 0, nil
	}
	if _, err := b.change(ctx, t, operations, Origin{By: "import"}); err != nil {
		return 0, err
	}
	return len(d.written), nil
}

// incoming parses an import file.
func incoming(data []byte, t Target) (map[Target][]string, error) {
	text := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	if text == "" {
		return nil, fmt.Errorf("the file is empty; nothing was imported")
	}
	if strings.HasPrefix(text, "[") {
		texts, err := texts(text)
		return map[Target][]string{t: texts}, err
	}
	if !strings.HasPrefix(text, "{") {
		return map[Target][]string{t: listed(text)}, nil
	}
	var in transfer
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	if err := d.Decode(&in); err != nil || in.Version != 1 {
		return nil, fmt.Errorf("not a complete export of memories (%v); nothing was imported", err)
	}
	out := map[Target][]string{}
	for _, e := range in.Memory {
		out[Notes] = append(out[Notes], e.Text)
	}
	for _, e := range in.User {
		out[User] = append(out[User], e.Text)
	}
	return out, nil
}

// errNoTexts says which JSON lists can be imported.
var errNoTexts = errors.New("not a JSON list of strings, or of objects with text, content or memory; nothing was imported")

// texts reads a JSON list of strings, or of objects that contain one.
func texts(data string) ([]string, error) {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(data), &items); err != nil || len(items) == 0 {
		return nil, errNoTexts
	}
	var out []string
	for _, raw := range items {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var o struct{ Text, Content, Memory string }
			if json.Unmarshal(raw, &o) != nil || o.Text+o.Content+o.Memory == "" {
				return nil, errNoTexts
			}
			text = o.Text + o.Content + o.Memory // one of them
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out, nil
}

// bullet matches the beginning of a list item.
var bullet = lazy.Regexp(`^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?`)

// listed splits a text at section signs or, if it is written as a list, into its
// items and the paragraphs between them. It drops headings.
func listed(text string) []string {
	entries := parse(text)
	if len(entries) != 1 || !isList(entries[0]) {
		return entries
	}
	var out, item []string
	flush := func() {
		if text := strings.TrimSpace(strings.Join(item, "\n")); text != "" {
			out = append(out, text)
		}
		item = nil
	}
	code := false
	for line := range strings.SplitSeq(entries[0], "\n") {
		plain := strings.TrimSpace(line)
		fence := strings.HasPrefix(plain, "```")
		switch at := bullet().FindString(line); {
		case code || fence:
			item = append(item, strings.TrimRight(line, " "))
			code = code != fence
		case plain == "" || strings.HasPrefix(plain, "#"):
			flush()
		case at != "":
			flush()
			item = append(item, strings.TrimSpace(line[len(at):]))
		default:
			item = append(item, plain)
		}
	}
	flush()
	return out
}

// isList reports whether a text has list items.
func isList(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if bullet().MatchString(line) {
			return true
		}
	}
	return false
}
