package factory

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
)

// Call is one use of a command: its streams and its arguments.
type Call struct {
	In       io.Reader
	Out, Err io.Writer
	Args     []string
}

// Arg is the argument at a position from 0, "" if it was not given.
func (c *Call) Arg(i int) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return ""
}

// Say prints a line of output.
func (c *Call) Say(format string, args ...any) { fmt.Fprintf(c.Out, format+"\n", args...) }

// Note prints a line to the error stream.
func (c *Call) Note(format string, args ...any) { fmt.Fprintf(c.Err, format+"\n", args...) }

// Input opens a file, or the input of the command for "-".
func (c *Call) Input(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(c.In), nil
	}
	return os.Open(path)
}

// Export writes data to a file, or to the output of the command for "-" and "". It reports
// whether it was a file.
func (c *Call) Export(path string, data []byte) (toFile bool, err error) {
	if path == "" || path == "-" {
		_, err = c.Out.Write(data)
		return false, err
	}
	return true, atomicfile.Write(path, data, atomicfile.Options{})
}

// Verb makes a command that does one thing. Its flags are bound by the caller, to what
// do reads. Lines of the example after the first begin with two spaces.
func Verb(use, short, example string, args cobra.PositionalArgs, do func(ctx context.Context, c *Call) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: "  " + example, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return do(cmd.Context(), &Call{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args})
		},
	}
}

// VerbOn makes a command that opens what its noun is about, and does one thing with it.
func VerbOn[T any](open func() (T, error), use, short, example string, args cobra.PositionalArgs, do func(ctx context.Context, c *Call, on T) error) *cobra.Command {
	return Verb(use, short, example, args, func(ctx context.Context, c *Call) error {
		on, err := open()
		if err != nil {
			return err
		}
		return do(ctx, c, on)
	})
}

// Noun makes a command of verbs. Without a verb it does what the first one does.
func Noun(use, short, example string, first *cobra.Command, more ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: cobra.NoArgs, RunE: first.RunE}
	cmd.AddCommand(first)
	cmd.AddCommand(more...)
	return cmd
}
