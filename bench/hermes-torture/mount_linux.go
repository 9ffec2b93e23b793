package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// mountDisk mounts a file system of this size at dir, visible in its own namespace only. It
// is gone when the disk is closed or this process ends.
func mountDisk(ctx context.Context, dir string, size int64) (*smallDisk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	script := `mount -t tmpfs -o size="$1" tmpfs "$0" && echo mounted && exec cat`
	holder := exec.CommandContext(ctx, "unshare", "-Urm", "sh", "-c", script, dir, strconv.FormatInt(size, 10))
	in, err := holder.StdinPipe() // cat ends with it
	if err != nil {
		return nil, err
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if holder.Start() != nil {
		return nil, errNoDisk
	}
	stop := func() { _ = in.Close(); _ = holder.Wait() }
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "mounted\n" {
		stop()
		return nil, errNoDisk
	}
	pid := strconv.Itoa(holder.Process.Pid)
	if _, err := exec.LookPath("nsenter"); err != nil {
		stop()
		return nil, errNoDisk
	}
	return &smallDisk{
		dir: dir, outside: fmt.Sprintf("/proc/%s/root%s", pid, dir), close: stop,
		inside: []string{"nsenter", "-t", pid, "-U", "-m", "--preserve-credentials"},
	}, nil
}
