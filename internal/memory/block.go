package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/memory/scan"
	"hermes/internal/redact"
	"hermes/internal/text"
)

// maxBlock bounds how much of a file that was edited by hand goes into a prompt,
// as a multiple of its limit.
const maxBlock = 2

// Block returns a target as a new session's prompt shows it: a header with its
// usage, then its entries. It is "" for a target that is empty or disabled.
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

// Shorter returns a block with at most the given number of characters. It drops
// whole entries, oldest first, and a line says how many. The header always
// stays.
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
		note := fmt.Sprintf("[%d older entries are omitted to save space; the memory tool shows them.]", gone)
		short := block[:at] + join(append([]string{note}, entries[gone:]...))
		if gone == len(entries) || utf8.RuneCountInString(short) <= most {
			return short
		}
	}
}

// PromptBlock is a part of memory in the prompt of a session.
type PromptBlock struct {
	Name, Text string
	Provenance string                // as in [hermes.Message]
	Shorten    func(most int) string // nil if it cannot be shortened
}

// Blocks returns what a session's prompt shows: the two files, and what an external service
// says; a nil service is none. What can be read is returned with the error of the rest.
func Blocks(ctx context.Context, b *File, external hermes.MemoryProvider) ([]PromptBlock, error) {
	var list []PromptBlock
	var errs []error
	for _, t := range Targets() {
		block, err := b.Block(ctx, t)
		errs = append(errs, err)
		if block != "" {
			list = append(list, PromptBlock{Name: string(t), Text: block, Shorten: func(most int) string { return Shorter(block, most) }})
		}
	}
	if external != nil {
		block, err := external.SystemBlock(ctx)
		errs = append(errs, err)
		if block != "" {
			list = append(list, PromptBlock{Name: "outside-memory", Text: block, Provenance: hermes.ProvenanceSource("memory service", external.Name())})
		}
	}
	return list, errors.Join(errs...)
}

// fit prepares entries for a prompt: safe, without secrets, and bounded.
func (b *File) fit(t Target, entries []string) []string {
	out := make([]string, 0, len(entries))
	free := maxBlock * b.limit(t)
	for i, e := range entries {
		if threat := scan.Orders(e); threat != "" {
			e = fmt.Sprintf("[BLOCKED: an entry looks like %s (%s) and is omitted. `hermes memory list` shows it.]", threat.Kind(), threat)
		}
		if free -= size([]string{e}); free < 0 && i > 0 {
			return append(out, fmt.Sprintf("[%d more entries are omitted: the file is far over its limit. Merge and remove entries.]", len(entries)-i))
		}
		out = append(out, text.Cut(redact.Text(e), maxBlock*b.limit(t)))
	}
	return out
}
