package ssh

import (
	"errors"
	"net"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
)

// dialAgent connects to the agent at an address; that of the system is a pipe.
func dialAgent(address string) (net.Conn, error) {
	if strings.EqualFold(address, "none") {
		return nil, errors.New("no agent is to be used")
	}
	if address == "" {
		address = `\\.\pipe\openssh-ssh-agent`
	}
	wait := 5 * time.Second
	return winio.DialPipe(address, &wait)
}
