package thinktag_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hermes/internal/thinktag"
)

// streamed splits a text that comes in these pieces.
func streamed(pieces ...string) (visible, thinking string) {
	var s thinktag.Splitter
	for _, p := range pieces {
		visible, thinking = added(visible, thinking, s.Feed(p))
	}
	return added(visible, thinking, s.End())
}

func added(visible, thinking string, p thinktag.Piece) (string, string) {
	return visible[:len(visible)-p.Withdraw] + p.Visible, thinking + p.Thinking
}

var texts = map[string]struct{ in, visible, thinking string }{
	"nothing":              {"", "", ""},
	"plain":                {"Hello", "Hello", ""},
	"a block":              {"<think>plan</think>\nHello", "Hello", "plan"},
	"any case":             {"<THINK>plan</Think>Hello", "Hello", "plan"},
	"scratchpad":           {"<REASONING_SCRATCHPAD>plan</REASONING_SCRATCHPAD>\n\nHello", "Hello", "plan"},
	"Magistral":            {"[THINK]plan[/THINK]Hello", "Hello", "plan"},
	"Kimi":                 {"◁think▷plan…◁/think▷Hello…", "Hello…", "plan…"},
	"Seed":                 {"<seed:think>plan</seed:think>Hello", "Hello", "plan"},
	"never closed":         {"Hi\n<thinking>plan", "Hi\n", "plan"},
	"another closing tag":  {"<thinking>plan</think>Hello", "Hello", "plan"},
	"a block after a line": {"One\n<think>x</think>\n\nTwo", "One\nTwo", "x"},
	"two blocks":           {"<think>a</think>One\n<think>b</think>Two", "One\nTwo", "ab"},
	"indented":             {"  <think>a</think>One", "  One", "a"},
	"a tag left open":      {"<thi", "<thi", ""},
	"something else":       {"a <table> b\n<b>c</b>", "a <table> b\n<b>c</b>", ""},
	"a generic type":       {"a < b and [think] of x[0]", "a < b and [think] of x[0]", ""},

	"only the end":             {"I should greet.\n</think>\n\nHello", "Hello", "I should greet.\n"},
	"only the end, in a line":  {"hm, so</think>yes", "yes", "hm, so"},
	"only the end, twice":      {"a</think>b</think>c", "c", "ab"},
	"only the end, no answer":  {"I should greet.\n</think>", "", "I should greet.\n"},
	"an end at once":           {"</think>\n\nHello", "Hello", ""},
	"the end of a sentence":    {"I should greet. </think> Hello", " Hello", "I should greet. "},
	"code in thinking":         {"I write:\n```go\nx := 1\n```\nDone.\n</think>\nHello", "Hello", "I write:\n```go\nx := 1\n```\nDone.\n"},
	"inline code in thinking":  {"Use `x` and ``y` ``, then\n</think>\nHello", "Hello", "Use `x` and ``y` ``, then\n"},
	"a fence only in the line": {"See ```x``` here.\n</think>\nHello", "Hello", "See ```x``` here.\n"},

	"nested":                {"<think>a<think>b</think>c</think>d", "d", "a<think>bc"},
	"nested on lines":       {"Hi\n<think>\na\n<think>\nb\n</think>\nc\n</think>\nd", "Hi\nd", "\na\n<think>\nb\nc\n"},
	"nested, one end":       {"<think>I see <think> there</think>Hello", "Hello", "I see <think> there"},
	"nested within a line":  {"Hi <think>a<think>b</think>c</think> d", "Hi  d", "a<think>bc"},
	"inline":                {"Hello <think>plan</think> world", "Hello  world", "plan"},
	"inline, twice":         {"a <think>b</think> c <think>d</think> e", "a  c  e", "bd"},
	"inline over lines":     {"Sure. <think>one\ntwo</think>\nDone", "Sure. \nDone", "one\ntwo"},
	"inline, spaced":        {"Sure. <think> plan </think> Done.", "Sure.  Done.", " plan "},
	"inline, never closed":  {"Sure <think>plan", "Sure <think>plan", ""},
	"after a named tag":     {"The <think> tag. Now.<think>plan</think> ok", "The <think> tag. Now. ok", "plan"},
	"inline, then half":     {"a <think>b</think>c</think>d", "a d", "bc"},
	"a block, then half":    {"One\n<think>x</think>more</think>Two", "One\nTwo", "xmore"},
	"a mention in prose":    {"Use the <think> tag", "Use the <think> tag", ""},
	"a mention of the end":  {"It ends with the </think> tag.", "It ends with the </think> tag.", ""},
	"mentions of both":      {"Use <think> and </think>, please.", "Use <think> and </think>, please.", ""},
	"a mention at the end":  {"It ends with </think>", "It ends with </think>", ""},
	"in quotation marks":    {`Send "</think>" or “<think>” or «</think>» now`, `Send "</think>" or “<think>” or «</think>» now`, ""},
	"in JSON":               {`{"stop":["</think>"]}`, `{"stop":["</think>"]}`, ""},
	"in JSON, escaped":      {`{"stop":"</think>\n"}`, `{"stop":"</think>\n"}`, ""},
	"a pattern in a string": {`re.sub(r"<think>.*?</think>", "", s)`, `re.sub(r"<think>.*?</think>", "", s)`, ""},
	"a pattern in slashes":  {`s.replace(/<think>.*<.think>/, x) or /</think>/`, `s.replace(/<think>.*<.think>/, x) or /</think>/`, ""},
	"a block in brackets":   {"Blocks (<think>…</think>) go.", "Blocks (<think>…</think>) go.", ""},
	"in a narrow table":     {"|<think>|opens|\n|</think>|closes|\n", "|<think>|opens|\n|</think>|closes|\n", ""},
	"after a quoted word":   {`He said "yes"<think>hm</think> and left`, `He said "yes" and left`, "hm"},
	"in emphasis":           {"Use **<think>** to open and **</think>** to close.", "Use **<think>** to open and **</think>** to close.", ""},
	"in other emphasis":     {"_<think>_ and *</think>*", "_<think>_ and *</think>*", ""},
	"emphasis on lines":     {"**<think>**\nplan\n***</think>***\nHello", "**<think>**\nplan\n***</think>***\nHello", ""},
	"between emphasis":      {"so *this*</think>*Hello*", "*Hello*", "so *this*"},
	"a block in emphasis":   {"a **<think>x</think>** b", "a **<think>x</think>** b", ""},
	"an elided block":       {"It strips <think>...</think> blocks", "It strips <think>...</think> blocks", ""},
	"an elided block, …":    {"It strips <think> … </think>, then goes on", "It strips <think> … </think>, then goes on", ""},
	"in HTML code":          {"<code></think></code> ends it", "<code></think></code> ends it", ""},
	"in inline code":        {"Use `<think>` and `</think>`.", "Use `<think>` and `</think>`.", ""},
	"in long inline code":   {"``a ` </think>`` b", "``a ` </think>`` b", ""},
	"in a code block":       {"See:\n```xml\n<think>\nplan\n</think>\n```\nok", "See:\n```xml\n<think>\nplan\n</think>\n```\nok", ""},
	"in a block of tildes":  {"~~~\n</think>\n```\n</think>\n~~~\n", "~~~\n</think>\n```\n</think>\n~~~\n", ""},
	"in a longer fence":     {"````\n```\n</think>\n```\n````", "````\n```\n</think>\n```\n````", ""},
	"in a list's block":     {"1. a\n   ```\n   <think>\n   ```\n", "1. a\n   ```\n   <think>\n   ```\n", ""},
	"in a quoted block":     {"> ```\n> </think>\n> ```\n", "> ```\n> </think>\n> ```\n", ""},
	"after a code block":    {"```\na\n```\n<think>plan</think>ok", "```\na\n```\nok", "plan"},
	"in a block, then half": {"```\n</think>\n```\nso\n</think>\nok", "ok", "```\n</think>\n```\nso\n"},
	"no end of the block":   {"```go\nx\n</think>\nok", "```go\nx\n</think>\nok", ""},
	"no fence, text after":  {"```\na\n``` b\n</think>\n", "```\na\n``` b\n</think>\n", ""},
	"a fence in thinking":   {"<think>\n```\na</think>ok", "ok", "\n```\na"},
	"other languages":       {"日本語\n<think>思考</think>はい", "日本語\nはい", "思考"},
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, tt := range texts {
		if visible, thinking := thinktag.Split(tt.in); visible != tt.visible || thinking != tt.thinking {
			t.Errorf("%s: visible %q, thinking %q", name, visible, thinking)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" plain\n":                "plain",
		"<think>hm</think>\nyes":  "yes",
		"said <think>and thought": "said",
		"Use the <think> tag":     "Use the <think> tag",
		"<reasoning>never closed": "",
		"a\n<think>b</think>c <think>d</think> e <think>f": "a\nc  e",
	} {
		if got := thinktag.Answer(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestCutsDoNotMatter cuts each text at every byte, at every two, and into pieces
// of every size.
func TestCutsDoNotMatter(t *testing.T) {
	t.Parallel()
	for name, tt := range texts {
		check := func(pieces ...string) {
			t.Helper()
			if visible, thinking := streamed(pieces...); visible != tt.visible || thinking != tt.thinking {
				t.Fatalf("%s in %q: visible %q, thinking %q", name, pieces, visible, thinking)
			}
		}
		for i := range len(tt.in) {
			for j := i; j < len(tt.in); j++ {
				check(tt.in[:i], tt.in[i:j], tt.in[j:])
			}
		}
		for size := 1; size <= len(tt.in); size++ {
			var pieces []string
			for rest := tt.in; rest != ""; rest = rest[len(pieces[len(pieces)-1]):] {
				pieces = append(pieces, rest[:min(size, len(rest))])
			}
			check(pieces...)
		}
	}
}

// parts are what random texts are made of.
var parts = []string{
	"<think>", "</think>", "<thinking>", "</THINK>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷", "<", "</", "<thi", "[", "◁",
	"`", "``", "```", "~~~", "\n", "\n\n", "\r\n", " ", "  ", "a", "word", ".", "\"", "“", "”", "(", ")", ">", "- ", "*", "**", "_", "...", "<code>", "é", "日",
}

// TestRandomTextsAreSplitTheSame also checks that nothing is lost but tags and
// the line breaks around blocks.
func TestRandomTextsAreSplitTheSame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(24) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		visible, thinking := thinktag.Split(text)
		var pieces []string
		for rest := text; rest != ""; {
			n := 1 + r.IntN(len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		for _, p := range [][]string{pieces, strings.Split(text, "")} {
			if v, th := streamed(p...); v != visible || th != thinking {
				t.Fatalf("%q\nin %q:\nvisible %q\n    not %q\nthinking %q\n     not %q", text, p, v, visible, th, thinking)
			}
		}
		for _, word := range []string{"a", "word", "é", "日"} {
			if got, want := strings.Count(visible+"|"+thinking, word), strings.Count(text, word); got != want {
				t.Fatalf("%q: %d times %q, want %d", text, got, word, want)
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, tt := range texts {
		f.Add(tt.in, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		visible, thinking := thinktag.Split(text)
		i := max(0, min(cut, len(text)))
		if v, th := streamed(text[:i], text[i:]); v != visible || th != thinking {
			t.Errorf("cut at %d: %q, %q; whole: %q, %q", i, v, th, visible, thinking)
		}
	})
}
