package confine

import (
	"hermes/internal/egress/connect"
	"hermes/internal/sandbox"
)

// Main turns the process into a keeper, or into what ssh inside reaches the proxy with, if
// it was started as one, and does not return then. Programs that use the package call it
// before anything else, with the variable HTTPS_PROXY.
func Main(proxy string) {
	sandbox.Main()
	connect.Main(proxy)
}
