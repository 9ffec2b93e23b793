package jsonrepair_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hermes/internal/jsonrepair"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	const (
		intact   = jsonrepair.Intact
		empty    = jsonrepair.Empty
		repaired = jsonrepair.Repaired
		lost     = jsonrepair.Lost
	)
	tests := []struct {
		name, in, want string
		how            jsonrepair.Outcome
	}{
		{"nothing", ``, `{}`, empty},
		{"blank", " \n\t ", `{}`, empty},
		{"the word None", `None`, `{}`, empty},
		{"None among blanks", "  None\n", `{}`, empty},

		{"valid", `{"a": 1, "b": [true, null]}`, `{"a": 1, "b": [true, null]}`, intact},
		{"valid keeps its escapes", `{"a":"C:\\new \"x\" \u00e9 \/"}`, `{"a":"C:\\new \"x\" \u00e9 \/"}`, intact},
		{"valid keeps repeated keys", `{"a":1,"a":2}`, `{"a":1,"a":2}`, intact},
		{"valid but no object", `[1]`, `[1]`, intact},

		{"raw line break in a string", "{\"a\":\"x\ny\"}", `{"a":"x\ny"}`, repaired},
		{"raw tab and return", "{\"a\":\"x\ty\r\"}", `{"a":"x\ty\r"}`, repaired},
		{"raw bell and zero", "{\"a\":\"\a\x00\"}", `{"a":"\u0007\u0000"}`, repaired},
		{"raw control in a key", "{\"a\nb\":1}", `{"a\nb":1}`, repaired},
		{"escaped and raw side by side", "{\"a\":\"1\\n2\n3\"}", `{"a":"1\n2\n3"}`, repaired},

		{"trailing comma in an object", `{"a":1,}`, `{"a":1}`, repaired},
		{"trailing comma in an array", `{"a":[1,2, ]}`, `{"a":[1,2]}`, repaired},
		{"trailing comma at the end", `{"a":1},`, `{"a":1}`, repaired},
		{"comma and brace in a string stay", `{"a":",}",}`, `{"a":",}"}`, repaired},
		{"two commas are broken", `{"a":1,,"b":2}`, `{}`, lost},
		{"only a comma is broken", `{,}`, `{}`, lost},

		{"brace left open", `{"a":1`, `{"a":1}`, repaired},
		{"both left open", `{"a":[1,{"b":"c"}`, `{"a":[1,{"b":"c"}]}`, repaired},
		{"left open after a comma", `{"a":1,`, `{"a":1}`, repaired},
		{"left open at once", `{`, `{}`, repaired},
		{"left open with blanks", "{\"a\": {\"b\": 1\n", `{"a":{"b":1}}`, repaired},
		{"inner left open", `{"a":[1,2}`, `{"a":[1,2]}`, repaired},
		{"left open, braces in a string", `{"a":"{[("`, `{"a":"{[("}`, repaired},

		{"one closer too many", `{"a":1}}`, `{"a":1}`, repaired},
		{"other closers too many", `{"a":[1]}]}`, `{"a":[1]}`, repaired},
		{"a closer without its opener", `{"a":1]}`, `{"a":1}`, repaired},
		{"only closing brackets", `}]`, `{}`, lost},
		{"the tail of something", `}{"a":1}`, `{}`, lost},

		{"two objects glued", `{"a":1}{"b":2}`, `{"a":1}`, repaired},
		{"two objects with a break", "{\"a\":1}\n{\"b\":2}", `{"a":1}`, repaired},
		{"three objects glued", `{"a":1}{"b":2}{"c":3}`, `{"a":1}`, repaired},
		{"the same twice", `{"p":"x"}{"p":"x"}`, `{"p":"x"}`, repaired},
		{"glued, braces in a string", `{"a":"}{"}{"b":2}`, `{"a":"}{"}`, repaired},
		{"glued, an escaped quote", `{"a":"\"}{"}{"b":2}`, `{"a":"\"}{"}`, repaired},
		{"glued, the second one cut", `{"a":1}{"b":`, `{"a":1}`, repaired},
		{"an empty object first", `{}{"a":1}`, `{}`, repaired},

		{"words of another language", `{"a":True,"b":[False,None]}`, `{"a":true,"b":[false,null]}`, repaired},
		{"such words in a string stay", `{"a":"True None",}`, `{"a":"True None"}`, repaired},

		{"string cut in the middle", `{"command":"rm -rf /tm`, `{}`, lost},
		{"string cut in an escape", `{"a":"x\`, `{}`, lost},
		{"key cut in the middle", `{"a":1,"b`, `{}`, lost},
		{"key without a colon", `{"a"`, `{}`, lost},
		{"key without a value", `{"a":`, `{}`, lost},
		{"key without a value, closed", `{"a":}`, `{}`, lost},
		{"word cut in the middle", `{"a":tru`, `{}`, lost},
		{"number cut at its point", `{"a":1.`, `{}`, lost},
		{"not a number", `{"a":NaN}`, `{}`, lost},
		{"number with a leading zero", `{"a":01}`, `{}`, lost},
		{"single quotes", `{'a':'b'}`, `{}`, lost},
		{"key without quotes", `{a:1}`, `{}`, lost},
		{"a missing comma", `{"a":1 "b":2}`, `{}`, lost},
		{"a missing colon", `{"a" 1}`, `{}`, lost},
		{"an unknown escape", `{"a":"\d+"}`, `{}`, lost},
		{"an escape cut short", `{"a":"\u12"}`, `{}`, lost},
		{"prose", `I will list the files`, `{}`, lost},
		{"prose behind", `{"a":1} and so on`, `{}`, lost},
		{"a comment", `{"a":1 /* x */}`, `{}`, lost},
		{"a quote not escaped", `{"a":"say "hi" now"}`, `{}`, lost},

		{"byte order mark", "\uFEFF{\"a\":1}", `{"a":1}`, repaired},
		{"bytes that are no text", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}", repaired},
		{"too deep", strings.Repeat("[", 20_000), `{}`, lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, how := jsonrepair.Repair([]byte(tt.in))
			if string(got) != tt.want || how != tt.how {
				t.Errorf("Repair(%q) = %q, %v; want %q, %v", tt.in, got, how, tt.want, tt.how)
			}
		})
	}
}

func FuzzRepair(f *testing.F) {
	for _, seed := range []string{`{"a":"b\n",}`, `{"a":[1,{"b":"}{`, `{"a":1}{"b":2}`, `None`, "{\"a\":\"\x01\\\"", `]]}}{{[[`, `{"a":True,,`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		was := bytes.Clone(in)
		start := time.Now()
		got, how := jsonrepair.Repair(in)
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("Repair(%q) = %q: not valid", in, got)
		}
		if !bytes.Equal(in, was) {
			t.Fatalf("Repair changed its input %q to %q", was, in)
		}
		if again, second := jsonrepair.Repair(got); second != jsonrepair.Intact || !bytes.Equal(again, got) {
			t.Fatalf("Repair(%q) = %q, %v: not stable", got, again, second)
		}
		if how == jsonrepair.Repaired && utf8.Valid(in) {
			sameStrings(t, in, got)
		}
		if took := time.Since(start); took > time.Minute {
			t.Fatalf("took %v for %d bytes", took, len(in))
		}
	})
}

// sameStrings checks that every string of the output is in the input,
// raw control characters aside.
func sameStrings(t *testing.T, in, out []byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		before := dec.InputOffset()
		tok, err := dec.Token()
		if err != nil {
			return
		}
		if _, ok := tok.(string); !ok {
			continue
		}
		raw := out[before:dec.InputOffset()]
		raw = raw[bytes.IndexByte(raw, '"'):]
		if !bytes.Contains(escapeControls(in), raw) {
			t.Fatalf("Repair(%q) has the string %s, which the input has not", in, raw)
		}
	}
}

func escapeControls(in []byte) []byte {
	var out []byte
	for _, c := range in {
		if c < ' ' {
			q, _ := json.Marshal(string(rune(c)))
			// encoding/json writes \b and \f short where Repair writes \u00xx
			switch c {
			case '\b':
				q = []byte(`"\u0008"`)
			case '\f':
				q = []byte(`"\u000c"`)
			}
			out = append(out, q[1:len(q)-1]...)
			continue
		}
		out = append(out, c)
	}
	return out
}

func BenchmarkRepair(b *testing.B) {
	in := []byte(`{"path":"a.go","content":"` + strings.Repeat("line\n", 2000) + `",}`)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		jsonrepair.Repair(in)
	}
}
