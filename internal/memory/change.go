package memory

import (
	"fmt"
	"slices"
	"strings"

	"hermes/internal/memory/scan"
	"hermes/internal/text"
)

// Operation is one change of a target.
type Operation struct {
	Action  string `json:"action" enum:"add,replace,remove"`
	Content string `json:"content,omitempty"`
	OldText string `json:"old_text,omitempty"`
}

// Refused is the error of a change that was refused. Nothing was changed. Its
// text is for the model.
type Refused struct {
	Reason string
	Full   bool  // the limit is the reason
	State  State // the current state
}

// Error returns the reason.
func (r *Refused) Error() string { return r.Reason }

// draft holds the entries of a target while operations are applied to them.
type draft struct {
	entries []string
	written []string // entries that operations wrote
	notes   []string
}

// apply applies operations to a copy of the entries, all or none.
func apply(entries []string, operations []Operation) (draft, error) {
	d := draft{entries: slices.Clone(entries)}
	if len(operations) == 0 {
		return d, &Refused{Reason: "nothing to do: send an action with its content, or operations"}
	}
	for i, o := range operations {
		if err := d.do(o); err != nil {
			if len(operations) > 1 {
				return d, &Refused{Reason: fmt.Sprintf("operation %d (%s): %v; no operation was carried out", i+1, o.Action, err)}
			}
			return d, &Refused{Reason: err.Error()}
		}
	}
	return d, nil
}

func (d *draft) do(o Operation) error {
	switch o.Action {
	case "add":
		return d.add(o.Content)
	case "replace":
		return d.replace(o.OldText, o.Content)
	case "remove":
		at, err := locate(d.entries, o.OldText)
		if err != nil {
			return err
		}
		d.note("removed: " + text.Line(d.entries[at], 80))
		d.entries = slices.Delete(d.entries, at, at+1)
		return nil
	}
	return fmt.Errorf("there is no action %q; use add, replace or remove", o.Action)
}

func (d *draft) note(text string) { d.notes = append(d.notes, text) }

func (d *draft) add(content string) error {
	content, err := admit(content)
	if err != nil {
		return err
	}
	if slices.Contains(d.entries, content) {
		d.note("this entry already exists; nothing was added")
		return nil
	}
	d.entries = append(d.entries, content)
	d.written = append(d.written, content)
	d.note("added")
	return nil
}

// replace replaces the whole entry that old names by the content.
func (d *draft) replace(old, content string) error {
	if strings.TrimSpace(content) == "" {
		return fmt.Errorf("replace needs the new content; use remove to delete an entry")
	}
	content, err := admit(content)
	if err != nil {
		return err
	}
	at, err := locate(d.entries, old)
	if err != nil {
		return err
	}
	if same := slices.Index(d.entries, content); same >= 0 && same != at {
		d.entries = slices.Delete(d.entries, at, at+1)
		d.note("another entry says the same; the old one was removed")
		return nil
	}
	d.entries[at] = content
	d.written = append(d.written, content)
	d.note("replaced")
	return nil
}

// locate finds the entry that some words name: the one that equals them, or else the
// only one that contains them.
func locate(entries []string, words string) (int, error) {
	words = strings.TrimSpace(words)
	if words == "" {
		return 0, fmt.Errorf("old_text is blank; send a few words that are unique to the entry")
	}
	if at := slices.Index(entries, words); at >= 0 {
		return at, nil
	}
	var found []int
	for i, e := range entries {
		if strings.Contains(e, words) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("no entry contains %q; list the entries with read", text.Line(words, 80))
	case 1:
		return found[0], nil
	}
	var list strings.Builder
	for _, i := range found[:min(len(found), 5)] {
		fmt.Fprintf(&list, "\n- %s", text.Line(entries[i], 80))
	}
	return 0, fmt.Errorf("multiple entries (%d) contain %q; send more words of the one you mean:%s", len(found), text.Line(words, 80), list.String())
}

// admit turns content into an entry, or returns the reason why it is refused.
func admit(content string) (string, error) {
	content = strings.ToValidUTF8(content, "\ufffd") // as it will be read later
	content = strings.TrimSpace(strings.ReplaceAll(content, "\r\n", "\n"))
	if content == "" {
		return "", fmt.Errorf("content is blank; send what to remember")
	}
	for line := range strings.SplitSeq(content, "\n") {
		if strings.TrimSpace(line) == section {
			return "", fmt.Errorf("a line with only %s separates entries; add several entries with operations instead", section)
		}
	}
	if threat := scan.Text(content); threat != "" {
		return "", fmt.Errorf("refused: this looks like %s (%s). Memory is part of every later prompt, so it takes only plain facts about the user and the environment: write it as such a fact, or omit it", threat.Kind(), threat)
	}
	return content, nil
}
