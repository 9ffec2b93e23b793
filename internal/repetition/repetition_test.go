package repetition_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hermes/internal/repetition"
)

// found reads a text in pieces of a size and returns after how many bytes it was
// stopped, -1 for never. A slow text takes an hour for each piece.
func found(l repetition.Limits, text string, size int, slow bool) (at int, unit string) {
	d := repetition.Detector{Limits: l}
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	for i := 0; i < len(text); i += size {
		end := min(i+size, len(text))
		if slow {
			now = now.Add(time.Hour)
		}
		if unit, times := d.Add(text[i:end], clock); times > 0 {
			return end, unit
		}
	}
	return -1, ""
}

// endless is a text that goes on for ever after its beginning.
func endless(start, unit string) string { return start + strings.Repeat(unit, 1<<20/len(unit)) }

func TestEndlessRepetitionsAreFound(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("x", 50) + "Wait, let me look at that again. Perhaps I should check the file first.\n\n" + strings.Repeat("=", 200) + "\n"
	for name, tt := range map[string]struct {
		start, unit string
		most        int // bytes until it is found
	}{
		"dashes on lines":  {"Here is a list:\n", "-\n", 4 << 10},
		"line breaks":      {"Done.", "\n", 4 << 10},
		"blanks":           {"Done.", " ", 4 << 10},
		"exclamations":     {"No", "!", 4 << 10},
		"a picture":        {"Yes ", "😀", 8 << 10},
		"rules":            {"", "----------\n", 16 << 10},
		"empty rows":       {"| a | b |\n", "|   |   |\n", 16 << 10},
		"a letter":         {"A", "a", 9 << 10},
		"a word":           {"I am ", "very ", 9 << 10},
		"a foreign letter": {"", "é\n", 9 << 10},
		"a sentence":       {"First things first.\n", "I will now look at the file. ", 9 << 10},
		"a paragraph":      {"Hm.\n", paragraph, 14 << 10},
		"two kilobytes":    {"Hm.\n", strings.Repeat(paragraph, 7)[:2000] + "!", 24 << 10},
	} {
		for _, size := range []int{1, 7, 4096, 1 << 20} {
			at, unit := found(repetition.Text, endless(tt.start, tt.unit), size, true)
			if at < 0 || at > tt.most+size {
				t.Errorf("%s in pieces of %d: found after %d bytes: %q", name, size, at, unit)
			}
			if len(unit) != len(tt.unit) {
				t.Errorf("%s: the unit is %q", name, unit)
			}
		}
	}
	for _, tt := range []struct {
		limits    repetition.Limits
		slow      bool
		from, end int
	}{
		{repetition.Text, false, 512 << 10, 520 << 10},
		{repetition.Arguments, false, 512 << 10, 520 << 10},
		{repetition.Arguments, true, 64 << 10, 72 << 10},
	} {
		if at, _ := found(tt.limits, endless(`{"content":"`, `-\n`), 100, tt.slow); at < tt.from || at > tt.end {
			t.Errorf("slow %v: found after %d bytes", tt.slow, at)
		}
	}
}

func TestLongTextsThatRepeatThemselvesAreWhole(t *testing.T) {
	t.Parallel()
	var table, log, art, random strings.Builder
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 5000 {
		fmt.Fprintf(&table, "| %d | 0 | 0 | ok |\n", i)
		fmt.Fprintf(&log, "12:%02d:%02d GET /health 200 OK\n", i/60%60, i%60)
		random.WriteByte(" .#"[r.IntN(3)])
	}
	for range 100 {
		art.WriteString("#" + strings.Repeat(" ", 198) + "#\n")
	}
	row := "[" + strings.Repeat("0, ", 27) + "0],\n"
	for name, text := range map[string]string{
		"a long table":           table.String(),
		"equal rows":             "| a | b |\n|---|---|\n" + strings.Repeat("| 0 | 0 |\n", 2000),
		"a log":                  log.String(),
		"equal lines of a log":   strings.Repeat("level=info msg=\"health check ok\"\n", 500),
		"a box":                  strings.Repeat("#", 200) + "\n" + art.String() + strings.Repeat("#", 200),
		"noise":                  random.String(),
		"a line":                 "Title\n" + strings.Repeat("=", 500) + "\ntext\n" + strings.Repeat("-", 900),
		"zeros":                  "[" + strings.Repeat("0, ", 100_000) + "0]",
		"zeros on lines":         "[\n" + strings.Repeat("    0,\n", 4000) + "    0\n]",
		"a matrix of zeros":      "[\n" + strings.Repeat(row, 28) + "]",
		"a word, many times":     strings.Repeat("I must not talk in class.\n", 10_000),
		"base64 of nothing":      strings.Repeat("A", 20000),
		"empty lines":            "a" + strings.Repeat("\n", 200) + "b",
		"the same paragraph":     strings.Repeat(strings.Repeat("word ", 500)+"\n", 8),
		"a grid":                 strings.Repeat(strings.Repeat(". ", 100)+"\n", 100),
		"many small repetitions": strings.Repeat(strings.Repeat("-\n", 300)+"text\n", 10),
	} {
		for _, size := range []int{1, 1000, 1 << 20} {
			if at, unit := found(repetition.Text, text, size, false); at >= 0 {
				t.Errorf("%s was stopped after %d of %d bytes: %q", name, at, len(text), unit)
			}
			if at, unit := found(repetition.Arguments, text, size, false); at >= 0 {
				t.Errorf("%s as arguments was stopped after %d bytes: %q", name, at, unit)
			}
		}
	}
	for name, text := range map[string]string{
		"two thousand zeros": "[" + strings.Repeat("0, ", 2000) + "0]",
		"400 equal rows":     "| a | b |\n|---|---|\n" + strings.Repeat("| 0 | 0 |\n", 400),
		"a table":            table.String(),
		"a log":              log.String(),
		"a box":              art.String()[:6000],
	} {
		if at, unit := found(repetition.Text, text, 10, true); at >= 0 {
			t.Errorf("%s, slowly, was stopped after %d of %d bytes: %q", name, at, len(text), unit)
		}
	}
	for name, text := range map[string]string{
		"10,000 zeros":     "[" + strings.Repeat("0, ", 10000) + "0]",
		"5,000 equal rows": `{"path":"a.csv","content":"a,b,c,d\n` + strings.Repeat(`0,0,0,0\n`, 5000) + `"}`,
		"5,000 table rows": `{"path":"a.md","content":"` + strings.Repeat(`| 0 | 0 |\n`, 5000) + `"}`,
	} {
		if at, _ := found(repetition.Arguments, text, 100, true); at >= 0 {
			t.Errorf("%s in slow arguments were stopped after %d bytes", name, at)
		}
	}
}

// TestOnlyTheRepetitionMustBeSlow has an answer that takes long before a large table
// comes fast.
func TestOnlyTheRepetitionMustBeSlow(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	for _, limits := range []repetition.Limits{repetition.Text, repetition.Arguments} {
		d := repetition.Detector{Limits: limits}
		for i := range 1000 {
			now = now.Add(time.Second)
			d.Add(fmt.Sprintf("Row %d is about something else. ", i), clock)
		}
		row, slow := "| 0 | 0 |\n", 0
		for range 2 * limits.SlowBytes / len(row) {
			now = now.Add(time.Millisecond)
			if unit, times := d.Add(row, clock); times > 0 {
				t.Fatalf("a fast table was stopped: %q %d times", unit, times)
			}
		}
		now = now.Add(repetition.SlowAfter)
		for ; slow < 100; slow++ {
			if _, times := d.Add(row, clock); times > 0 {
				break
			}
		}
		if slow == 100 {
			t.Error("a repetition that goes on for a minute was not stopped")
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	sentence := "I will now look at the file. "
	for _, tt := range []struct{ in, want string }{
		{"short", "short"},
		{"list:" + strings.Repeat("\n-", 1000), "list:\n-\n-\n-"},
		{"a " + strings.Repeat(sentence, 1000), "a " + strings.Repeat(sentence, 3)},
		{strings.Repeat("a", 100) + strings.Repeat("b", 127), strings.Repeat("a", 100) + strings.Repeat("b", 127)},
	} {
		if got := repetition.Shorten(tt.in); got != tt.want {
			t.Errorf("%.20q: got %q", tt.in, got)
		}
	}
}

func BenchmarkDetector(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and then it sleeps.\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d := repetition.Detector{Limits: repetition.Text}
		for i := 0; i < len(text); i += 4 {
			d.Add(text[i:min(i+4, len(text))], time.Now)
		}
	}
}
