package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
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
