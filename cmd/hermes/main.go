// Command hermes is the Hermes agent; see hermescmd for builds with more tools.
package main

import (
	"os"

	"hermes/hermescmd"
)

func main() { os.Exit(hermescmd.Main()) }
