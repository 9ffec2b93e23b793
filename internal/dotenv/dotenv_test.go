package dotenv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/dotenv"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain", "A=b", "b"},
		{"blanks and a comment", "  A = b c   # note\n", "b c"},
		{"a # inside stays", "A=b#c\n", "b#c"},
		{"export", "export A=b\n", "b"},
		{"windows", "A=b\r\n", "b"},
		{"byte order mark", "\ufeffA=b\n", "b"},
		{"single quotes", `A='b # "c" ${B} \' \n'` + "\n", `b # "c" ${B} ' \n`},
		{"double quotes", `A="b \"c\" \n\t\\ $x"` + "\n", "b \"c\" \n\t\\ $x"},
		{"over lines", "A=\"b\nc\"\n", "b\nc"},
		{"the last one counts", "A=1\nA=2\n", "2"},
		{"a bare $ is no reference", "A=pa$$w0rd$HOME\n", "pa$$w0rd$HOME"},
		{"reference", "B=x\nA=${B}/y\n", "x/y"},
		{"reference outside", "A=${OUT}\n", "out"},
		{"reference with a default", "A=${NO:-d}\n", "d"},
		{"unknown reference stays", "A=${NO}\n", "${NO}"},
		{"equals signs", "A=b=c==\n", "b=c=="},
		{"empty", "A=\n", ""},
		{"only a comment", "A= # c\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := dotenv.Parse(tt.text, func(n string) (string, bool) { return "out", n == "OUT" })
			if got, ok := f.Values["A"]; got != tt.want || !ok || len(f.Bad) > 0 {
				t.Errorf("got %q, %v, want %q", got, f, tt.want)
			}
		})
	}
}

func TestABadLineDoesNotSpoilTheOthers(t *testing.T) {
	t.Parallel()
	f := dotenv.Parse("A=1\nwhat is this\nB='open\nC=3\nD=\"x\" y\n", nil)
	want := []dotenv.Line{
		{Number: 2, Reason: "no NAME=value here"},
		{Number: 3, Reason: "missing closing quote"},
		{Number: 5, Reason: "unexpected text after the closing quote"},
	}
	if diff := cmp.Diff(want, f.Bad); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "C": "3"}, f.Values); diff != "" {
		t.Error(diff)
	}
}

func TestSetKeepsTheRest(t *testing.T) {
	t.Parallel()
	const text = "# keys\nexport A='old'   # of ann\n\nB=2\n"
	tests := []struct{ name, src, key, value, want string }{
		{"in place", text, "A", "new", "# keys\nexport A=new   # of ann\n\nB=2\n"},
		{"appended", text, "C", "3", text + "C=3\n"},
		{"no final break", "A=1", "C", "3", "A=1\nC=3\n"},
		{"windows", "A=1\r\n", "C", "3", "A=1\r\nC=3\r\n"},
		{"blanks", "", "A", "x y", "A='x y'\n"},
		{"both quotes", "", "A", `it's "x"`, `A="it's \"x\""` + "\n"},
		{"a dollar is kept", "", "A", "a${B}", "A='a${B}'\n"},
		{"empty", "A=1\n", "A", "", "A=\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := dotenv.Set(tt.src, tt.key, tt.value)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	if _, err := dotenv.Set("", "1 A", "x"); err == nil {
		t.Error("a bad name was accepted")
	}
	if got := dotenv.Unset("A=1\n# c\nB=2\nA=3\n", "A"); got != "# c\nB=2\n" {
		t.Errorf("unset: got %q", got)
	}
}

func FuzzSet(f *testing.F) {
	f.Add("# c\nA='x' # y\nB=${A}\n", "A", "it's $x \\ \"q\"\nz")
	f.Add("A='open\n", "B", "${B}")
	f.Fuzz(func(t *testing.T, text, name, value string) {
		before := dotenv.Parse(text, nil)
		out, err := dotenv.Set(text, name, value)
		if err != nil {
			return
		}
		after := dotenv.Parse(out, nil)
		if after.Values[name] != value {
			t.Fatalf("%q: got %q, want %q", out, after.Values[name], value)
		}
		for k, v := range before.Values {
			if k != name && !strings.Contains(v, "${") && !strings.Contains(text, "${") && after.Values[k] != v {
				t.Fatalf("%q: %s became %q", out, k, after.Values[k])
			}
		}
		gone := dotenv.Parse(dotenv.Unset(out, name), nil)
		if _, still := gone.Values[name]; still && len(before.Bad) == 0 {
			t.Fatalf("%q: %s is still there", out, name)
		}
	})
}
