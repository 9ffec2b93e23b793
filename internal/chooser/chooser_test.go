package chooser

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"
)

func TestMatchOrdersByFit(t *testing.T) {
	t.Parallel()
	items := []string{
		"openrouter:anthropic/claude-sonnet-4.6", "openrouter:openai/gpt-5.1", "anthropic:claude-opus-4-6", "ollama:qwen3:8b", "openrouter:qwen/qwen3-coder", "mistral:open-mistral-7b",
	}
	for query, want := range map[string][]int{
		"":              {0, 1, 2, 3, 4, 5},
		"claude":        {2, 0},
		"CLAUDE sonnet": {0},
		"sonnet claude": {0},
		"gpt51":         {1},
		"clop":          {2},
		"qwen":          {4, 3},
		"qwen3 coder":   {4},
		"zzz":           {},
		"8b":            {3},
	} {
		got := Match(items, query)
		if diff := cmp.Diff(want, append([]int{}, got...)); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

func play(t *testing.T, items []string, current int, keys ...string) (int, string) {
	t.Helper()
	var readers []io.Reader
	for _, k := range keys {
		readers = append(readers, strings.NewReader(k))
	}
	var out strings.Builder
	index, err := run(iotest.OneByteReader(io.MultiReader(readers...)), &out, "Model", newState(Options{Items: items, Current: current}, 3, 60))
	if err != nil {
		t.Fatal(err)
	}
	return index, out.String()
}

// byKey returns each text in one read, as a terminal does with a key.
type byKey struct{ keys []string }

func (b *byKey) Read(p []byte) (int, error) {
	if len(b.keys) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.keys[0])
	b.keys = b.keys[1:]
	return n, nil
}

func TestKeysChoose(t *testing.T) {
	t.Parallel()
	items := []string{"alpha", "beta", "gamma", "delta", "beta-two"}
	for name, tt := range map[string]struct {
		current int
		keys    []string
		want    int
	}{
		"the first":                {-1, []string{"\r"}, 0},
		"the one in use":           {2, []string{"\r"}, 2},
		"down and up":              {-1, []string{"\x1b[B", "\x1b[B", "\x1b[A", "\r"}, 1},
		"not beyond the ends":      {-1, []string{"\x1b[A", "\x1b[F", "\x1b[B", "\r"}, 4},
		"a page":                   {-1, []string{"\x1b[6~", "\r"}, 3},
		"narrowed":                 {-1, []string{"g", "a", "\r"}, 2},
		"pasted":                   {-1, []string{"gamma\r"}, 2},
		"narrowed, then moved":     {-1, []string{"beta", "\x1b[B", "\r"}, 4},
		"a letter deleted":         {-1, []string{"gx", "\x7f", "\r"}, 2},
		"all deleted":              {-1, []string{"gam", "\x15", "\r"}, 0},
		"Enter on nothing waits":   {-1, []string{"zzz", "\r", "\x15", "\r"}, 0},
		"Esc cancels":              {-1, []string{"a", "\x1b"}, -1},
		"Ctrl+C cancels":           {-1, []string{"\x03"}, -1},
		"the end of input cancels": {-1, nil, -1},
		"unknown keys do nothing":  {-1, []string{"\x1b[99~", "\x1b[1;5C", "\x01", "\r"}, 0},
		"two arrows in one read":   {-1, []string{"\x1b[B\x1b[B", "\r"}, 2},
		"application arrows, too":  {-1, []string{"\x1bOB", "\r"}, 1},
		"moving off an empty list": {-1, []string{"zzz", "\x1b[B", "\x1b[6~", "\x1b"}, -1},
	} {
		var out strings.Builder
		got, err := run(&byKey{tt.keys}, &out, "Model", newState(Options{Items: items, Current: tt.current}, 3, 60))
		if err != nil || got != tt.want {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, tt.want)
		}
		if text := out.String(); !strings.HasSuffix(text, "\x1b[J\x1b[?25h") {
			t.Errorf("%s: the list is not removed: %q", name, text)
		}
	}
}

func TestListStaysWithinItsColumns(t *testing.T) {
	t.Parallel()
	s := newState(Options{Items: []string{strings.Repeat("x", 500), "a\x1b[31mb", strings.Repeat("汉", 99)}, Current: 0}, 3, 30)
	s.press(strings.Repeat("x", 400))
	s.press("\x15")
	for _, l := range s.lines("Model") {
		for _, mark := range []string{"\x1b[7m", "\x1b[2m", "\x1b[0m"} {
			l = strings.ReplaceAll(l, mark, "")
		}
		if n := displaywidth.String(l); n > 30 || strings.Contains(l, "\x1b") {
			t.Errorf("%d columns: %q", n, l)
		}
	}
}

func TestKeysInPieces(t *testing.T) {
	t.Parallel()
	if index, _ := play(t, []string{"alpha", "beta"}, -1, "be", "\r"); index != 1 {
		t.Errorf("got %d", index)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("ab\x1b[B\r")
	f.Add("\x1b[")
	f.Fuzz(func(t *testing.T, keys string) {
		s := newState(Options{Items: []string{"alpha", "beta", "gamma"}, Current: 1}, 2, 20)
		if s.press(keys) == chosen {
			if c := s.choice(); c < 0 || c > 2 {
				t.Errorf("chose %d", c)
			}
		}
		s.lines("x")
	})
}
