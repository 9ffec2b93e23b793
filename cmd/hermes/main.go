// Command hermes is the agent.
package main

import (
	"os"

	"hermes/hermescmd"
)

func main() { os.Exit(hermescmd.Main()) }
