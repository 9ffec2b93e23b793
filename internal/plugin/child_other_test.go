//go:build !unix

package plugin_test

func startChild() string { return "0" }
func alive(string) bool  { return false }
