package confine

import (
	"hermes/internal/egress/connect"
	"hermes/internal/lineshell"
	"hermes/internal/sandbox"
)

// Main turns the process into a keeper, into what ssh inside reaches the proxy with, or into the
// shell of a line, if it was started as one, and does not return then. Programs that use the package call it
// before anything else, with the variable HTTPS_PROXY.
func Main(proxy string) {
	sandbox.Main()
	connect.Main(proxy)
	lineshell.Main()
}
