package environment

import (
	"io"
	"os"
	"strconv"

	"hermes/internal/shellstate"
)

// The descriptors at which a shell finds what it is handed, where the system has no
// better way than a file. Scripts use 3 to 9 by hand, Node.js closes up to 16, and shells
// use 63 and 255 downwards; 47 is the mark of the agent.
const (
	channelAt = 44 // of Command.Channel
	lineAt    = 45
	stateAt   = 46
	firstAt   = 3
)

// handed is a file that a shell reads or writes under a name. Where the system allows it,
// the file is in memory and only reached by the descriptor that the shell inherits: a
// command may put anything at a path that it can write, also a link.
type handed struct {
	name string   // for the shell
	file *os.File // nil if the name is a path
	path string   // to be removed; empty if file is set
}

// write stores what the shell is to read.
func (h *handed) write(text string) error {
	if h.file == nil {
		return os.WriteFile(h.path, []byte(text), 0o600)
	}
	_, err := h.file.WriteString(text)
	return err
}

// called is the name for the shell, "" if there is no file.
func (h *handed) called() string {
	if h == nil {
		return ""
	}
	return h.name
}

// inherited is the file that the shell inherits, nil if it finds it at a path.
func (h *handed) inherited() *os.File {
	if h == nil {
		return nil
	}
	return h.file
}

// open reads what the shell wrote, from the start.
func (h *handed) open() (io.ReadCloser, error) {
	if h.file != nil {
		return io.NopCloser(io.NewSectionReader(h.file, 0, shellstate.Max)), nil
	}
	return os.Open(h.path)
}

// close frees the file here; the shell keeps its own.
func (h *handed) close() {
	if h == nil {
		return
	}
	if h.file != nil {
		h.file.Close()
		return
	}
	os.Remove(h.path)
}

// handOver adds files to those that a command inherits: its channel, its line and its state. Nil
// is no file.
func handOver(files []*os.File, channel *os.File, line, state *handed) []*os.File {
	for at, file := range map[int]*os.File{channelAt: channel, lineAt: line.inherited(), stateAt: state.inherited()} {
		if file == nil {
			continue
		}
		if n := at - firstAt + 1 - len(files); n > 0 {
			files = append(files[:len(files):len(files)], make([]*os.File, n)...)
		} else {
			files = append([]*os.File(nil), files...)
		}
		files[at-firstAt] = file
	}
	return files
}

func descriptorName(at int) string { return "/dev/fd/" + strconv.Itoa(at) }
