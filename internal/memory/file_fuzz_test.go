package memory_test

import (
	"slices"
	"strings"
	"testing"

	"hermes/internal/memory"
)

// FuzzFile checks that a change of a memory file with any content keeps every
// entry and writes a file that reads back as the same entries.
func FuzzFile(f *testing.F) {
	f.Add("one\n§\ntwo\nlines\n", "tea")
	f.Add("\ufeffa\r\n § \r\n§\n\xff\n§", "see § 5")
	f.Add("a\n§\na", "a")
	f.Fuzz(func(t *testing.T, content, entry string) {
		if len(content) > 2000 || len(entry) > 100 {
			t.Skip()
		}
		h := newFixture(t, func(c *memory.Config) { c.NotesLimit = 100_000 })
		h.put(t, "MEMORY.md", content)
		before, err := h.Read(memory.Notes)
		must(t, err)
		after, err := h.Change(t.Context(), memory.Notes, add(entry), memory.Origin{By: "agent"})
		if err != nil { // refused: nothing was changed
			if got := h.file(t, "MEMORY.md"); got != content {
				t.Errorf("a refusal changed the file from %q to %q", content, got)
			}
			return
		}
		for _, e := range before.Texts() {
			if !slices.Contains(after.Texts(), e) {
				t.Errorf("the entry %q is lost", e)
			}
		}
		if !slices.Contains(after.Texts(), strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(entry, "\ufffd"), "\r\n", "\n"))) {
			t.Errorf("%q was not added to %q", entry, after.Texts())
		}
		again, err := h.Read(memory.Notes)
		must(t, err)
		if !slices.Equal(again.Texts(), after.Texts()) {
			t.Errorf("written %q, read back %q", after.Texts(), again.Texts())
		}
	})
}
