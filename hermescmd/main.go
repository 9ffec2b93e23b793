// Package hermescmd is the program as a function: the door for a build of
// Hermes with tools of one's own.
//
//	func main() { os.Exit(hermescmd.Main(weather.New())) }
package hermescmd

import (
	"os"

	"hermes"
	"hermes/internal/cmd"
)

// Main runs Hermes with the arguments, the environment and the standard
// streams of the process, offering the extra toolsets beside its own, and
// returns the exit status.
func Main(extra ...hermes.Toolset) int {
	return cmd.Main(cmd.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Extra: extra,
	})
}
