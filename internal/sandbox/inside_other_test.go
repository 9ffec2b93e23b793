//go:build !linux || !(amd64 || arm64)

package sandbox_test

const callArg = "call"

func call([]string) int { return 2 }
