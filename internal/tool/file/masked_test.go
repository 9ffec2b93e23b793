package file_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/redact"
	"hermes/internal/tool/file"
)

const (
	hubKey  = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	hubMask = "ghp_16...8B4a"
	maskErr = "in the place of a secret of this file"
)

// TestAMaskDoesNotReplaceItsSecret: read_file shows secrets masked, and a model writes what it was shown.
func TestAMaskDoesNotReplaceItsSecret(t *testing.T) {
	t.Parallel()
	known := redact.New(redact.Options{Known: []string{"plain-known-words"}})
	for name, c := range map[string]struct {
		old, new string
		fine     bool
	}{
		"a key":                     {"token = '" + hubKey + "'\n", "token = '" + hubMask + "'\nx=2\n", false},
		"a key under another name":  {"token = '" + hubKey + "'\n", "x=2\nTOKEN: str = \"" + hubMask + "\"\n", false},
		"a key in a CRLF file":      {"a\r\ntoken = '" + hubKey + "'\r\n", "a\ntoken = '" + hubMask + "'\n", false},
		"a password":                {"user: bob\npassword: hunter22\n", "user: eve\npassword: ***\n", false},
		"a password, indented":      {"db:\n  password: hunter22\n", "db:\n    password: ***\n    x: 1\n", false},
		"a password in an address":  {"URL=postgres://bob:s3cret@db/app\n", "URL=postgres://bob:***@db/app2\n", false},
		"a known value":             {"greeting plain-known-words\n", "greeting ***\n", false},
		"a known value alone":       {"plain-known-words\n", "***\n", false},
		"the secret stays":          {"password: hunter22\n", "password: hunter22\nother: ***\n", true},
		"the mask was there":        {"password: ***\nx: 1\ntoken = '" + hubKey + "'\n", "password: ***\ntoken = '" + hubKey + "'\n", true},
		"another secret":            {"password: hunter22\n", "password: swordfish7\n", true},
		"words in its place":        {"password: hunter22\n", "password: ${PASSWORD}\n", true},
		"stars that are none":       {"# a\n\npassword: hunter22\n", "# a\n*** bold ***\n[...rest]\n", true},
		"a new file has no secrets": {"", "password: ***\n", true},
	} {
		for _, tool := range []string{"write_file", "patch", "V4A"} {
			w := newWorldWith(t, file.Config{Hidden: known.Hidden})
			if c.old != "" {
				w.put("c.py", c.old)
				w.ok("read_file", args{"path": "c.py"})
			}
			a := args{"path": "c.py", "content": c.new}
			switch {
			case tool == "patch" && c.old != "":
				a = args{"path": "c.py", "old_string": strings.ReplaceAll(c.old, "\r", ""), "new_string": c.new}
			case tool == "V4A" && c.old != "":
				tool, a = "patch", whole("*** Update File: c.py\n-"+strings.ReplaceAll(strings.TrimSuffix(strings.ReplaceAll(c.old, "\r", ""), "\n"), "\n", "\n-")+"\n+"+strings.ReplaceAll(strings.TrimSuffix(c.new, "\n"), "\n", "\n+")+"\n")
			default:
				tool = "write_file"
			}
			t.Run(fmt.Sprint(name, ", ", tool), func(t *testing.T) {
				w.t = t
				if c.fine {
					w.ok(tool, a)
					return
				}
				w.refused(tool, a, maskErr)
				if w.has("c.py") != c.old {
					t.Errorf("now it has %q", w.has("c.py"))
				}
			})
		}
	}
}

// TestOtherLinesThanASecretsAreChanged as the refusal says.
func TestOtherLinesThanASecretsAreChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("c.py", "token = '"+hubKey+"'\nx=1\n")
	w.ok("patch", args{"path": "c.py", "old_string": "x=1", "new_string": "x=2"})
	if got := w.has("c.py"); got != "token = '"+hubKey+"'\nx=2\n" {
		t.Errorf("%q", got)
	}
	// A guard that is off does not lose secrets either.
	trusting := newWorldWith(t, file.Config{TrustWrites: true})
	trusting.put("c.py", "token = '"+hubKey+"'\n")
	trusting.refused("write_file", args{"path": "c.py", "content": "token = '" + hubMask + "'\n"}, maskErr)
}
