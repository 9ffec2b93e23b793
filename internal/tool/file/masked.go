package file

import (
	"errors"
	"strings"

	"hermes/internal/redact"
)

// The marks of a mask: stars alone, or dots between the head and the tail of a long secret.
const (
	stars    = "***"
	dots     = "..."
	headKept = 6
	tailKept = 4
	before   = 200 // bytes of a line before stars that say which secret they stand for
)

var errMasked = errors.New("not written: the new text has a mask (" + stars + " or " + dots + ") in the place of a secret of this file, which would be lost. Masks are only what is shown to you: change the other lines with patch, and leave that line as it is. To take the secret out of the file, put other words in its place")

// checkMasks refuses a text that has the mask of a secret where the old text has the secret itself.
func (t *Toolset) checkMasks(w write) error {
	if !w.existed || w.unread {
		return nil
	}
	marks := masksOf(w.new)
	if len(marks) > 0 {
		for mark := range masksOf(w.old) {
			delete(marks, mark) // it was there before
		}
	}
	if len(marks) == 0 {
		return nil
	}
	hidden := t.config.Hidden
	if hidden == nil {
		hidden = (*redact.Redactor)(nil).Hidden
	}
	var shown strings.Builder // the old text as it is shown
	at := 0
	var masked []int // where masks end in it
	for _, h := range hidden(w.old) {
		shown.WriteString(w.old[at:h.From])
		shown.WriteString(h.Mask)
		masked = append(masked, shown.Len())
		at = h.To
	}
	shown.WriteString(w.old[at:])
	for _, end := range masked {
		if mark := maskAt(shown.String(), end); mark != "" && marks[mark] {
			return errMasked
		}
	}
	return nil
}

// masksOf lists the masks of a text.
func masksOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, mark := range []string{stars, dots} {
		for at := 0; ; {
			n := strings.Index(text[at:], mark)
			if n < 0 {
				break
			}
			at += n + len(mark)
			end := at
			if mark == dots {
				end = min(len(text), at+tailKept)
			}
			if found := maskAt(text, end); found != "" {
				out[found] = true
			}
		}
	}
	return out
}

// maskAt is what tells a mask that ends at end from others: all of it, or what its line has before stars.
// It is "" for no mask.
func maskAt(text string, end int) string {
	if at := end - tailKept - len(dots); at >= headKept && text[at:at+len(dots)] == dots {
		if mask := text[at-headKept : end]; !strings.Contains(mask, "\n") {
			return mask
		}
	}
	from := end - len(stars)
	if from < 0 || text[from:end] != stars {
		return ""
	}
	line := text[max(0, from-before):from]
	line = strings.TrimLeft(line[strings.LastIndexByte(line, '\n')+1:], " \t")
	if line == "" { // nothing but the mask: what follows counts
		rest := text[end:min(len(text), end+before)]
		rest, _, _ = strings.Cut(rest, "\n")
		return stars + strings.TrimRight(rest, " \t\r")
	}
	return line + stars
}
