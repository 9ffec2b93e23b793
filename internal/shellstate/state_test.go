package shellstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStateOfEveryShellIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       map[string]string
	}{
		{"bash", "declare -x A=\"1 \\\"2\\\" \\$x \\`y\\` \\\\\"\ndeclare -x UNSET\ndeclare -irx N=\"5\"\n", map[string]string{"A": "1 \"2\" $x `y` \\", "N": "5"}},
		{"bash, line ends", "declare -x A=\"one\ntwo\"\ndeclare -x B=$'t\\tn\\nq\\'o\\101x\\x41u\\u00e9e\\E'\n", map[string]string{"A": "one\ntwo", "B": "t\tn\nq'oAxAué" + "e\x1b"}},
		{"dash", "export A='it'\"'\"'s'\nexport B\nexport C=''\n", map[string]string{"A": "it's", "C": ""}},
		{"mksh", "export A=plain\nexport B='a b'\n", map[string]string{"A": "plain", "B": "a b"}},
		{"zsh", "export A=plain\ntypeset -x B=$'a\\nb'\n", map[string]string{"A": "plain", "B": "a\nb"}},
		{"powershell", "\ufeffPWD=C%3A%5CUsers%5Ca%20b\r\nA=1%0A2%27%3D\r\nProgramFiles(x86)=C%3A\r\n", map[string]string{"PWD": `C:\Users\a b`, "A": "1\n2'=", "ProgramFiles(x86)": "C:"}},
		{"left out", "export SHLVL='2'\nexport _='/bin/x'\nexport __hermes_line='x'\n", map[string]string{}},
		{"cut short", "declare -x A=\"never ends", map[string]string{"A": "never ends"}},
		{"ends in escapes", "declare -x A=$'\\x", map[string]string{"A": "\x00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(Parse(c.text), c.want); diff != "" {
				t.Errorf("got (-) want (+):\n%s", diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("declare -x A=\"1\"\nexport B='2'\nC=$'\\x41\\n'\n")
	f.Fuzz(func(t *testing.T, text string) {
		for name := range Parse(text) {
			if !isName(name) {
				t.Errorf("%q is no name", name)
			}
		}
	})
}
