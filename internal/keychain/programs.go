package keychain

import (
	"context"
	"runtime"
)

// Programs returns the func that reads logins of other programs from the keychain of macOS,
// where they are stored under the user's name; nil on other systems, which have files instead.
func Programs(getenv func(string) string) func(ctx context.Context, service string) (string, error) {
	if runtime.GOOS != "darwin" {
		return nil
	}
	return func(ctx context.Context, service string) (string, error) {
		return New(service, getenv).Get(ctx, getenv("USER"))
	}
}
