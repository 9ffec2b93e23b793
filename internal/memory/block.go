package memory

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"hermes/internal/redact"
)

// maxBlock bounds what of a file that was grown by hand gets into a prompt, as
// a multiple of its limit.
const maxBlock = 2

// Block is a target as it stands in the prompt of a new session: a header with
// its usage and its entries. It is "" for an empty or switched off target.
// Entries that look like orders are replaced by a note; secrets are masked.
func (b *File) Block(_ context.Context, t Target) (string, error) {
	if !b.Has(t) {
		return "", nil
	}
	content, err := b.load(t)
	if err != nil {
		return "", err
	}
	entries := parse(content)
	if len(entries) == 0 {
		return "", nil
	}
	head := fmt.Sprintf("%s\n%s [%s]\n%s\n", rule, t.title(), usage(size(entries), b.limit(t)), rule)
	return head + join(b.fit(t, entries)), nil
}

var rule = strings.Repeat("═", 46)

// Shorter is a block with at most so many characters: the oldest entries go,
// whole, and a line says how many. The header stays in any case.
func Shorter(block string, most int) string {
	if utf8.RuneCountInString(block) <= most {
		return block
	}
	head := "\n" + rule + "\n" // below the title
	at := strings.Index(block, head)
	if at < 0 {
		return block
	}
	at += len(head)
	entries := strings.Split(block[at:], separator)
	for gone := 1; ; gone++ {
		note := fmt.Sprintf("[%d older entries are left out for want of room; the memory tool shows them.]", gone)
		short := block[:at] + join(append([]string{note}, entries[gone:]...))
		if gone == len(entries) || utf8.RuneCountInString(short) <= most {
			return short
		}
	}
}

// fit makes entries fit for a prompt.
func (b *File) fit(t Target, entries []string) []string {
	out := make([]string, 0, len(entries))
	room := maxBlock * b.limit(t)
	for i, e := range entries {
		if threat := scanOrders(e); threat != "" {
			e = fmt.Sprintf("[BLOCKED: an entry looks like %s (%s); it was left out. `hermes memory list` shows it.]", threat.kind(), threat)
		}
		if room -= size([]string{e}); room < 0 && i > 0 {
			return append(out, fmt.Sprintf("[%d more entries are left out: the file is far over its limit. Merge and remove entries.]", len(entries)-i))
		}
		out = append(out, cut(redact.Text(e), maxBlock*b.limit(t)))
	}
	return out
}

// cut bounds a text in characters and says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + " … [cut]"
}
