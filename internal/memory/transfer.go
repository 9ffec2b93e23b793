package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxImport bounds a file that is imported, in bytes.
const maxImport = 1 << 20

// transfer is the form of an export.
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

// Import adds what a file holds and is not there yet: an export, or for the
// given target what other agents keep: a text with entries parted by section
// signs or written as a list under headings, or a JSON list of texts. All of it is checked first: either everything is added or nothing. It
// returns how many entries are new.
func (b *File) Import(ctx context.Context, r io.Reader, t Target) (added int, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImport+1))
	if err != nil {
		return 0, fmt.Errorf("read the memories to import: %w", err)
	}
	if len(data) > maxImport {
		return 0, fmt.Errorf("the file is larger than %d KB, which is no file of memories", maxImport>>10)
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

// take adds entries to a target, or only checks that it could.
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

// incoming reads what a file holds.
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
		return nil, fmt.Errorf("this is no whole export of memories (%v); nothing was imported", err)
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
