package lint

import "testing"

// FuzzCheck checks that no text makes a parser panic or hang.
func FuzzCheck(f *testing.F) {
	f.Add("a = [1, {b = \"c\"}]\n[[x.'y']]\n\"\"\"")
	f.Add(`{"a": [1]}`)
	f.Fuzz(func(_ *testing.T, text string) {
		checkTOML(text)
		checkJSON(text)
	})
}
