//go:build !windows && !darwin

package keychain

import (
	"fmt"
	"os"
)

// missing says why there is no keychain. Without a session bus the library
// would start its own, which would never be stopped.
func missing(getenv func(string) string) string {
	if getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return ""
	}
	if _, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid())); err == nil {
		return ""
	}
	return "no D-Bus session is running"
}
