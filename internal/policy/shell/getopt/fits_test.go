package getopt_test

import (
	"strings"
	"testing"

	"hermes/internal/policy/shell/getopt"
)

func TestFits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args, pattern string
		want          bool
	}{
		{"", "always", true},
		{"", "args", false},
		{"a", "args", true},
		{"--help", "help", true},
		{"a --help", "!help", false},
		{"a", "0", true},
		{"a", "1", false},
		{"-x", "0", false},
		{"-x add", "0=add,del", true},
		{"adder", "0=add", false},
		{"adder", "0=add*", true},
		{"lvremove", "0=*remove", true},
		{"remover", "0=*remove", false},
		{"a=b", "any=*=*", true},
		{"x y", "any=y", true},
		{"x y", "last=x", false},
		{"x -o y", "arg=-o", true},
		{"x -o", "arg0=-o", false},
		{"a --vacuum-size=1", "has=--vacuum", true},
		{"Fire Wall", "has=fire", false},
		{"FireWall", "text=firewall", true},
		{"-rf", "-f", true},
		{"-- -f", "-f", false},
		{"-o f", "-f", false},
		{"-of", "-f/o", false},
		{"-f x11grab", "-f=x11grab,alsa", true},
		{"-f mp4", "-f=x11grab,alsa", false},
		{"--rem=x", "--remove", true},
		{"a -n", "0=a&!-n", false},
		{"a", "0=a&!-n", true},
		{"b", "0=a 0=b", true},
		{"", "!0=a", true},
	} {
		args := strings.Fields(test.args)
		if got := getopt.Fits(getopt.PlainWords(args), args, test.pattern); got != test.want {
			t.Errorf("Fits(%q, %q) = %v, want %v", test.args, test.pattern, got, test.want)
		}
	}
}

func TestATableNamesProgramsAndAPattern(t *testing.T) {
	t.Parallel()
	table := getopt.NewTable(`
		zpool zfs: 0=destroy
		lvremove: always`)
	for call, want := range map[string]bool{"zpool destroy x": true, "zfs destroy": true, "zfs list": false, "lvremove": true, "ls": false} {
		words := strings.Fields(call)
		if got := table.Has(words[0], words[1:]); got != want {
			t.Errorf("Has(%q) = %v, want %v", call, got, want)
		}
	}
}

func TestABrokenTableIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"zpool destroy", "zpool: verb=destroy", "zpool zpool: always", "zpool: 0=a&destroy"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is accepted", text)
				}
			}()
			getopt.NewTable(text)
		}()
	}
}
