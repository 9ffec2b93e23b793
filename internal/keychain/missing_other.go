//go:build windows || darwin

package keychain

// missing says why there is no keychain. These systems always have one.
func missing(func(string) string) string { return "" }
