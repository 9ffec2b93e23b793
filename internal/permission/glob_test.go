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

// TestGlobs that deny or ask: * matches slashes, **/ also no folder, ? and [ ] whole characters.
func TestGlobs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		glob      string
		fit, miss []string
	}{
		{"/a/**/b/**/c", []string{"/a/b/c", "/a/x/b/c", "/a/b/x/y/c", "/a/x/y/b/z/c", "/a/b/b/c", "/a/c/b/c"}, []string{"/a/c", "/a/xb/c", "/a/b/xc", "/a/x/c", "/ab/c", "/a/b/c/d"}},
		{"/**/b", []string{"/b", "/x/b", "/x/y/b"}, []string{"/xb", "/x/yb", "b"}},
		{"/a/**/*.go", []string{"/a/x.go", "/a/b/x.go", "/a/.go"}, []string{"/a", "/x.go", "/ax.go"}},
		{"/a/**/", []string{"/a/", "/a/b/", "/a/b/c/"}, []string{"/a/b", "/a"}},
		{"a?c", []string{"abc", "aäc", "a漢c", "a\xffc"}, []string{"ac", "aäbc"}},
		{"a[äö]c", []string{"aäc", "aöc"}, []string{"aüc", "ac"}},
		{"a[à-ü]c", []string{"aäc"}, []string{"azc"}},
		{"a[!ä]c", []string{"aöc", "abc"}, []string{"aäc"}},
		{"*ä*", []string{"ä", "xäx"}, []string{"a", "\xc3"}},
	} {
		for _, text := range tt.fit {
			if !fnmatch(tt.glob, text) {
				t.Errorf("%q does not fit %q", text, tt.glob)
			}
		}
		for _, text := range tt.miss {
			if fnmatch(tt.glob, text) {
				t.Errorf("%q fits %q", text, tt.glob)
			}
		}
	}
}
