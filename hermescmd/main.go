// Package hermescmd runs the whole program as a function. Use it to build Hermes
// with your own tools:
//
//	func main() { os.Exit(hermescmd.Main(weather.New())) }
package hermescmd

import (
	"os"

	"hermes"
	"hermes/internal/cmd"
	"hermes/internal/confine"
)

// Main runs Hermes with the arguments, environment and standard streams of the
// process, and with the extra toolsets in addition to its own. It returns the
// exit status.
func Main(extra ...hermes.Toolset) int {
	confine.Main(os.Getenv("HTTPS_PROXY")) // the process may be one that starts commands inside of a sandbox
	return cmd.Main(cmd.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Extra: extra, Sandbox: true,
	})
}
