package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/policy/shell/inspect"
)

func TestSudoIsFedAtCommandPositionsOnly(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]inspect.Sudo{
		"sudo ls":                       {Line: "sudo -k -S -p '' ls", Lines: 1},
		"sudo -u ada ls; sudo id":       {Line: "sudo -k -S -p '' -u ada ls; sudo -k -S -p '' id", Lines: 2},
		"A=1 /usr/bin/sudo ls":          {Line: "A=1 /usr/bin/sudo -k -S -p '' ls", Lines: 1},
		"{ (sudo ls); }":                {Line: "{ (sudo -k -S -p '' ls); }", Lines: 1},
		"cd /x && time sudo make":       {Line: "sudo -S -p '' -v && {\ncd /x && time sudo make\n} </dev/null", Lines: 1},
		"./build.sh && sudo make":       {Line: "sudo -S -p '' -v && {\n./build.sh && sudo make\n} </dev/null", Lines: 1},
		"sudo echo $(./read.sh)":        {Line: "sudo -S -p '' -v && {\nsudo echo $(./read.sh)\n} </dev/null", Lines: 1},
		"/tmp/x/sudo ls":                {Line: "sudo -S -p '' -v && {\n/tmp/x/sudo ls\n} </dev/null", Lines: 1},
		"env B=1 sudo ls":               {Line: "sudo -S -p '' -v && {\nenv B=1 sudo ls\n} </dev/null", Lines: 1},
		"echo x | sudo tee /etc/x":      {Line: "sudo -S -p '' -v && {\necho x | sudo tee /etc/x\n} </dev/null", Lines: 1},
		"for i in 1 2; do sudo x; done": {Line: "sudo -S -p '' -v && {\nfor i in 1 2; do sudo x; done\n} </dev/null", Lines: 1},
		"sudo tee x <<EOF\na\nEOF":      {Line: "sudo -S -p '' -v && {\nsudo tee x <<EOF\na\nEOF\n} </dev/null", Lines: 1},
	} {
		got, ok := inspect.FeedSudo(line)
		if diff := cmp.Diff(got, want); !ok || diff != "" {
			t.Errorf("%q: %v, got (-) want (+)\n%s", line, ok, diff)
		}
	}
	for _, line := range []string{"echo sudo ls", "grep sudo x", "git commit -m 'sudo ls'", "cat sudo", "sudo -n ls", "sudo -S ls", "sudo -A ls", "sudo 'open", "ls # sudo", "pseudo ls", "sudo -k", "sudo --version", "sudo() { cat > x; }; sudo ls"} {
		if got, ok := inspect.FeedSudo(line); ok {
			t.Errorf("%q became %+v", line, got)
		}
	}
}
