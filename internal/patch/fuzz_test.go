package patch_test

import (
	"strings"
	"testing"
	"time"

	"hermes/internal/patch"
)

// FuzzReplace checks that a refusal returns no text, that success keeps the text
// around the passage, and that nothing panics.
func FuzzReplace(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "B", false)
	f.Add("\ufeffx “y”…\r\n\tz \xff\n", "x \"y\"...\n z", "x 'q'", true)
	f.Add("if a {\n\tb()\n}\n", "if a {\n    b()\n}", "if a {\n        c()\n}", false)
	f.Add("begin\n one two\n three\nend", "begin\n one twa\n three\nend", "", false)
	f.Add(`a\nb`, `a\\nb`, "x\r\n\r", false)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		begin := time.Now()
		got, err := patch.Replace(content, old, new, all)
		if took := time.Since(begin); took > time.Minute {
			t.Fatalf("took %v for %d bytes", took, len(content)+len(old)+len(new))
		}
		if err != nil {
			if got.Text != "" || got.Count != 0 {
				t.Fatalf("refused with %+v", got)
			}
			return
		}
		if got.Strategy == patch.AlreadyApplied && got.Text != content {
			t.Fatal("nothing to do, yet the text changed")
		}
		if strings.HasPrefix(content, "\ufeff") && !strings.HasPrefix(got.Text, "\ufeff") {
			t.Fatal("byte order mark lost")
		}
		if got.Strategy == "exact" && !all && !strings.Contains(content, "\r") && !strings.Contains(old+new, "\r") && !strings.Contains(old+new, "\ufeff") && !strings.Contains(new, `\t`) && !strings.Contains(new, `\r`) {
			if want := strings.Replace(content, old, new, 1); got.Text != want {
				t.Fatalf("got %q, want %q", got.Text, want)
			}
		}
	})
}

// FuzzApply checks that a patch is applied whole or not at all, without panics.
func FuzzApply(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@ x @@\n x\n-y\n+z\n*** End Patch", "x\ny\n")
	f.Add("*** Begin Patch\n*** Move File: a -> b\n*** Add File: a\n+1\n*** Delete File: b\n*** End Patch", "\r\n")
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: c\n+q\n*** End of File\n*** End Patch", "\xff…\r\nz")
	f.Fuzz(func(t *testing.T, text, content string) {
		p, err := patch.Parse(text)
		if err != nil {
			return
		}
		done, err := p.Apply(reader(map[string]string{"a": content}))
		if err != nil && done.Changes != nil {
			t.Fatal("refused, yet gave changes")
		}
		for _, c := range done.Changes {
			if c.Path == "" || !c.Exists && c.After != "" || c.Path == "a" && c.Before != content {
				t.Fatalf("odd change %+v", c)
			}
			patch.Unified("a", "b", c.Before, c.After)
		}
	})
}

// FuzzUnified checks that a diff rebuilds the new text from the old one.
func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd\n")
	f.Add("", "x")
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "9\n2\n3\n1\n5\n6\n7\n8\n4")
	f.Fuzz(func(t *testing.T, old, new string) {
		if got := rebuild(old, patch.Unified("a", "b", old, new)); got != new {
			t.Fatalf("rebuilt %q, want %q", got, new)
		}
	})
}

// rebuild applies a unified diff in the simplest way: kept lines are copied from old
// by count.
func rebuild(old, diff string) string {
	if diff == "" {
		return old
	}
	lines := strings.SplitAfter(old, "\n")
	var out strings.Builder
	at := 0
	body := strings.SplitAfter(diff, "\n")[2:]
	for i, l := range body {
		if l == "" {
			continue
		}
		text := l[1:]
		if i+1 < len(body) && strings.HasPrefix(body[i+1], "\\ No newline") {
			text = strings.TrimSuffix(text, "\n")
		}
		switch l[0] {
		case '@':
			from := 0
			for _, c := range strings.TrimPrefix(l, "@@ -") {
				if c < '0' || c > '9' {
					break
				}
				from = from*10 + int(c-'0')
			}
			if !strings.Contains(strings.Fields(l)[1], ",0") {
				from--
			}
			for ; at < from; at++ {
				out.WriteString(lines[at])
			}
		case ' ':
			out.WriteString(text)
			at++
		case '-':
			at++
		case '+':
			out.WriteString(text)
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}
