//go:build !windows && !darwin

package keychain_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"hermes/internal/keychain"
)

// TestWithoutAKeychainItSaysSo covers servers and containers.
func TestWithoutAKeychainItSaysSo(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid()) + "/bus"); err == nil {
		t.Skip("this machine has a session bus")
	}
	k := keychain.New("hermes-test", func(string) string { return "" })
	_, getErr := k.Get(t.Context(), "a")
	for _, err := range []error{getErr, k.Set(t.Context(), "a", "canary"), k.Delete(t.Context(), "a")} {
		if !errors.Is(err, keychain.ErrNone) || !strings.Contains(err.Error(), "no D-Bus session") || strings.Contains(err.Error(), "canary") {
			t.Errorf("got %v", err)
		}
	}
}

// TestABusThatIsNotThere has an address that leads nowhere.
func TestABusThatIsNotThere(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+t.TempDir()+"/none")
	k := keychain.New("hermes-test", os.Getenv)
	if err := k.Set(t.Context(), "a", "canary"); !errors.Is(err, keychain.ErrNone) || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}
