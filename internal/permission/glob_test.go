package permission

import (
	"testing"
	"time"
)

func FuzzDenied(f *testing.F) {
	f.Add("git push*", "sudo -u x bash -c 'git push'")
	f.Add("[!a-", "[")
	f.Add("*a*b*c*", "$(`;&&||")
	f.Fuzz(func(t *testing.T, glob, line string) {
		if len(line) > 2000 || len(glob) > 200 {
			return
		}
		for _, rule := range []string{glob, "*"} { // neither panics nor hangs
			c := &Call{Tool: "terminal", Command: line, Texts: []string{line}}
			denied, _ := Policies{Globs([]string{rule}, "approvals.deny")}.Denied(c, time.Time{})
			if rule == "*" && plain(line) != "" && denied == nil {
				t.Errorf("%q passes a rule that denies everything", line)
			}
		}
	})
}
