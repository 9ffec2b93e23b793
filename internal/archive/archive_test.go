package archive_test

import (
	"strings"
	"testing"

	"hermes"
	"hermes/internal/archive"
)

// TestEveryFormatHasWhatWasSaid: a masked document has its text in every format, and no
// secret.
func TestEveryFormatHasWhatWasSaid(t *testing.T) {
	t.Parallel()
	mask := archive.Mask(func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") })
	for _, format := range []string{"", "jsonl", "md", "html", "trajectory", "trace"} {
		row := hermes.Session{ID: "s1", Title: "about hunter2", System: "the key is hunter2"}
		row.Run.Origin.Task = hermes.TaskOrigin{Failure: "no hunter2", Schema: `{"const":"hunter2"}`}
		list := []hermes.Message{
			{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "blue, with hunter2"}}},
			{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c", Name: "terminal", Arguments: `{"command":"login \u0068unter2"}`, Signature: "sig"}}},
		}
		mask.Session(&row, list)
		archive.Unsign(list)
		var out strings.Builder
		if err := archive.WriterOf(format)(&out, archive.Document{Session: row, Messages: list}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, "blue, with ***") || strings.Contains(got, "unter2") || strings.Contains(got, "sig\"") {
			t.Errorf("%s: %s", format, got)
		}
	}
	if archive.WriterOf("pdf") != nil {
		t.Error("an unknown format has a writer")
	}
}
