package factory

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/term"

	"hermes/internal/chooser"
	"hermes/internal/proc"
)

// IO are the streams of the process, and how to ask the user. [New] sets the funcs
// that are nil.
type IO struct {
	In       io.Reader
	Out, Err io.Writer

	// Terminal reports whether the user can be asked.
	Terminal func() bool
	// Hidden reads a line from the terminal without showing it.
	Hidden func() (string, error)
	// Edit opens a file in the user's editor and returns when the editor ends.
	Edit func(ctx context.Context, path string) error
	// Browse opens an address in the user's browser and does not wait.
	Browse func(ctx context.Context, address string) error
	// Choose shows a list on the terminal and returns the index of the choice, or
	// -1; current is the index of the item in use, or -1. It stays nil if the
	// terminal cannot show lists.
	Choose func(title string, items []string, current int) (int, error)
}

// complete sets the funcs that are nil.
func (f *Factory) complete() {
	if f.Terminal == nil {
		f.Terminal = func() bool { return IsTerminal(f.In) }
	}
	if f.Hidden == nil {
		f.Hidden = f.hidden
	}
	if f.Edit == nil {
		f.Edit = f.edit
	}
	if f.Browse == nil {
		f.Browse = f.browse
	}
	if f.Choose == nil {
		f.Choose = f.chooser()
	}
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is the width of the terminal in columns, 80 without one.
func (s IO) Width() int {
	if out, ok := s.Out.(*os.File); ok {
		if w, _, err := term.GetSize(int(out.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// ErrCanceled means that the user did not say yes.
var ErrCanceled = errors.New("canceled; nothing was changed")

// Confirm asks the user a question before something happens and returns nil for
// yes. Without a terminal it is refused with the advice to use --yes, which the
// command must have.
func (s IO) Confirm(in io.Reader, out io.Writer, question string) error {
	if !s.Terminal() {
		return errors.New("no terminal to ask on; use --yes to confirm")
	}
	fmt.Fprintf(out, "%s [y/N] ", question)
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && line == "" {
		return fmt.Errorf("no answer: %w", ErrCanceled)
	}
	if a := strings.ToLower(strings.TrimSpace(line)); a != "y" && a != "yes" {
		return ErrCanceled
	}
	return nil
}

// Line asks for one line of text, without the blanks around it.
func (s IO) Line(in io.Reader, out io.Writer, question string) (string, error) {
	fmt.Fprint(out, question)
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("no answer: %w", ErrCanceled)
	}
	return strings.TrimSpace(line), nil
}

// edit is the Edit of the program.
func (f *Factory) edit(ctx context.Context, path string) error {
	editor := cmp.Or(f.Global.Getenv("VISUAL"), f.Global.Getenv("EDITOR"))
	if editor == "" && !f.Terminal() {
		return fmt.Errorf("no terminal for an editor; use `hermes config set KEY VALUE`, or open %s yourself", path)
	}
	editor = cmp.Or(editor, "vi")
	err := proc.Foreground(ctx, append(strings.Fields(editor), path), f.In, f.Out, f.Err)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("the editor %s exited with status %d, so the file was not checked; run `hermes config check`", editor, exit.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("cannot start the editor %s; set EDITOR to an installed editor, or open %s yourself", editor, path)
	}
	return nil
}

// chooser is the Choose of the program.
func (f *Factory) chooser() func(title string, items []string, current int) (int, error) {
	in, fromFile := f.In.(*os.File)
	out, toFile := f.Out.(*os.File)
	if !fromFile || !toFile || !IsTerminal(in) || !IsTerminal(out) || f.Global.Getenv("TERM") == "dumb" {
		return nil
	}
	return func(title string, items []string, current int) (int, error) {
		return chooser.Run(chooser.Options{Title: title, Items: items, Current: current, In: in, Out: out})
	}
}

// hidden is the Hidden of the program.
func (f *Factory) hidden() (string, error) {
	in, ok := f.In.(*os.File)
	if !ok {
		return "", errors.New("no terminal to ask on")
	}
	raw, err := term.ReadPassword(int(in.Fd()))
	return string(raw), err
}

// browse is the Browse of the program. It does not wait, since a browser that it
// starts keeps running after Hermes has ended.
func (f *Factory) browse(ctx context.Context, address string) error {
	argv := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open", address}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	default:
		if f.Global.Getenv("DISPLAY") == "" && f.Global.Getenv("WAYLAND_DISPLAY") == "" {
			return nil // no display; the address was printed
		}
	}
	go func() {
		// The user sees a failure: nothing opens, and the address was printed.
		_ = proc.Foreground(context.WithoutCancel(ctx), argv, nil, nil, nil)
	}()
	return nil
}
