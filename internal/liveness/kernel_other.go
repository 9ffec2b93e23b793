//go:build !linux && !darwin

package liveness

import (
	"errors"
	"os"
	"runtime"
)

// machineID is not needed: kernelID is the same after another start.
func machineID() string { return "" }

// kernelID is the name of the machine: the system has no number for its start. After
// another start no process of before is left, so that a free lock still proves it.
func kernelID() (string, error) {
	name, err := os.Hostname()
	if err == nil && name == "" {
		err = errors.New("the machine has no name")
	}
	return runtime.GOOS + " " + name, err
}
