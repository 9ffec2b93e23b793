//go:build !windows

package ssh

import (
	"errors"
	"net"
	"strings"
)

// dialAgent connects to the agent at an address.
func dialAgent(address string) (net.Conn, error) {
	if address == "" || strings.EqualFold(address, "none") {
		return nil, errors.New("no agent runs")
	}
	return net.Dial("unix", address)
}
