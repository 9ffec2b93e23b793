//go:build !unix

package plugin_test

import "os/exec"

func startChild() string           { return "0" }
func alive(string) bool            { return false }
func signalOf(*exec.ExitError) int { return 0 }
