package remote

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"hermes/internal/shellstate"
)

const mark = "hermes:0123456789abcdef"

// TestAnswersAreTakenOut: whatever pieces the stream comes in, the command's own output
// arrives as it is, and the answer does not.
func TestAnswersAreTakenOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stream, out, words, text string }{
		{"out\x1eput\n\x1e" + mark + "exit 3 0\nstate\n\x1e" + mark + "end", "out\x1eput\n", "exit 3 0", "state\n"},
		{"\x1e" + mark + "end", "", "", ""},
		{"before\x1e" + mark + "endafter", "beforeafter", "", ""},
		{"a\x1e" + mark + "exit 0 0\n\x1e" + mark + "end\x1e" + mark + "end late\x1e", "a late\x1e", "exit 0 0", ""},
		{"cut short\x1e" + mark[:8], "cut short\x1e" + mark[:8], "", ""},
		{"a\x1e" + mark + "exit 0", "a", "", ""},
		{"\x1e\x1e\x1e" + mark + "missing\n\x1e" + mark + "end", "\x1e\x1e", "missing", ""},
	} {
		for size := 1; size <= len(c.stream); size++ {
			var out bytes.Buffer
			a := newAnswer(&out, mark)
			for rest := c.stream; rest != ""; rest = rest[min(size, len(rest)):] {
				if n, err := a.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
					t.Fatalf("wrote %d, %v", n, err)
				}
			}
			a.flush()
			words, text := a.said()
			if out.String() != c.out || strings.Join(words, " ") != c.words || text != c.text || a.passed() != int64(len(c.out)) {
				t.Errorf("%q in pieces of %d: printed %q, said %q and %q", c.stream, size, out.String(), words, text)
			}
		}
	}
}

// TestEndlessAnswersAreBound: a place that never ends its answer fills no memory.
func TestEndlessAnswersAreBound(t *testing.T) {
	t.Parallel()
	a := newAnswer(nil, mark)
	a.Write([]byte("\x1e" + mark + "exit 5 0\n"))
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for range 20 {
		a.Write(piece)
		if len(a.text) > maxAnswer+2*len(piece) {
			t.Fatalf("%d bytes are kept", len(a.text))
		}
	}
	a.Write([]byte("\x1e" + mark + "end"))
	if words, text := a.said(); strings.Join(words, " ") != "exit 5 0" || len(text) > maxAnswer {
		t.Errorf("said %q and %d bytes", words, len(text))
	}
	var b bounded
	for range 20 {
		b.Write(piece)
	}
	if b.Len() > shellstate.Max {
		t.Errorf("%d bytes are kept", b.Len())
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("out\x1e"+mark+"exit 3 0\nstate\n\x1e"+mark+"end"), uint8(3))
	f.Add([]byte("\x1e"+mark+"end\x1e"+mark+"exit 99999999999999999999 -1\n"), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		var out, whole bytes.Buffer
		a, b := newAnswer(&out, mark), newAnswer(&whole, mark)
		b.Write(stream)
		b.flush()
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			a.Write(rest[:n])
			rest = rest[n:]
		}
		a.flush()
		words, text := a.said()
		wordsToo, textToo := b.said()
		if out.String() != whole.String() || strings.Join(words, " ") != strings.Join(wordsToo, " ") || text != textToo {
			t.Errorf("in pieces: %q %q %q, as one: %q %q %q", out.String(), words, text, whole.String(), wordsToo, textToo)
		}
		if number(words, 1) < 0 || number(words, 2) < 0 {
			t.Errorf("%q has a negative number", words)
		}
		if !bytes.Contains(stream, []byte(mark)) && !bytes.Equal(out.Bytes(), stream) {
			t.Errorf("%q was changed to %q", stream, out.Bytes())
		}
	})
}

func FuzzFacts(f *testing.F) {
	f.Add(mark + "\nstate /tmp/x\ndir /root\nhome /root\nbash /bin/bash\nsh \nmachine x86_64\nkernel Linux\nrelease NAME=\"Debian\"\nvariables\nexport A='1'\n#end\n" + mark)
	f.Fuzz(func(t *testing.T, text string) {
		facts, err := parseFacts(text, mark)
		if err != nil {
			return
		}
		if !path.IsAbs(facts.state) || !path.IsAbs(facts.dir) || facts.shell == "" || facts.plain == "" {
			t.Errorf("facts %+v", facts)
		}
		e := New(Config{})
		for line := range strings.Lines(e.exports(facts, nil)) { // nothing runs what the place said
			if !strings.HasPrefix(line, "export ") && !strings.HasPrefix(line, "unset ") && !strings.Contains(line, "'") {
				t.Errorf("the text of variables has the line %q", line)
			}
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add("export A='1'\nexport PWD='/x'\n#end\n")
	f.Fuzz(func(t *testing.T, text string) {
		e := New(Config{Dir: "/first"})
		known := &facts{environ: []string{"PATH=/bin", "HOME=/root"}, home: "/root", dir: "/"}
		e.variables(known)
		e.keep(nil, nil, text)
		if !path.IsAbs(e.current(known)) {
			t.Errorf("the folder is %q", e.current(known))
		}
		e.exports(known, nil)
	})
}

func FuzzStat(f *testing.F) {
	f.Add("81a4 5 1700000000 ./name\n41ed 4096 1700000000 ./a b\nx")
	f.Add("ffffffffffffffff -1 99999999999999999999 ./x/../../y")
	f.Fuzz(func(t *testing.T, text string) {
		parseStat(text)
		entries, err := parseList(text)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.Name() == "" || strings.Contains(e.Name(), "/") || e.Name() == "." || e.Name() == ".." {
				t.Errorf("an entry is called %q", e.Name())
			}
		}
	})
}
