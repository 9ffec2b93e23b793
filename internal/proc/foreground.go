package proc

import (
	"context"
	"io"
	"os/exec"
)

// Foreground runs a program that takes over the user's terminal, such as an
// editor, and returns when it has ended. The program stays in this process's
// group, as a terminal requires, and inherits the environment.
func Foreground(ctx context.Context, argv []string, in io.Reader, out, errs io.Writer) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = in, out, errs
	return c.Run()
}
