// Package browsertest starts a browser for tests as a user does, one that other programs can connect to.
// Start at [Run].
package browsertest

import (
	"bufio"
	"io"
	"path/filepath"
	"regexp"
	"testing"

	"hermes/internal/proc"
)

// Run starts the browser of a program, with more arguments, and returns its address. It ends with the test.
func Run(t *testing.T, program string, arguments ...string) string {
	t.Helper()
	said, its := io.Pipe()
	p, err := proc.Start(t.Context(), proc.Command{
		Path: program, Env: []string{"PATH=/usr/bin:/bin"}, Files: nil, Stdout: io.Discard, Stderr: its,
		Args: append(arguments, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
			"--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "about:blank"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		its.Close()
	})
	address := regexp.MustCompile(`ws://([^/]+)/`)
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, said) }() // ends with the browser
			return "http://" + m[1]
		}
	}
	t.Fatal("the browser did not start")
	return ""
}
