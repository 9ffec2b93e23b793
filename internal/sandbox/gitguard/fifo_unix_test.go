//go:build !windows

package gitguard_test

import "syscall"

func mkfifo(at string) error { return syscall.Mkfifo(at, 0o755) }
